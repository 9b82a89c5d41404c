"""Stands for a stronger model in the shops of world.py and market.py, by rules: python teacher.py --listen 127.0.0.1:8000.

It reads the request, searches the shop, names the product that is asked for, recommends it and ends. It writes as rows
of profile text are written.
"""
import argparse
import json
import re

from listen import serve

KIND = re.compile(r"\b(?:a|A|the cheapest|the dearest|the) (?:(\w+) )?(\w+?)(?: by (\w+)(?: in ([a-z]+) from)?| with| in shop)\b")
SHOP, LIMIT = re.compile(r"\bshop (\d+)"), re.compile(r"\bat (most|least) (\d+)")


def call(thought: str, tool: str, **arguments: str) -> str:
    return f"<think>\n{thought}\n</think>\n\n<tool_call>\n" + json.dumps({"name": tool, "arguments": arguments}, separators=(",", ":")) + "\n</tool_call>"


def reply(messages: list[dict]) -> str:
    said = [m["content"] for m in messages if m["role"] == "user"]
    asked, shop = KIND.search(said[0]), SHOP.search(said[0])
    if not asked or not shop:
        return call("I cannot read this request.", "terminate", status="failure")
    kind = asked[2]
    if len(said) == 1:
        return call(f"I search shop {shop[1]} for a {kind}.", "find_product", q=" " + kind, shop_id=shop[1])
    if len(said) == 2 and (taken := chosen(said[0], said[1], asked)):
        return call(f"I take {taken['title']}.", "recommend_product", product_ids=taken["product_id"])
    return call("Done.", "terminate", status="success")


def chosen(request: str, result: str, asked: re.Match) -> dict | None:
    """The product of the result that satisfies the request."""
    shown = json.loads(re.search(r"\[.*\]", result, re.S)[0])
    maker, colour, limit = asked[3], asked[1] or asked[4], LIMIT.search(request)
    shown = [p for p in shown if (not maker or re.search(rf"\b{maker}\d", p["title"])) and (not colour or p["title"].startswith(colour + " "))]
    if limit:
        shown = [p for p in shown if (p["price"] <= int(limit[2]) if limit[1] == "most" else p["price"] >= int(limit[2]))]
    return min(shown, key=lambda p: -p["price"] if "dearest" in request or "highest" in request else p["price"], default=None)


def answer(request: dict) -> dict:
    message = {"role": "assistant", "content": reply(request["messages"])}
    size, read = len(message["content"]) // 4, sum(len(m["content"]) for m in request["messages"]) // 4
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": read, "completion_tokens": size, "total_tokens": read + size}}


if __name__ == "__main__":
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--listen", default="127.0.0.1:8000")
    serve(p.parse_args().listen, answer)
