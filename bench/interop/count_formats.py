"""Counts the texts, thoughts, calls and results in real files by a logic of its own, and holds what `arena convert` reads
of each file against them.

    count_formats.py ARENA FOLDER REAL

REAL has one folder for each producer. The counter knows of a format only where its units stand, and nothing of trees,
branches or turns: a unit that arena does not write must be named by a word among what is lost.
"""

import collections
import gzip
import json
import sys
from pathlib import Path

from conversation import convert, end, keep, made

REAL = Path(sys.argv[3])
# Words under which arena leaves out texts, calls or results.
WHOLE = {
    "attachment", "client_command", "context_replaced", "greeting", "hidden_reasoning", "other_branches", "other_spans", "program_events", "repeated_lines",
    "vetoes", "shared_result", "steps_outside_history", "synthetic_reply", "user_tools", "other_scores",
}


def text_of(content):
    """Returns the texts of a message's content, which is a text, a part, or a list of these."""
    if isinstance(content, str):
        return [content]
    if isinstance(content, dict):
        return [content["text"]] if isinstance(content.get("text"), str) else []
    return [t for part in content or [] for t in text_of(part)]


def anthropic(message):
    content = message.get("content") or []
    for part in [content] if isinstance(content, str) else content:
        kind = part.get("type") if isinstance(part, dict) else "text"
        if kind == "text":
            yield "text", part if isinstance(part, str) else part["text"]
        elif kind == "thinking":
            yield "thought", part["thinking"]
        elif kind in ("tool_use", "toolCall"):
            yield "call", part["name"]
        elif kind == "tool_result":
            yield "result", "\n".join(text_of(part.get("content")))


def openai(message):
    role = message.get("role")
    kind = "result" if role == "tool" else "text"
    yield from ((kind, t) for t in text_of(message.get("content")))
    for key in ("reasoning_content", "thinking"):
        if isinstance(message.get(key), str):
            yield "thought", message[key]
    for call in message.get("tool_calls") or []:
        yield "call", (call.get("function") or call).get("name")


def claude_code(lines):
    for line in lines:
        if line.get("type") in ("user", "assistant") and isinstance(line.get("message"), dict):
            yield from anthropic(line["message"])


def codex(lines):
    items, events = [], []
    for line in lines:
        item = line.get("payload", line)
        kind = item.get("type")
        if line.get("type") == "event_msg":
            if kind in ("user_message", "agent_message"):
                events.append(("text", item.get("message") or ""))
        elif kind == "message":
            items += [("text", t) for t in text_of(item["content"])]
        elif kind == "reasoning":
            items += [("thought", t) for t in text_of(item.get("summary"))]
        elif kind in ("function_call", "custom_tool_call"):
            items.append(("call", item.get("name")))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            out = item["output"]
            items.append(("result", out if isinstance(out, str) else "\n".join(text_of(out)) or json.dumps(out)))
    known = {t for k, t in items}
    yield from items
    yield from (e for e in events if e[1] not in known)


def gemini_cli(lines):
    messages = {}
    for line in [m for doc in lines for m in doc.get("messages", [doc])]:
        for m in (line.get("$set") or {}).get("messages", [line]):
            if m.get("type") in ("user", "gemini"):
                messages[m.get("id", len(messages))] = m
    for m in messages.values():
        yield from (("text", t) for t in text_of(m.get("content")))
        yield from (("thought", t["description"]) for t in m.get("thoughts") or [])
        for call in m.get("toolCalls") or []:
            yield "call", call["name"]
            for part in call.get("result") or []:
                yield "result", (part.get("functionResponse") or {}).get("response", {}).get("output", "")


def pi(lines):
    for line in lines:
        m = line.get("message") or {}
        if line.get("type") != "message":
            continue
        if m.get("role") in ("toolResult", "tool"):
            yield from (("result", t) for t in text_of(m.get("content")))
        elif m.get("role") in ("user", "assistant", "system"):
            yield from anthropic({"content": m.get("content") or []})


def openhands(lines):
    for line in lines:
        for e in line.get("history") or [line]:
            for e in e if isinstance(e, list) else [e]:
                args = e.get("args") or {}
                if e.get("action") in ("message", "system") and args.get("content"):
                    yield "text", args["content"]
                elif e.get("action") in ("run", "run_ipython", "edit", "read", "browse_interactive", "str_replace_editor") and e.get("source") == "agent":
                    yield "call", None
                    if args.get("thought"):
                        yield "text", args["thought"]
                elif e.get("observation") in ("run", "run_ipython", "edit", "read", "error") and (e.get("cause") or 0) > 0:
                    yield "result", e.get("content") or ""
                elif "llm_message" in e:
                    yield from (("text", t) for t in text_of(e["llm_message"]["content"]))
                elif isinstance(e.get("observation"), dict):
                    yield from (("result", t) for t in text_of(e["observation"].get("content")))
                elif e.get("kind") == "ActionEvent":
                    yield "call", e["tool_name"]
                    yield from (("text", t) for t in text_of(e.get("thought")))


def items(found):
    """Yields the units of items of the Responses API, of which a step may be a list."""
    for item in [{"role": "user", "content": found}] if isinstance(found, str) else found or []:
        kind = item.get("type") if isinstance(item, dict) else "steps"
        if kind == "steps":
            yield from items(item)
        elif kind == "reasoning":
            yield from (("thought", t) for t in text_of(item.get("content") or item.get("summary")))
        elif kind in ("function_call", "custom_tool_call"):
            yield "call", item.get("name")
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield "result", item["output"] if isinstance(item["output"], str) else "\n".join(text_of(item["output"]))
        elif "role" in item:
            yield from openai(item)


def exchange(lines):
    for line in lines:
        if "responses_create_params" in line:
            asked = line["responses_create_params"]
            yield from (("text", t) for t in text_of(asked.get("instructions")))
            yield from items(asked.get("input"))
            yield from items((line["response"] or {}).get("output"))
            continue
        for m in line.get("messages") or []:
            yield from openai(m)
        for choice in (line.get("response") or {}).get("choices", []):
            yield from openai(choice["message"])


def rows(lines):
    for line in lines:
        for m in line.get("messages") or line.get("conversations") or []:
            yield from openai(m)


def swe_agent(lines):
    for line in lines:
        for m in line["history"]:
            yield from openai(m)


def tau(lines):
    for line in lines:
        for m in line.get("traj") or line.get("messages") or [m for s in line.get("simulations") or [] for m in s.get("messages") or []]:
            if isinstance(m, dict):
                yield from openai(m)


def atif(lines):
    for line in lines:
        for step in line["steps"]:
            yield from (("text", t) for t in text_of(step.get("message")))
            if step.get("reasoning_content"):
                yield "thought", step["reasoning_content"]
            for call in step.get("tool_calls") or []:
                yield "call", call["function_name"]
            for result in (step.get("observation") or {}).get("results") or []:
                yield from (("result", t) for t in text_of(result.get("content")))


def sniff(lines):
    """Returns the format of a file and its counter, by the keys of its records."""
    keys = set().union(*(line.keys() for line in lines[:50] if isinstance(line, dict)))
    kinds = {line["type"] for line in lines if isinstance(line, dict) and isinstance(line.get("type"), str)}
    for format, count, ok in (
        ("swe_agent", swe_agent, {"history", "trajectory"} <= keys),
        ("atif", atif, "steps" in keys and "schema_version" in keys),
        ("tau_bench", tau, "traj" in keys),
        ("tau2", tau, {"simulations", "tasks"} <= keys or {"task_id", "messages", "reward_info"} <= keys),
        ("gemini_cli", gemini_cli, {"sessionId", "projectHash"} <= keys),
        ("codex", codex, "payload" in keys or bool(kinds & {"function_call", "local_shell_call", "reasoning"}) or "instructions" in keys),
        ("claude_code", claude_code, {"sessionId", "message"} <= keys),
        ("pi", pi, bool(kinds & {"session", "session_start"}) and "message" in keys),
        ("exchange", exchange, {"messages", "response"} <= keys or {"responses_create_params", "response"} <= keys),
        ("openhands", openhands, bool(keys & {"history", "observation", "llm_message"})),
        ("openai", rows, "messages" in keys),
    ):
        if ok:
            return format, count
    return None, None


def records(path):
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = raw.decode("utf-8", "replace")
    try:
        doc = json.loads(text)
        return doc if isinstance(doc, list) else [doc]
    except ValueError:
        return [json.loads(line) for line in text.split("\n") if line.strip().startswith("{")]


def halves(units):
    """Splits a text in which a thought ends, and whose beginning stood in the prompt, into two units."""
    for kind, text in units:
        thought, closing, rest = (text or "").partition("</think>")
        if kind == "text" and closing and "<think" not in thought:
            yield "thought", thought
            text = rest
        yield kind, text


def written(rows):
    """Returns the texts of each kind that arena writes, as one text, and the number of calls."""
    got, calls = collections.defaultdict(list), 0
    for m in (m for row in rows for m in row["messages"]):
        got["result" if m["role"] == "tool" else "text"].append(m["content"])
        got["thought"].append(m.get("reasoning_content") or "")
        calls += len(m.get("tool_calls") or [])
    return {kind: "\0".join(texts) for kind, texts in got.items()}, calls


def missing(units, rows):
    """Returns the units that no row holds. A text may be a part of a longer one, and a text of the source may be a
    result or a thought in a row; each place holds one unit."""
    got, calls = written(rows)
    gone, wanted = [], 0
    for kind, text in sorted(units, key=lambda u: -len(u[1] or "")):
        if kind == "call":
            wanted += 1
            continue
        text = text.strip()
        for place in (kind, "text", "result", "thought"):
            if text and text in got.get(place, ""):
                got[place] = got[place].replace(text, "\0", 1)
                break
        else:
            gone += [(kind, text)] if text else []
    return gone + [("call", "")] * max(0, wanted - calls)


def names_units(word):
    """Reports whether a word can stand for a lost text, thought, call or result."""
    return word in WHOLE or word.startswith("unread:") and word.split(":")[1].split(".")[-1] in ("content", "text", "message", "thinking", "…")


def main():
    table, refused = collections.defaultdict(lambda: [0, 0, 0, 0]), 0  # files, units, named, silent
    for path in sorted(p for p in REAL.rglob("*") if p.is_file()):
        try:
            lines = [line for line in records(path) if isinstance(line, dict)]
        except ValueError:
            continue
        format, count = sniff(lines)
        units = [u for u in halves(count(lines)) if u[0] == "call" or (u[1] or "").strip()] if format else []
        if not units:
            continue
        rows, lost, said = convert(path)
        if not rows:
            refused += 1
            print("refused", path, said.strip()[-300:])
            continue
        gone = missing(units, rows)
        named = len(gone) if any(names_units(word) for word in lost) else 0
        for i, n in enumerate((1, len(units), named, len(gone) - named)):
            table[format, path.relative_to(REAL).parts[0].replace("+", "/")][i] += n
        if gone:
            print("named" if named else "SILENT", path, f"{len(gone)} of {len(units)}:", [(kind, text[:60]) for kind, text in gone[:3]], [w for w in lost if names_units(w)])
    made.extend((*key, *row) for key, row in sorted(table.items()))
    print(*made, f"{refused} refused", sep="\n")
    if any(row[3] for row in table.values()):
        keep(False, "", "units are lost silently", 0)
    end()


main()
