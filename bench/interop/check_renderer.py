"""What arena eval shows a student is what its rows showed, token by token: check_renderer.py ARENA EXPORT TEMPLATE…

EXPORT has the profiles hf-json and text of a corpus that `arena build RUN` made of a run on testdata/day, so that the
results in its rows are the shop's. For each profile a server answers `arena eval --as EXPORT` with
the turns of a row, one behind the other, and keeps every request. Rendered by each chat template, the request at turn n
must be the row's messages up to that turn; where a template renders old turns otherwise than the last, that is not how the
rendering of the whole row begins, which is counted. The corpus's own template must render both profiles alike, too.
"""
import glob
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pyarrow.parquet
from transformers.utils.chat_template_utils import render_jinja_template

DAY = Path(__file__).resolve().parents[2] / "testdata/day"


def rows(export, profile):
    for path in sorted(glob.glob(f"{export}/data/{profile}/train-*.parquet")):
        for row in pyarrow.parquet.read_table(path).to_pylist():
            yield {k: [json.loads(x) if isinstance(x, (str, bytes)) else x for x in v] for k, v in row.items() if k in ("messages", "tools")}


def said(message):
    """A message as OpenAI's API has it, with the arguments of calls as text."""
    calls = [{**c, "function": {**c["function"], "arguments": json.dumps(c["function"]["arguments"])}} for c in message.get("tool_calls", [])]
    return {**message, **({"tool_calls": calls} if calls else {})}


def heard(message):
    """A message as servers give it to a template."""
    calls = [{**c, "function": {**c["function"], "arguments": json.loads(c["function"]["arguments"])}} for c in message.get("tool_calls") or []]
    return {**{k: v for k, v in message.items() if v is not None}, **({"tool_calls": calls} if calls else {})}


def asked(arena, export, profile, all_rows):
    """(request, row, number of the row's messages that it must show) of every request that a run of the rows' turns sends."""
    by_query = {next(m["content"] for m in row["messages"] if m["role"] == "user"): row for row in all_rows}
    seen = []

    class Server(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            row = by_query.get(next(m["content"] for m in request["messages"] if m["role"] == "user"))
            n, turns = len(request["messages"]), row["messages"] if row else []
            message = said(turns[n]) if n < len(turns) else {"role": "assistant", "content": "That is all."}
            if row:
                seen.append((request, row, n))
            body = json.dumps({"id": "r", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            self.send_error(404)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [arena, "eval", "--as", export, "--dialect", "text" if profile == "text" else "native", "--endpoint", f"http://127.0.0.1:{server.server_port}/v1",
             "--model", "m", "--problems", DAY / "problems.jsonl", "--catalog", DAY / "catalog.jsonl", "--no-call", "end", "--max-steps", "40", "-q", "-o", folder + "/run"],
            check=True)
    server.shutdown()
    return [(request, row, n) for request, row, n in seen if n < len(row["messages"])]


def render(template, messages, tools, prompt=True):
    try:
        return render_jinja_template([messages], tools=tools, chat_template=template, add_generation_prompt=prompt, bos_token="", eos_token="")[0][0]
    except Exception as error:  # a template raises what it likes
        return f"{type(error).__name__}: {error}"


def main():
    arena, export, templates = sys.argv[1], sys.argv[2], {os.path.basename(p): Path(p).read_text(encoding="utf-8") for p in sys.argv[3:]}
    own = Path(export, "chat_template.jinja").read_text(encoding="utf-8")
    both = list(zip(rows(export, "hf-json"), rows(export, "text")))
    alike = sum(render(own, a["messages"], a["tools"]) == render(own, b["messages"], None) for a, b in both)
    print(f"{alike} of {len(both)} rows are the same text in hf-json and text by the corpus's template")
    bad = alike < len(both) or not both
    for profile in ("hf-json", "text"):
        requests = asked(arena, export, profile, list(rows(export, profile)))
        for name, template in templates.items():
            same = refused = begins = 0
            for request, row, n in requests:
                want = render(template, row["messages"][:n], row.get("tools"))
                same += render(template, list(map(heard, request["messages"])), request.get("tools")) == want
                begins += render(template, row["messages"], row.get("tools"), prompt=False).startswith(want)
                refused += want.startswith(("TemplateError: ", "TypeError: ", "UndefinedError: "))
            bad = bad or same < len(requests) or not requests
            print(f"{name}, {profile}: {same} of {len(requests)} prompts are those of the rows, {begins} begin the whole row" + (f", {refused} refused by the template" if refused else ""))
    sys.exit(bad)


if __name__ == "__main__":
    main()
