"""Stands for a stronger model in the shop of world.py, by rules: python teacher.py --listen 127.0.0.1:8000.

It reads the request, searches the shop, names the product of the asked maker, recommends it and ends. It writes as rows
of profile text are written.
"""
import argparse
import json
import re

from listen import serve

ASKED = re.compile(r"\b(?:a|A) (\w+) by (\w+)\b.*?\bshop (\d+)")


def call(thought: str, tool: str, **arguments: str) -> str:
    return f"<think>\n{thought}\n</think>\n\n<tool_call>\n" + json.dumps({"name": tool, "arguments": arguments}, separators=(",", ":")) + "\n</tool_call>"


def reply(messages: list[dict]) -> str:
    said = [m["content"] for m in messages if m["role"] == "user"]
    asked = ASKED.search(said[0])
    if not asked:
        return call("I cannot read this request.", "terminate", status="failure")
    kind, maker, shop = asked.groups()
    if len(said) == 1:
        return call(f"I search shop {shop} for a {kind}.", "find_product", q=" " + kind, shop_id=shop)
    if len(said) == 2:
        shown = re.findall(r'"product_id":\s*"(\d+)".*?"title":\s*"(\w+ (\w+?)\d+)"', said[1])
        taken = [(id, title) for id, title, by in shown if by == maker]
        if taken:
            return call(f"I take {taken[0][1]}.", "recommend_product", product_ids=taken[0][0])
    return call("Done.", "terminate", status="success")


def answer(request: dict) -> dict:
    message = {"role": "assistant", "content": reply(request["messages"])}
    size, read = len(message["content"]) // 4, sum(len(m["content"]) for m in request["messages"]) // 4
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": read, "completion_tokens": size, "total_tokens": read + size}}


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--listen", default="127.0.0.1:8000")
    serve(p.parse_args().listen, answer)
