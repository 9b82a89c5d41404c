"""Render the rows of an export through chat templates, as a trainer would, before a trainer does.

    python3 preflight.py DIR TEMPLATE…      (needs jinja2 and pyarrow)

TEMPLATE is a Jinja file or a model's tokenizer_config.json. Each row of profile hf-json must render, its tool calls
must be read back equal (from <tool_call> tags where the template writes them; otherwise each name and value must be
in the text), and its last turn must be neither nothing nor everything of the text. One line per template and config;
exit 1 where a row fails.
"""
import json
import os
import re
import sys

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment
import pyarrow.parquet


class Generation(jinja2.ext.Extension):
    """The {% generation %} marks of assistant masks, which change no text."""
    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


def fail(message):
    raise ValueError(message)


def compiled(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".json"):
        text = json.loads(text)["chat_template"]
        if isinstance(text, list):  # several named templates
            named = {t["name"]: t["template"] for t in text}
            text = named.get("tool_use", named.get("default"))
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", Generation])
    env.filters["tojson"] = lambda v, indent=None, **_: json.dumps(v, ensure_ascii=False, indent=indent)
    env.globals.update(raise_exception=fail, strftime_now=lambda form: "2026-01-01")
    return env.from_string(text)


def rows(root):
    """(config, row) of every hf-json row, its JSON columns decoded."""
    with open(os.path.join(root, "manifest.json"), encoding="utf-8") as file:
        files = json.load(file)["files"]
    for entry in files:
        if entry.get("profile") != "hf-json":
            continue
        shard = pyarrow.parquet.ParquetFile(os.path.join(root, entry["path"]))
        for batch in shard.iter_batches(64, columns=["messages", "tools"]):
            for row in batch.to_pylist():
                yield entry["config"], {k: [json.loads(x) for x in v] for k, v in row.items()}


def strings(value):
    if isinstance(value, dict):
        return [s for v in value.values() for s in strings(v)]
    if isinstance(value, list):
        return [s for v in value for s in strings(v)]
    return [value] if isinstance(value, str) else []


def check(template, row):
    messages, tools = row["messages"], row["tools"] or None
    text = template.render(messages=messages, tools=tools, add_generation_prompt=False, bos_token="", eos_token="")
    calls = [c["function"] for m in messages for c in m.get("tool_calls", [])]
    found = []
    for body in re.findall(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", text, re.S):
        try:
            found.append(json.loads(body))
        except ValueError:
            pass  # the example in the system turn
    found = [(f.get("name"), f.get("arguments")) for f in found]
    want = [(c["name"], c["arguments"]) for c in calls]
    if found and found[-len(want):] != want and want:
        fail(f"calls came back as {found[-len(want):]}, not {want}"[:300])
    if not found:
        for call in calls:
            for piece in [call["name"], *strings(call["arguments"])]:
                if piece not in text and json.dumps(piece, ensure_ascii=False)[1:-1] not in text:
                    fail(f"{piece[:80]!r} of a call to {call['name']} is not in the text: the template leaves calls out")
    before = template.render(messages=messages[:-1], tools=tools, add_generation_prompt=True, bos_token="", eos_token="")
    learned = len(text) - len(os.path.commonprefix([text, before]))
    if not 0 < learned < len(text):
        fail(f"{learned} of {len(text)} characters are the last turn's")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    bad = 0
    for path in sys.argv[2:]:
        template, seen, failures = compiled(path), {}, {}
        for config, row in rows(sys.argv[1]):
            seen[config] = seen.get(config, 0) + 1
            try:
                check(template, row)
            except Exception as error:  # a template raises what it likes
                failures.setdefault(config, []).append(f"row {seen[config]}: {type(error).__name__}: {error}")
        if not seen:
            sys.exit(f"no rows of profile hf-json in {sys.argv[1]}")
        for config, n in seen.items():
            wrong = failures.get(config, [])
            bad += len(wrong)
            print(f"{os.path.basename(path)}, {config}: {n - len(wrong)} of {n} rows" + (f"; first failure {wrong[0][:300]}" if wrong else ""))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
