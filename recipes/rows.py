"""How rows become the text that a model is trained on. Needs no package."""
import json
import re
from collections.abc import Sequence

CALL = '\n\nWrite each call as one JSON object with its name and arguments:\n<tool_call>\n{"name": "<function>", "arguments": {<arguments>}}\n</tool_call>'
TOOLS = "\n\n# Tools\n\nThese functions may be called, one JSON definition a line:\n<tools>\n{}\n</tools>"
TURNS = re.compile(r"(<\|im_start\|>assistant\n)(.*?<\|im_end\|>)", re.S)


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def as_text(messages: list[dict], tools: list[dict]) -> list[dict]:
    """The messages as rows of profile text have them: two strings each. Rows that are in that form stay."""
    if not tools:
        return messages
    found: list[dict] = []
    for m in messages:
        content = m.get("content") or ""
        match m["role"]:
            case "system":
                found.append({"role": "system", "content": content + TOOLS.format("\n".join(map(compact, tools))) + CALL})
            case "assistant":
                thought = m.get("reasoning_content") or ""
                calls = [f"<tool_call>\n{compact(c['function'])}\n</tool_call>" for c in m.get("tool_calls") or []]
                parts = [f"<think>\n{thought}\n</think>\n"] * bool(thought) + [content] * bool(content) + calls
                found.append({"role": "assistant", "content": "\n".join(parts)})
            case "tool":
                result = f"<tool_response>\n{content}\n</tool_response>"
                if found[-1]["role"] == "user" and found[-1]["content"].startswith("<tool_response>"):
                    found[-1] = {"role": "user", "content": found[-1]["content"] + "\n" + result}
                else:
                    found.append({"role": "user", "content": result})
            case role:
                found.append({"role": role, "content": content})
    return found


def shown(messages: list[dict], example: Sequence[dict]) -> list[dict]:
    """The messages with a worked example after the system's turn."""
    first = sum(m["role"] == "system" for m in messages[:1])
    return [*messages[:first], *example, *messages[first:]]


def silent(messages: list[dict]) -> list[dict]:
    """The messages without reasoning."""
    return [{k: v for k, v in m.items() if k != "reasoning_content"} for m in messages]


def one_call(tools: list[dict]) -> str:
    """The grammar of a reply that is one call of one of the tools, with arguments of its schema and any values, for the guidance backend of vLLM's structured_outputs."""
    def call(name: str, parameters: dict) -> dict:
        properties = {"name": {"const": name}, "arguments": parameters | {"additionalProperties": False}}
        return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}

    spaces = {"item_separator": ",", "key_separator": ":", "whitespace_flexible": False}  # as rows have them
    calls = compact({"x-guidance": spaces, "anyOf": [call(t["function"]["name"], t["function"]["parameters"]) for t in tools]})
    return f'start: "<tool_call>\\n" call "\\n</tool_call>"\ncall: %json {calls}\n'


def without(grammar: str, names: list[str]) -> str:
    """A grammar of one_call without the tools of these names, or as it is if it has no others."""
    before, calls = grammar.split("%json ", 1)
    schema = json.loads(calls)
    left = [call for call in schema["anyOf"] if call["properties"]["name"]["const"] not in names]
    return f"{before}%json {compact(schema | {'anyOf': left or schema['anyOf']})}\n"


def text(messages: list[dict], tools: list[dict]) -> str:
    return "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in as_text(messages, tools))


def rendered(tokenizer, messages: list[dict], tools: list[dict]) -> str:
    """The row by the model's own template, which is shown the tools as text, so that it need not know them."""
    return tokenizer.apply_chat_template(as_text(messages, tools), tokenize=False)
