"""verifiers on the task: verifiers_peer.py URL PROBLEMS ROLLOUTS AT_ONCE."""

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

url, problems, count, at_once = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
os.environ["NO_KEY"] = "none"

import verifiers as vf  # noqa: E402
from datasets import Dataset  # noqa: E402
from verifiers.types import ClientConfig  # noqa: E402

from shop import PRODUCTS, SYSTEM, cpu, queries, rss_mb  # noqa: E402


async def find_product(q: str, page: int = 1) -> str:
    """Search products.

    Args:
        q: words
        page: page
    """
    return PRODUCTS


async def view_product_information(product_ids: str) -> str:
    """View products.

    Args:
        product_ids: ids
    """
    return PRODUCTS


async def recommend_product(product_ids: str) -> str:
    """Recommend products.

    Args:
        product_ids: ids
    """
    return "recommended"


async def terminate(status: str = "") -> str:
    """End.

    Args:
        status: status
    """
    return "done"


def solved(completion, answer, **kwargs) -> float:
    return float(answer in str(completion))


rows = Dataset.from_list([{"question": q, "answer": "700"} for q in queries(problems, count)])
env = vf.ToolEnv(
    eval_dataset=rows, system_prompt=SYSTEM, tools=[find_product, view_product_information, recommend_product, terminate],
    max_turns=5, rubric=vf.Rubric(funcs=[solved]),
)
client = ClientConfig(api_key_var="NO_KEY", api_base_url=url)
began, before = time.time(), cpu()
with tempfile.TemporaryDirectory() as folder:
    out = asyncio.run(env.evaluate(client, "scripted", max_concurrent=at_once, save_results=True, results_path=Path(folder) / "results"))
assert len(out["outputs"]) == count and all(sum(m["role"] == "assistant" for m in o["completion"]) == 5 for o in out["outputs"])
print(json.dumps({"seconds": time.time() - began, "cpu": cpu() - before, "rss_mb": rss_mb()}))
