"""Tools for verl's tool loop: every call goes to `arena shop serve`, whose address is SHOP_URL.

    SHOP_URL=http://127.0.0.1:5632 PYTHONPATH=verl python -m verl.trainer.main_ppo \\
        actor_rollout_ref.rollout.multi_turn.tool_config_path=verl/tools.yaml …
"""
import json
import os
import urllib.error
import urllib.parse
import urllib.request

try:
    from verl.tools.base_tool import BaseTool
    from verl.tools.schemas import ToolResponse
except ImportError:  # without verl the module still loads, so that it can be tested
    BaseTool, ToolResponse = object, None

LOCAL = ("recommend_product", "terminate")  # these never reach a server


def ask(name, arguments, timeout=30):
    """One GET request; an error of the server is the tool's answer, not ours."""
    query = urllib.parse.urlencode({k: v for k, v in arguments.items() if v is not None})
    url = f"{os.environ.get('SHOP_URL', 'http://127.0.0.1:5632')}/{name}?{query}"
    try:
        with urllib.request.urlopen(url, timeout=timeout) as reply:
            return reply.read().decode("utf-8", "replace")
    except urllib.error.URLError as error:
        return json.dumps({"error": str(error)})


class ShopTool(BaseTool):
    async def execute(self, instance_id, parameters, **kwargs):
        text = "done" if self.name in LOCAL else ask(self.name, parameters)
        return ToolResponse(text=text), 0.0, {}
