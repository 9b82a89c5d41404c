"""Tools and agent loop for verl 0.9.1. PYTHONPATH holds this folder; then

    python -m verl.trainer.main_ppo data.train_files=[SHARDS of profile verl-rl] \\
        actor_rollout_ref.rollout.multi_turn.tool_config_path=env/verl_tools.yaml \\
        actor_rollout_ref.rollout.agent.agent_loop_config_path=env/verl_agent.yaml \\
        actor_rollout_ref.rollout.agent.default_agent_loop=arena \\
        actor_rollout_ref.rollout.multi_turn.max_tool_response_length=1000000 \\
        actor_rollout_ref.rollout.multi_turn.max_parallel_calls=100 …

By default verl cuts each tool result to 256 characters and makes only the first call of a turn. `arena list profiles
verl-rl` prints the full command. The loop pays, so no reward function is needed.

verl has no mask for a sample whose environment failed: the loop here sets its response mask to zeros, so it has no
share in the loss, and counts it as arena_masked. Its reward of 0 stays in the group's baseline; drop groups by
arena_masked where that matters.
"""
import asyncio
import copy

from arena_env import Episode, Masked, arguments, tools, type_name

try:
    from verl.experimental.agent_loop.tool_agent_loop import ToolAgentLoop, register
    from verl.tools.base_tool import BaseTool
    from verl.tools.schemas import OpenAIFunctionToolSchema, ToolResponse
except ImportError:  # without verl the module still loads, so that it can be tested
    BaseTool, ToolAgentLoop, OpenAIFunctionToolSchema, ToolResponse = object, object, object, None

    def register(name):
        return lambda loop: loop


TOOLS = {tool["function"]["name"]: tool for tool in tools()}


class Definition(OpenAIFunctionToolSchema):
    """A definition of tools.json, shown as it stands.

    By itself verl shows of an argument its type, description and choices alone, without limits and defaults, and refuses
    an argument without a type. verl's own fields are still there, for its parsers of calls.
    """

    def model_dump(self, **kwargs):
        return copy.deepcopy(TOOLS[self.function.name])


class ShopTool(BaseTool):
    """One tool. verl creates and releases it around every call, so the episode is on agent_data."""

    def get_openai_tool_schema(self):
        function = TOOLS[self.config["name"]]["function"]
        schemas, required = arguments(function)
        types = {name: {"type": type_name(schema)} for name, schema in schemas.items()}
        parameters = {"type": "object", "properties": types, "required": required}
        return Definition(type="function", function={"name": function["name"], "description": "", "parameters": parameters})

    async def execute(self, instance_id, parameters, agent_data=None, **kwargs):
        state = agent_data.extra_fields
        try:
            text = await asyncio.to_thread(episode(agent_data).call, self.name, parameters)
        except Masked as failure:
            state["arena_failure"] = str(failure)
            text = "Error: the environment failed."
        return ToolResponse(text=text), 0.0, {}


def episode(agent_data):
    """The episode of a rollout, begun at its first call."""
    if not hasattr(agent_data, "arena_episode"):
        agent_data.arena_episode = None
        agent_data.arena_episode = Episode(agent_data.tools_kwargs.get("problem_id"))
    if agent_data.arena_episode is None:
        raise Masked("the episode could not be begun")
    return agent_data.arena_episode


@register("arena")
class ArenaLoop(ToolAgentLoop):
    """verl's own loop, with the verdict as its reward."""

    async def run(self, sampling_params, **kwargs):
        kwargs["tools_kwargs"] = {**(kwargs.get("tools_kwargs") or {}), "problem_id": kwargs.get("problem_id")}
        output = await super().run(sampling_params, **kwargs)
        failure = output.extra_fields.pop("arena_failure", None)
        if failure is None:
            try:
                verdict = await asyncio.to_thread(lambda: episode(self._running).pay())
                output.reward_score = float(verdict["reward"])
            except Masked as lost:
                failure = str(lost)
        if failure is not None:
            output.response_mask, output.reward_score = [0] * len(output.response_mask), 0.0
        output.extra_fields["reward_extra_info"] = {"arena_masked": float(failure is not None)}
        return output

    async def _handle_pending_state(self, agent_data, sampling_params):
        self._running = agent_data
        return await super()._handle_pending_state(agent_data, sampling_params)
