"""Runs agents' own programs against a server on loopback that stands in for the model, and holds what `arena convert`
reads of the sessions that they write against what the server told them.

    check_programs.py ARENA FOLDER MODULES

MODULES is a folder of Node modules with the programs. Each program runs the commands of the calls by its own tool.
"""

import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from conversation import convert, end, folder, keep

MODULES = Path(sys.argv[3])
PROMPT = "Print the two words."
# Each turn of the model: its thought, its text, and the commands that it runs. printf keeps the words of results out of
# the commands.
TURNS = [
    ("Both at once.", "I print two.", ["printf 'al%s' fa", "printf 'be%s' ta"]),
    ("One more.", "", ["printf 'gam%s' ma"]),
    ("All done.", "These were alfa, beta and gamma.", []),
]
RESULTS = ["alfa", "beta", "gamma"]


def sse(*events):
    return "".join((f"event: {e['type']}\n" if "type" in e else "") + "data: " + json.dumps(e) + "\n\n" for e in events)


def responses(turn, tool):
    thought, text, commands = TURNS[turn]
    items = [{"type": "reasoning", "id": f"rs_{turn}", "summary": [{"type": "summary_text", "text": thought}], "encrypted_content": "AAAA"}]
    if text:
        items.append({"type": "message", "id": f"msg_{turn}", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]})
    items += [{"type": "function_call", "id": f"fc_{turn}_{i}", "call_id": f"c{turn}{i}", "name": tool[0], "arguments": json.dumps(tool[1](c)), "status": "completed"} for i, c in enumerate(commands)]
    done = {"id": f"resp_{turn}", "object": "response", "status": "completed", "model": "m", "output": items, "usage": {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None, "total_tokens": 2}}
    events = [{"type": "response.created", "response": done | {"output": [], "status": "in_progress"}}]
    for i, item in enumerate(items):
        events += [{"type": "response.output_item.added", "output_index": i, "item": item}, {"type": "response.output_item.done", "output_index": i, "item": item}]
    return sse(*events, {"type": "response.completed", "response": done})


def chat(turn, tool):
    thought, text, commands = TURNS[turn]
    calls = [{"index": i, "id": f"c{turn}{i}", "type": "function", "function": {"name": tool[0], "arguments": json.dumps(tool[1](c))}} for i, c in enumerate(commands)]
    chunk = lambda delta, end=None: {"id": f"x{turn}", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
    deltas = [{"role": "assistant", "reasoning_content": thought}] + ([{"content": text}] if text else []) + ([{"tool_calls": calls}] if calls else [])
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return sse(*[chunk(d) for d in deltas], chunk({}, "tool_calls" if calls else "stop") | {"usage": usage}) + "data: [DONE]\n\n"


def messages(turn, tool):
    thought, text, commands = TURNS[turn]
    blocks = [({"type": "thinking", "thinking": "", "signature": ""}, [{"type": "thinking_delta", "thinking": thought}, {"type": "signature_delta", "signature": "c2ln"}])]
    if text:
        blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": text}]))
    for i, c in enumerate(commands):
        blocks.append(({"type": "tool_use", "id": f"toolu_{turn}{i}", "name": tool[0], "input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(tool[1](c))}]))
    events = [{"type": "message_start", "message": {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [], "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}}]
    for i, (block, deltas) in enumerate(blocks):
        events += [{"type": "content_block_start", "index": i, "content_block": block}, *[{"type": "content_block_delta", "index": i, "delta": d} for d in deltas], {"type": "content_block_stop", "index": i}]
    return sse(*events, {"type": "message_delta", "delta": {"stop_reason": "tool_use" if commands else "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 1}}, {"type": "message_stop"})


def gemini(turn, tool):
    thought, text, commands = TURNS[turn]
    parts = [{"text": "**Plan**\n" + thought, "thought": True}] + ([{"text": text}] if text else [])
    parts += [{"functionCall": {"id": f"c{turn}{i}", "name": tool[0], "args": tool[1](c)}} for i, c in enumerate(commands)]
    return sse({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}], "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "m"})


class Server(http.server.ThreadingHTTPServer):
    """Answers a program's requests with the turns, in its API. A request without tools is answered with a word."""

    def __init__(self, answer, tool):
        self.answer, self.tool, self.asked = answer, tool, []
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply('{"data": [], "models": []}', "application/json")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append((self.path, body))
        try:
            asked = json.loads(body or b"{}")
        except ValueError:
            asked = {}
        if len(self.server.asked) > 30:  # the program asks again and again
            self.send_error(500)
            return
        if not asked.get("tools") or not any(kind in self.path for kind in ("responses", "completions", "messages", "GenerateContent")) or "count_tokens" in self.path:
            self.reply('{"input_tokens": 1, "totalTokens": 1}', "application/json")
            return
        text = json.dumps(asked)
        turn = ("alfa" in text) + ("gamma" in text)
        self.reply(self.server.answer(turn, self.server.tool), "text/event-stream")

    def reply(self, text, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


def run(command, home, **more):
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "NO_COLOR": "1", "CI": "1", **more}
    work = home / "work"
    work.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([str(MODULES / ".bin" / command[0]), *command[1:]], cwd=work, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    if done.returncode:
        print(f"{command[0]} ended with {done.returncode}: {done.stderr[-600:]}")
    return done


def fresh(name):
    home = folder / name
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    return home


def codex():
    home = fresh("codex")
    server = Server(responses, ("exec_command", lambda c: {"cmd": c}))
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(f'model = "m"\nmodel_provider = "own"\n[model_providers.own]\nname = "own"\nbase_url = "{server.url}/v1"\nwire_api = "responses"\nenv_key = "OWN_KEY"\n')
    run(["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT], home, OWN_KEY="none")
    return list(home.glob(".codex/sessions/**/*.jsonl"))


def pi():
    home = fresh("pi")
    server = Server(chat, ("bash", lambda c: {"command": c}))
    (home / ".pi" / "agent").mkdir(parents=True)
    (home / ".pi" / "agent" / "models.json").write_text(json.dumps({"providers": {"own": {"baseUrl": server.url + "/v1", "api": "openai-completions", "apiKey": "none", "models": [{"id": "m", "name": "m", "reasoning": True, "input": ["text"], "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}, "contextWindow": 100000, "maxTokens": 1000}]}}}))
    run(["pi", "-p", "--offline", "--provider", "own", "--model", "m", PROMPT], home)
    return list(home.glob(".pi/agent/sessions/**/*.jsonl"))


def opencode():
    home = fresh("opencode")
    server = Server(chat, ("bash", lambda c: {"command": c, "description": "prints"}))
    config = {"$schema": "https://opencode.ai/config.json", "share": "disabled", "autoupdate": False, "permission": {"bash": "allow"}, "provider": {"own": {"npm": "@ai-sdk/openai-compatible", "name": "own", "options": {"baseURL": server.url + "/v1", "apiKey": "none"}, "models": {"m": {"name": "m", "reasoning": True, "tool_call": True}}}}}
    (home / "work").mkdir()
    (home / "work" / "opencode.json").write_text(json.dumps(config))
    run(["opencode", "run", "--model", "own/m", PROMPT], home)
    listed = run(["opencode", "session", "list", "--format", "json"], home)
    told = run(["opencode", "export", json.loads(listed.stdout)[0]["id"]], home)
    (home / "export.json").write_text(told.stdout)
    return [home / "export.json"]


def claude():
    home = fresh("claude")
    server = Server(messages, ("Bash", lambda c: {"command": c, "description": "prints"}))
    done = run(["claude", "-p", PROMPT, "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"], home, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="none", IS_SANDBOX="1", DISABLE_TELEMETRY="1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", MAX_THINKING_TOKENS="2000")
    (home / "stream.jsonl").write_text(done.stdout)
    return list(home.glob(".claude/projects/**/*.jsonl")) + [home / "stream.jsonl"]


def gemini_cli():
    home = fresh("gemini")
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}}))
    server = Server(gemini, ("run_shell_command", lambda c: {"command": c}))
    run(["gemini", "-p", PROMPT, "--yolo", "--skip-trust", "-m", "gemini-2.5-pro"], home, GEMINI_API_KEY="none", GOOGLE_GEMINI_BASE_URL=server.url, GEMINI_TELEMETRY_ENABLED="false")
    return list(home.glob(".gemini/tmp/**/*session*.json*"))


def hold_turns(shape, name, path, user=PROMPT):
    """Holds the texts, thoughts, commands and results that arena reads of a session against what the server told."""
    rows, lost, said = convert(path)
    ms = rows[0]["messages"] if rows else []
    agent = [m for m in ms if m["role"] == "assistant"]
    commands = [[json.loads(c["function"]["arguments"]) for c in m.get("tool_calls", [])] for m in agent]
    results = [m["content"] for m in ms if m["role"] == "tool"]
    ok = len(rows) == 1 and [m["content"].strip('"\n') for m in ms if m["role"] == "user"] == [user]
    ok = ok and [m["content"] for m in agent] == [t[1] for t in TURNS]
    ok = ok and [m.get("reasoning_content", "").removeprefix("Plan\n") for m in agent] == [t[0] for t in TURNS]
    ok = ok and [[a.get("command") or a.get("cmd") for a in turn] for turn in commands] == [t[2] for t in TURNS]
    ok = ok and len(results) == len(RESULTS) and all(word in result for word, result in zip(RESULTS, results))
    keep(ok, shape, name, 1 + 2 + 3 + 3 + 3)
    print(f"{'ok  ' if ok else 'FAIL'} {name}: lost {[w for w in lost if w not in ('arguments_kind', 'step_meta')]}")
    if not ok:
        print(said, rows)


for program, shape, name in (
    (codex, "codex", "Codex"),
    (pi, "pi", "Pi"),
    (opencode, "opencode", "opencode"),
    (claude, "claude_code", "Claude Code"),
    (gemini_cli, "gemini_cli", "Gemini CLI"),
):
    if len(sys.argv) > 4 and program.__name__ not in sys.argv[4:]:
        continue
    paths = program()
    if not paths:
        keep(False, shape, name + " wrote no session", 0)
    for path in paths:
        is_stream = path.name == "stream.jsonl"  # the stream does not hold the request
        hold_turns(shape, name + (", its output" if is_stream else ", its session"), path, "" if is_stream else PROMPT)
end()
