"""inspect_ai on the task: inspect_peer.py URL PROBLEMS ROLLOUTS AT_ONCE [quiet]; quiet
keeps no log while it runs."""

import json
import os
import sys
import tempfile
import time

url, problems, count, at_once = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
realtime = "quiet" not in sys.argv[5:]
os.environ.update(OPENAI_BASE_URL=url, OPENAI_API_KEY="none", INSPECT_DISPLAY="none")

from inspect_ai import Task, eval as play  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.scorer import includes  # noqa: E402
from inspect_ai.solver import solver, system_message, use_tools  # noqa: E402
from inspect_ai.tool import tool  # noqa: E402

from shop import PRODUCTS, SYSTEM, cpu, queries, rss_mb  # noqa: E402


@tool
def find_product():
    async def execute(q: str, page: int = 1):
        """Search products.

        Args:
            q: words
            page: page
        """
        return PRODUCTS

    return execute


@tool
def view_product_information():
    async def execute(product_ids: str):
        """View products.

        Args:
            product_ids: ids
        """
        return PRODUCTS

    return execute


@tool
def recommend_product():
    async def execute(product_ids: str):
        """Recommend products.

        Args:
            product_ids: ids
        """
        return "recommended"

    return execute


@tool
def terminate():
    async def execute(status: str = ""):
        """End.

        Args:
            status: status
        """
        return "done"

    return execute


@solver
def rollout():
    async def solve(state, generate):
        for _ in range(5):
            state = await generate(state, tool_calls="single")
        return state

    return solve


task = Task(
    dataset=[Sample(id=i, input=q, target="700") for i, q in enumerate(queries(problems, count))],
    solver=[system_message(SYSTEM), use_tools(find_product(), view_product_information(), recommend_product(), terminate()), rollout()],
    scorer=includes(),
)
began, before = time.time(), cpu()
with tempfile.TemporaryDirectory() as logs:
    (log,) = play(
        task, model="openai/scripted", model_args={"responses_api": False}, max_connections=at_once, max_samples=at_once, log_dir=logs, display="none",
        log_realtime=realtime,
    )
    spent = {"seconds": time.time() - began, "cpu": cpu() - before, "rss_mb": rss_mb()}
    assert log.status == "success" and all(sum(m.role == "assistant" for m in s.messages) == 5 for s in log.samples), log.status
print(json.dumps(spent))
