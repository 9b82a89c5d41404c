"""Reward function for verl's `custom_reward_function.path`; it needs the standard library alone.

The ground truth of a row is a JSON string: {"category", "reward": [{"product_id", …}, …], "voucher"?}.
The score is the share of asked-for products at their place in the last recommend_product call, in 0 to 1.
It grades by identity; for the full rules run the rollouts through `arena eval`.
"""
import json
import re

CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.S)


def recommended(text):
    """Product ids of the last recommend_product call, in order, each once."""
    ids = []
    for found in CALL.finditer(text):
        try:
            call = json.loads(found[1])
        except ValueError:
            continue
        if isinstance(call, dict) and call.get("name") == "recommend_product":
            arguments = call.get("arguments")
            value = arguments.get("product_ids") if isinstance(arguments, dict) else None
            parts = value.split(",") if isinstance(value, str) else []
            ids = list(dict.fromkeys(p.strip() for p in parts if p.strip()))
    return ids


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **_):
    wanted = [r.get("product_id") for r in json.loads(ground_truth)["reward"]]
    got = recommended(solution_str)
    hits = sum(1 for want, have in zip(wanted, got) if want == have)
    return hits / len(wanted) if wanted else 0.0
