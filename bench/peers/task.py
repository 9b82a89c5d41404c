"""Writes problems whose answer is the product 700, and a catalogue around it.

    python3 bench/peers/task.py FOLDER PROBLEMS
"""

import json
import sys
from pathlib import Path


def write(folder, problems):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "catalog.jsonl", "w") as out:
        for i, colour in enumerate(["Blue", "Red", "Green", "White"]):
            for j, thing in enumerate(["desk lamp", "garden hose", "phone case", "running shoes", "coffee mug"]):
                row = {"product_id": str(700 + 10 * j + i), "shop_id": str(5 + j), "title": f"{colour} {thing}, model {i}", "price": 100 * (i + 1) + j,
                       "service": ["COD", "freeShipping"], "sold_count": i * j, "short_description": f"A {thing}.",
                       "description": "A plain thing, well made. " * 20, "attributes": {"colour": [colour]}, "sku_options": {}}
                print(json.dumps(row), file=out)
    with open(folder / "problems.jsonl", "w") as out:
        for i in range(problems):
            row = {"problem_id": f"p{i}", "query": f"Request {i}: a blue desk lamp, please. It should be sturdy.", "category": "Product",
                   "reward": {"product_id": "700", "title": ["Blue desk lamp, model 0"]}}
            print(json.dumps(row), file=out)


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]))
