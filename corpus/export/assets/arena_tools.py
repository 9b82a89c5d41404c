"""Tools for verl's tool loop: each call runs `arena shop call` against `arena shop serve`, so that the results are
those of the corpus and of `arena eval`, tool by tool.

    arena shop serve --catalog CATALOG --listen 127.0.0.1:5632 &
    SHOP_URL=http://127.0.0.1:5632 PYTHONPATH=verl python -m verl.trainer.main_ppo \\
        actor_rollout_ref.rollout.multi_turn.tool_config_path=verl/tools.yaml …

ARENA names the program where it is not on the PATH.
"""
import asyncio
import json
import os
import subprocess

try:
    from verl.tools.base_tool import BaseTool
    from verl.tools.schemas import ToolResponse
except ImportError:  # without verl the module still loads, so that it can be tested
    BaseTool, ToolResponse = object, None


def ask(name, arguments, timeout=60):
    """The result of one call as text; what goes wrong is the tool's answer, and the rollout goes on."""
    command = [os.environ.get("ARENA", "arena"), "shop", "call", "-", "--remote", os.environ.get("SHOP_URL", "http://127.0.0.1:5632"), "-o", "-"]
    line = json.dumps({"id": "1", "tool": name, "arguments": arguments})
    try:
        done = subprocess.run(command, input=line + "\n", capture_output=True, text=True, timeout=timeout, check=True)
        result = json.loads(done.stdout)["result"]
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return json.dumps({"error": f"{type(error).__name__}: the shop did not answer"})
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


class ShopTool(BaseTool):
    async def execute(self, instance_id, parameters, **kwargs):
        return ToolResponse(text=await asyncio.to_thread(ask, self.name, parameters)), 0.0, {}
