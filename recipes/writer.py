"""Stands for the model that writes reasoning for recipe rewrite: python writer.py --listen 127.0.0.1:8000.

No model that could is at hand here, so this one follows rules. Of each step it sees what recipe rewrite shows a model,
and no more: the request, what lay before, and the call. Asked which call a thought leads to, it goes by the thought alone.
"""
import argparse
import json
import random
import re

from listen import serve

QUOTED = re.compile(r"<<<\n(.*?)>>>", re.S)


FOUND = ("On the list there are ", "What came up is ", "There we have ", "Now I know of ", "I was shown ", "Three came up: ", "Here are ")
JOINS = (", ", " and ", "; ", ", then ", " or ", ", also ", ", further down ")
CHOICES = (" I take {title}.", " So {title} it is.", " Asked for was {title}.", " Of these I take {title}.", " That leaves {title}.", " Mine is {title}.")


def thought(call: str, before: list[str]) -> str:
    """What leads to a call, in the words of the results before it. Hardly two are in one form."""
    arguments, dice = json.loads(call[call.index("(") + 1 : call.rindex(")")]), random.Random(str(before) + call)
    if call.startswith("find_product"):
        return f"First a search for {arguments['q'].strip()} in shop {arguments['shop_id']}."
    if not call.startswith("recommend_product"):
        return "The product is recommended."
    shown = [p for text in before if text.startswith("[") for p in json.loads(text)]
    taken = next(p for p in shown if p["product_id"] == arguments["product_ids"])
    dice.shuffle(shown)
    listed = "".join(dice.choice(JOINS) * bool(n) + p["title"] for n, p in enumerate(shown))
    return dice.choice(FOUND) + listed + "." + dice.choice(CHOICES).format(**taken)


VERBS = {"First a search": "find_product", "The product is recommended": "terminate"}


def chosen(thought: str, options: str) -> str:
    """The number of the call that the thought leads to, by its tool and by what it names; 0 for none."""
    tool = next((tool for words, tool in VERBS.items() if thought.startswith(words)), "recommend_product")
    thought = thought.split(". ")[-1]  # what it ends in
    for n, call in enumerate(re.split(r"(?m)^\d\. ", options)[1:], 1):
        named = re.findall(r"\w+", " ".join(json.loads(call[call.index("(") + 1 : call.rindex(")")]).values()))
        if call.startswith(tool) and (tool == "terminate" or all(word in thought for word in named)):
            return str(n)
    return "0"


def answer(request: dict) -> dict:
    parts = [part.strip() for part in QUOTED.findall(request["messages"][-1]["content"])]
    if "\nThe calls:\n" in request["messages"][-1]["content"]:
        said = {"choice": chosen(parts[-2], parts[-1])}
    else:
        said = {"reasoning": thought(parts[-1], parts[1:-1])}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": json.dumps(said)}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--listen", default="127.0.0.1:8000")
    serve(p.parse_args().listen, answer)


if __name__ == "__main__":
    main()
