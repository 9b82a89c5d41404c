"""Answers requests for chat completions over HTTP. Needs no package."""
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def serve(listen: str, answer: Callable[[dict], dict]) -> None:
    """Answers each request for a completion, until the process is stopped."""
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.answer(200, {"object": "list", "data": [{"id": "student", "object": "model"}]})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                self.answer(200, answer(request))
            except Exception as error:  # whatever the model's code raised
                self.answer(500, {"error": {"message": repr(error)}})

        def answer(self, status: int, body: dict) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 1024  # of the 5 that it has, those that connect at the same moment are turned away

    host, port = listen.rsplit(":", 1)
    Server((host, int(port)), Handler).serve_forever()
