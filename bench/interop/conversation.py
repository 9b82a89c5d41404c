"""The conversation that other tools are given, as messages, behind a server that stands in for a model, and as
`arena convert` reads it back."""

import http.server
import json
import subprocess
import sys
import threading
from pathlib import Path

arena, folder = sys.argv[1], Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)

# The conversation that every tool is given: two calls in one turn, one in the next.
TOOL = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
CALLS = [[("c1", "weather", {"city": "Bern"}), ("c2", "weather", {"city": "Genève"})], [("c3", "weather", {"city": "Ulm"})], []]
ANSWERS = {"c1": "18C", "c2": "20C", "c3": "\"quoted\" \u2028 <&>"}
TEXTS = ["One moment.", "", "Ulm is odd."]
THOUGHTS = ["Ask for both.", "And Ulm.", "Done."]
SYSTEM, USER = "Be short.", "Weather in Bern, Genève and Ulm?"
WANT = {"turns": 3, "calls": 3, "results": 3, "reasoning": 3}


def openai_messages(reasoning=True):
    out = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER}]
    for text, thought, calls in zip(TEXTS, THOUGHTS, CALLS):
        m = {"role": "assistant", "content": text}
        if reasoning:
            m["reasoning_content"] = thought
        if calls:
            m["tool_calls"] = [{"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}} for i, n, a in calls]
        out.append(m)
        out += [{"role": "tool", "tool_call_id": i, "content": ANSWERS[i]} for i, _, _ in calls]
    return out


def convert(path):
    out = folder / (path.name + ".openai")
    out.unlink(missing_ok=True)
    done = subprocess.run([arena, "convert", str(path), "--to", "openai", "-o", str(out)], capture_output=True, text=True)
    rows = [json.loads(line) for line in out.read_text().split("\n") if line] if out.exists() else []
    lost = [line[6:].rsplit(" in ", 1)[0] for line in done.stderr.split("\n") if line.startswith("lost: ")]
    return rows, lost, done.stderr


def counts(row):
    ms = row["messages"]
    agent = [m for m in ms if m["role"] == "assistant"]
    return {
        "turns": len(agent),
        "calls": sum(len(m.get("tool_calls", [])) for m in agent),
        "results": sum(m["role"] == "tool" for m in ms),
        "reasoning": sum(bool(m.get("reasoning_content")) for m in agent),
    }


failed, made = 0, []


def hold(shape, name, path, want=WANT, reward=None, rows_wanted=1, words=(), system=SYSTEM, answers=tuple(ANSWERS.values()), texts=TEXTS):
    """Holds what arena reads of a file against the conversation. The file has the format shape, and was made by name."""
    rows, lost, said = convert(path)
    row = rows[0] if rows else {"messages": []}
    agent = [m for m in row["messages"] if m["role"] == "assistant"]
    got = counts(row)
    args = [json.loads(c["function"]["arguments"]) for m in agent for c in m.get("tool_calls", [])]
    said_by = {who: [m["content"] for m in row["messages"] if m["role"] == who] for who in ("system", "user", "tool")}
    ok = got == want and len(rows) == rows_wanted and args == [a for turn in CALLS for _, _, a in turn][: len(args)]
    ok = ok and [m["content"] for m in agent] == texts[: len(agent)]
    ok = ok and [m["reasoning_content"] for m in agent if "reasoning_content" in m] == THOUGHTS[: got["reasoning"]]
    ok = ok and (system is None or said_by["system"] == [system] * bool(system))  # None where the tool writes its own
    ok = ok and said_by["user"] == [USER] and said_by["tool"] == list(answers)[: got["results"]]
    ok = ok and (reward is None or row.get("reward") == reward) and all(word in lost for word in words)
    keep(ok, shape, name, (system != "") + 1 + sum(bool(t) for t in texts[: want["turns"]]) + want["calls"] + want["results"] + want["reasoning"])
    print(f"{'ok  ' if ok else 'FAIL'} {name}: {got} of {want}, lost {[w for w in lost if w not in ('arguments_kind', 'outcome')]}")
    if not ok:
        print(said, rows[:1])


def keep(ok, shape, name, units):
    """Keeps what was held for the lines that end writes."""
    global failed
    failed += not ok
    made.append((shape, name, 1, units, 0, int(not ok)))


def end():
    """Writes what was held, and exits. A line has the format, the maker, and the numbers of files, of units, of units
    that a word names as lost, and of those that nothing names."""
    (folder / (Path(sys.argv[0]).stem + ".tsv")).write_text("".join("\t".join(map(str, row)) + "\n" for row in made))
    sys.exit(failed > 0)


class Model(http.server.BaseHTTPRequestHandler):
    """Answers the next turn of the conversation."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        turn = sum(m["role"] == "assistant" for m in asked["messages"])
        said = [m for m in openai_messages(reasoning=False) if m["role"] == "assistant"][turn]
        body = json.dumps({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": said}], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def play(tracer):
    """Plays the conversation with openai's client against the model, under one span."""
    import openai

    server = http.server.HTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="none")
    with tracer.start_as_current_span("agent"):
        messages = openai_messages()[:2]
        for _ in CALLS:
            said = client.chat.completions.create(model="m", messages=messages, tools=[{"type": "function", "function": {"name": "weather", "parameters": TOOL}}]).choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            messages += [{"role": "tool", "tool_call_id": c.id, "content": ANSWERS[c.id]} for c in said.tool_calls or []]
    server.shutdown()


def genai(provider, logs=None):
    """Notes the conversation by OpenTelemetry's own helpers for GenAI, reasoning too."""
    from opentelemetry.util.genai.handler import TelemetryHandler
    from opentelemetry.util.genai.types import InputMessage, OutputMessage, ReasoningPart, TextPart, ToolCallRequestPart, ToolCallResponsePart

    handler, seen = TelemetryHandler(tracer_provider=provider, logger_provider=logs), [InputMessage("user", [TextPart(USER)])]
    with provider.get_tracer("check").start_as_current_span("agent"):
        for text, thought, calls in zip(TEXTS, THOUGHTS, CALLS):
            with handler.inference("test", request_model="m") as one:
                parts = [ReasoningPart(thought), TextPart(text)] + [ToolCallRequestPart(a, n, i) for i, n, a in calls]
                one.input_messages, one.output_messages = list(seen), [OutputMessage("assistant", parts, "stop")]
                one.system_instruction = [TextPart(SYSTEM)]
            seen.append(InputMessage("assistant", parts))
            seen += [InputMessage("tool", [ToolCallResponsePart(ANSWERS[i], i)]) for i, _, _ in calls]
