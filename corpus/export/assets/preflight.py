"""Render the rows of an export through chat templates, as a trainer would, before a trainer does.

    python3 preflight.py DIR TEMPLATE…      (needs jinja2 and pyarrow; transformers renders where it is installed)

TEMPLATE is a Jinja file or a model's tokenizer_config.json. Of every row of the profiles hf-json and text it counts what
arrives in the text: reasoning, the system prompt, definitions of tools, turns, every argument, results; and, where the
template marks what is learned, what of it is in the loss, stop tokens included, and what of others' words. One line per
template and config, one that says what to use; exit 1 where a row does not render or something is lost.
"""
import collections
import json
import os
import re
import sys

try:
    import jinja2
    import jinja2.ext
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    import pyarrow.parquet
except ModuleNotFoundError as missing:
    sys.exit(f"preflight needs jinja2 and pyarrow, and {sys.executable} lacks {missing.name}: {sys.executable} -m pip install jinja2 pyarrow")

OPEN, CLOSE = "\ue000", "\ue001"  # around what is learned; private characters that no row holds
WORDS = ("reasoning", "system", "tools", "turns", "arguments", "results")
LEARNED = ("reasoning", "turns", "arguments", "stops")
EOS = "<|eos_token|>"  # stands for the tokenizer's own
CALLS_END = ("<|call|>", "<|eom_id|>", "<|observation|>")  # what servers stop at after a call, beside the token that ends a conversation
MARK = re.compile(r"<[|｜][^<>]{1,40}[|｜]>$|</s>$|<(?:eos|end_of_turn|turn\|)>$")  # a token of the tokenizer at the end of a text


class Generation(jinja2.ext.Extension):
    """The {% generation %} marks of assistant masks."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("marked"), [], [], body).set_lineno(line)

    def marked(self, caller):
        return OPEN + caller() + CLOSE


def fail(message):
    raise jinja2.exceptions.TemplateError(message)


def source(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".json"):
        text = json.loads(text)["chat_template"]
        if isinstance(text, list):  # several named templates
            named = {t["name"]: t["template"] for t in text}
            text = named.get("tool_use", named.get("default"))
    return text


def by_jinja(text):
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols, Generation])
    env.filters["tojson"] = lambda v, ensure_ascii=False, indent=None, separators=None, sort_keys=False: json.dumps(
        v, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    env.globals.update(raise_exception=fail, strftime_now=lambda form: "2026-01-01")
    template = env.from_string(text)

    def render(messages, tools):
        # transformers gives reasoning under the name that gpt-oss reads too
        messages = [{"thinking": m["reasoning_content"], **m} if m.get("reasoning_content") else m for m in messages]
        whole = template.render(messages=messages, tools=tools, documents=None, add_generation_prompt=False, bos_token="", eos_token=EOS)
        return whole.replace(OPEN, "").replace(CLOSE, ""), re.findall(f"{OPEN}(.*?){CLOSE}", whole, re.S)
    return render


def by_transformers(text):
    from transformers.utils.chat_template_utils import render_jinja_template
    marks = re.search(r"\{%-?\s*generation\s*-?%\}", text) is not None

    def render(messages, tools):
        whole, spans = render_jinja_template([messages], tools=tools, chat_template=text, return_assistant_tokens_mask=marks, bos_token="", eos_token=EOS)
        return whole[0], [whole[0][a:b] for a, b in spans[0]] if marks else []
    return render


def renderer(text):
    try:
        import transformers
    except ImportError:
        return by_jinja(text)
    transformers.logging.set_verbosity_error()
    return by_transformers(text)


def rows(root):
    """(config, row) of every row of messages, its JSON columns decoded."""
    with open(os.path.join(root, "manifest.json"), encoding="utf-8") as file:
        files = json.load(file)["files"]
    for entry in files:
        if entry.get("profile") not in ("hf-json", "text") or not entry["path"].endswith(".parquet"):
            continue
        shard = pyarrow.parquet.ParquetFile(os.path.join(root, entry["path"]))
        columns = [c for c in ("messages", "tools") if c in shard.schema_arrow.names]
        for batch in shard.iter_batches(64, columns=columns):
            for row in batch.to_pylist():
                yield entry["config"], {k: [json.loads(x) if isinstance(x, (str, bytes)) else x for x in v] for k, v in row.items()}


def values(value):
    if isinstance(value, dict):
        return [s for v in value.values() for s in values(v)]
    if isinstance(value, list):
        return [s for v in value for s in values(v)]
    return [value if isinstance(value, str) else json.dumps(value)]


def pieces(messages):
    """(word, text, learned) of all that a row wants to say; the last is None for others' words."""
    for m in messages:
        content, learned = m["content"].strip(), m.get("weight", 1) if m["role"] == "assistant" else None
        if m["role"] in ("system", "tool"):
            yield {"system": "system", "tool": "results"}[m["role"]], content, None
        elif m["role"] == "user":
            yield "turns", content, None
        else:
            thought = re.match(r"(?s)<think>\n(.*?)\n</think>\s*(.*)", content)  # profile text
            thought, content = thought.groups() if thought else (m.get("reasoning_content", ""), content)
            yield "reasoning", thought.strip(), learned
            yield "turns", content, learned
            for call in m.get("tool_calls", []):
                for value in [call["function"]["name"], *values(call["function"]["arguments"])]:
                    yield "arguments", value.strip(), learned


def within(piece, text):
    return piece in text or json.dumps(piece, ensure_ascii=False)[1:-1] in text or json.dumps(piece)[1:-1] in text


def twice(messages, text):
    """Whether calls that the text holds in tags are not those of the row: arguments encoded twice, for one."""
    want = [(c["function"]["name"], c["function"]["arguments"]) for m in messages for c in m.get("tool_calls", [])]
    found = []
    for body in re.findall(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", text, re.S):
        try:
            call = json.loads(body)
            found.append((call.get("name"), call.get("arguments")))
        except ValueError:
            pass  # the example in the system turn
    return bool(found and want) and found[-len(want):] != want


def defined(render, row, text):
    """How many definitions of tools arrive: none where the text is the same without them."""
    tools = row.get("tools") or []
    try:
        if not tools or render(row["messages"], None)[0] == text:
            return 0
    except Exception:  # the template needs them
        pass
    functions = [tool["function"] for tool in tools]
    return sum(within(f.get("description") or f["name"], text) for f in functions)


def stop_token(render):
    """What a template writes at the end of an answer; None where that is no token, or the template refuses the probe."""
    try:
        text, _ = render([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], None)
    except Exception:  # the template raises what it likes
        return None
    end = MARK.search(text.rstrip())
    return end and end[0]


def stops(stop, spans, messages):
    """Whether each learned turn learns where it stops; nothing where this cannot be told: the template's stop token is
    unknown, or the template marks a turn in several pieces."""
    turns = sum(m["role"] == "assistant" and bool(m.get("weight", 1)) for m in messages)
    if stop and len(spans) == turns:
        yield from (span.rstrip().endswith((stop, *CALLS_END)) for span in spans)


class Tally:
    def __init__(self):
        self.rows = self.rendered = self.foreign = 0
        self.marks = False
        self.stop = None
        self.there, self.text, self.loss, self.wanted = (collections.Counter() for _ in range(4))
        self.first = ""

    def add(self, render, row):
        self.rows += 1
        messages = row["messages"]
        try:
            text, spans = render(messages, row.get("tools") or None)
            if twice(messages, text):
                fail("the calls in the text are not those of the row")
        except Exception as error:  # a template raises what it likes
            self.first = self.first or f"row {self.rows}: {type(error).__name__}: {error}"[:200]
            text, spans = "", []
        self.rendered += bool(text)
        self.marks = self.marks or bool(spans)
        learned = "\n".join(spans)
        self.there["tools"] += len(row.get("tools") or [])
        self.text["tools"] += defined(render, row, text) if text else 0
        if self.rows == 1:
            self.stop = stop_token(render)
        for learns in stops(self.stop, spans, messages):
            self.wanted["stops"] += 1
            self.loss["stops"] += learns
        for word, piece, weight in pieces(messages):
            if not piece:
                continue
            self.there[word] += 1
            self.text[word] += within(piece, text)
            if weight:
                self.wanted[word] += 1
                self.loss[word] += within(piece, learned)
            elif weight is None and word == "results":
                self.foreign += len(piece) > 40 and within(piece, learned)

    def whole(self):
        return self.rendered == self.rows and self.text == self.there and (not self.marks or self.loss == self.wanted and not self.foreign)

    def __str__(self):
        kept = ", ".join(f"{w} {self.text[w]} of {self.there[w]}" for w in WORDS if self.there[w])
        loss = ", ".join(f"{w} {self.loss[w]} of {self.wanted[w]}" for w in LEARNED if self.wanted[w]) + f", others' {self.foreign}"
        return f"{self.rendered} of {self.rows} rows; in text: {kept}; in loss: {loss if self.marks else 'not marked'}" + (f"; first failure {self.first}" if self.first else "")


def advice(path, tallies):
    good = [c for c, t in tallies.items() if t.whole()]
    if good:
        return f"use config {good[0]}" + ("" if tallies[good[0]].marks else "; it marks no loss, which the trainer must do")
    return "use the corpus's chat_template.jinja" + (", or export profile text too" if "text" not in tallies else "")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    bad = False
    for path in sys.argv[2:]:
        render, tallies = renderer(source(path)), {}
        for config, row in rows(sys.argv[1]):
            tallies.setdefault(config, Tally()).add(render, row)
        if not tallies:
            sys.exit(f"no rows of profile hf-json or text in {sys.argv[1]}")
        for config, tally in tallies.items():
            print(f"{os.path.basename(path)}, {config}: {tally}")
        print(f"{os.path.basename(path)}: {advice(path, tallies)}")
        bad = bad or not all(t.whole() for t in tallies.values())
    sys.exit(bad)


if __name__ == "__main__":
    main()
