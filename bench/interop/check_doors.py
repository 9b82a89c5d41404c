"""Plays scripted episodes by a trainer's own client, for check_env.py to compare.

    check_doors.py trl|verl|verifiers|nemo EXPORT EPISODES.json RESULTS.json

ARENA_ENV is the server's address. EPISODES is a list of {problem_id, row, moves}, RESULTS the list of {heard, reward}:
what the tools told the student, and what it was paid. A reward of null is a masked sample.

    trl        trl_env.ShopEnv, and the definitions that transformers shows of its methods   TRL 1.16.0
    verl       verl_env.ArenaLoop in verl's ToolAgentLoop, tool registry and defaults      verl 0.9.1
    verifiers  the NeMo-Gym taskset: seed, MCP tools, trace, verify                        verifiers 0.4.0
    nemo       simple_agent, its server client and HTTP                                    nemo-gym 0.4.0
"""
import asyncio
import json
import os
import shutil
import socket
import sys
import tempfile
import types

HERE = os.path.dirname(os.path.abspath(__file__))


def shown(folder, show):
    """Holds what a trainer shows of the tools against tools.json, first with definitions that trainers refuse or cut."""
    with tempfile.TemporaryDirectory() as strange:
        shutil.copytree(folder, strange, dirs_exist_ok=True)
        shutil.copy(os.path.join(HERE, "../../corpus/export/testdata/strange_tools.json"), strange + "/tools.json")
        for at in (strange, folder):
            with open(os.path.join(at, "tools.json"), encoding="utf-8") as file:
                tools = json.load(file)
            entries = [{"class_name": "verl_env.ShopTool", "config": {"type": "native", "name": t["function"]["name"]}} for t in tools]
            if at == strange:
                with open(strange + "/verl_tools.yaml", "w", encoding="utf-8") as file:
                    json.dump({"tools": entries}, file)
            for name in ("arena_env", "trl_env", "verl_env"):
                sys.modules.pop(name, None)
            sys.path.insert(0, at)
            got = show(at, tools)
            sys.path.remove(at)
            assert json.dumps(got) == json.dumps(tools), (got, tools)
            print(len(tools), "tools are shown as the rows have them")


def trl(folder, episodes):
    def show(at, tools):
        from trl_env import ShopEnv

        from transformers.utils import get_json_schema
        return [get_json_schema(getattr(ShopEnv(), t["function"]["name"])) for t in tools]

    shown(folder, show)
    from trl_env import ShopEnv

    shop = ShopEnv()
    for e in episodes:
        shop.reset(problem_id=e["problem_id"])
        heard = [getattr(shop, tool)(**arguments) for tool, arguments in e["moves"]]
        yield {"heard": heard, "reward": shop.get_reward()}


def verl(folder, episodes):
    return asyncio.run(verl_all(folder, episodes))


async def verl_all(folder, episodes):
    import logging

    import hydra
    import tinymodel
    import verl
    from omegaconf import OmegaConf
    from tensordict import TensorDict
    from verl import DataProto
    from verl.experimental.agent_loop.agent_loop import AgentLoopWorker, DictConfigWrap, ToolListWrap
    from verl.tools.tool_registry import initialize_tools_from_config
    from verl.trainer.ppo.reward import extract_reward
    from verl.utils.dataset.rl_dataset import RLHFDataset
    from verl.workers.rollout.replica import TokenOutput

    logging.disable(logging.WARNING)  # that it knows no such model
    tokenizer = tinymodel.tokenizer()
    rollout = OmegaConf.load(os.path.join(os.path.dirname(verl.__file__), "trainer/config/rollout/rollout.yaml"))
    rollout.prompt_length, rollout.response_length = 1 << 16, 1 << 20
    rollout.multi_turn.max_tool_response_length = 1 << 20  # 256 by default: what a tool says would be cut
    config = OmegaConf.create({"actor_rollout_ref": {"rollout": rollout}, "data": {}})

    def show(at, tools):
        loaded = initialize_tools_from_config(os.path.join(at, "verl_tools.yaml"))
        return [t.tool_schema.model_dump(exclude_unset=True, exclude_none=True) for t in loaded]

    shown(folder, show)
    tools = initialize_tools_from_config(os.path.join(folder, "verl_tools.yaml"))
    loops = OmegaConf.load(os.path.join(folder, "verl_agent.yaml"))

    class Scripted:
        """What verl asks for the next tokens."""

        def __init__(self, moves):
            self.replies = [
                f"<think>\nI look on.\n</think>\n<tool_call>\n{json.dumps({'name': tool, 'arguments': arguments})}\n</tool_call><|im_end|>"
                for tool, arguments in moves
            ] + ["Done.<|im_end|>"]

        async def generate(self, **kwargs):
            return TokenOutput(token_ids=tokenizer.encode(self.replies.pop(0), add_special_tokens=False))

    results = []
    for e in episodes:
        loop = hydra.utils.instantiate(
            config=loops[0], trainer_config=DictConfigWrap(config), server_manager=Scripted(e["moves"]), tokenizer=tokenizer, processor=None,
            dataset_cls=RLHFDataset, data_config=DictConfigWrap(config.data), tools=ToolListWrap(tools))
        running = {}
        pending = loop._handle_pending_state
        loop._handle_pending_state = lambda data, sampling: running.update(data=data) or pending(data, sampling)
        output = await loop.run({}, raw_prompt=e["row"]["responses_create_params"]["input"], problem_id=e["problem_id"])
        heard = [m["content"] for m in running["data"].messages if m["role"] == "tool"]
        masked = output.extra_fields["reward_extra_info"]["arena_masked"]
        assert (masked == 1) == (sum(output.response_mask) == 0), output
        # verl's worker asks its reward loop, of which there is none here, only for what has no reward; its trainer
        # then reads the reward from the last token.
        await AgentLoopWorker._compute_score(types.SimpleNamespace(reward_loop_worker_handles=[None]), [output], {})
        batch = DataProto(TensorDict({"rm_scores": output.as_dict()["rm_scores"][None]}, batch_size=1))
        assert abs(float(extract_reward(batch)[0].sum()) - output.reward_score) < 1e-6, output.reward_score  # verl keeps 32 bits
        results.append({"heard": heard, "reward": None if masked else output.reward_score})
    return results


def verifiers(folder, episodes):
    return asyncio.run(verifiers_all(episodes))


async def verifiers_all(episodes):
    from verifiers.v1.graph import MessageNode
    from verifiers.v1.mcp.server import _call_state
    from verifiers.v1.tasksets.nemo_gym import NeMoGymConfig, NeMoGymTaskset
    from verifiers.v1.tasksets.nemo_gym.toolset import NeMoGymState
    from verifiers.v1.trace import Trace
    from verifiers.v1.types import AssistantMessage, ToolCall, ToolMessage

    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False) as file:
        for e in episodes:
            print(json.dumps(e["row"]), file=file)
    task = {"resources_url": os.environ["ARENA_ENV"], "headers": {"X-Arena-Failures": "status"}}
    taskset = NeMoGymTaskset(NeMoGymConfig(dataset=file.name, task=task))
    results = []
    for e, task in zip(episodes, taskset.load(), strict=True):
        trace = Trace.model_construct(id="t", nodes=[], calls=[], state=NeMoGymState(), info={}, metrics={}, rewards={})
        await task.setup(trace, None)
        toolset = taskset.toolsets(taskset.config)[0]
        token = _call_state.set(trace.state)
        tools = await toolset.list_tools()
        assert {t.name for t in tools} == {t["name"] for t in e["row"]["responses_create_params"]["tools"]}, tools
        heard = []
        for i, (tool, arguments) in enumerate(e["moves"]):
            answer = await toolset.call_tool(tool, arguments)
            heard.append(answer.content[0].text)
            call = ToolCall(id=f"c{i}", name=tool, arguments=json.dumps(arguments))
            said = AssistantMessage(content="", reasoning_content="I look on.", tool_calls=[call])
            for message, sampled in ((said, True), (ToolMessage(tool_call_id=call.id, content=heard[-1]), False)):
                trace.nodes.append(MessageNode(parent=len(trace.nodes) - 1 if trace.nodes else None, message=message, sampled=sampled))
        _call_state.reset(token)
        try:
            reward = await task.nemo_gym(trace)
        except Exception as failure:  # by which prime-rl leaves a sample out
            assert "503" in str(failure), failure
            reward = None
        results.append({"heard": heard, "reward": reward})
    os.remove(file.name)
    return results


def nemo(folder, episodes):
    return asyncio.run(nemo_all(episodes))


def port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


async def nemo_all(episodes):
    import uvicorn
    from fastapi import FastAPI, Request
    from nemo_gym import server_utils
    from nemo_gym.config_types import BaseServerConfig
    from omegaconf import OmegaConf
    from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig

    model = FastAPI()

    @model.post("/v1/responses")
    async def responses(request: Request):
        body = await request.json()
        moves = episodes[int(body["metadata"]["episode"])]["moves"]
        n = sum(item.get("type") == "function_call_output" for item in body["input"])
        output = [{"type": "reasoning", "id": f"r{n}", "summary": [{"type": "summary_text", "text": "I look on."}]}]
        if n < len(moves):
            output.append({"type": "function_call", "id": f"f{n}", "call_id": f"c{n}", "name": moves[n][0], "arguments": json.dumps(moves[n][1])})
        else:
            output.append({"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Done.", "annotations": []}]})
        return {"id": "r", "created_at": 0, "model": "scripted", "object": "response", "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}

    address = os.environ["ARENA_ENV"].removeprefix("http://").split(":")
    ports = {"agent": port(), "model": port(), "shop": int(address[1])}
    config = OmegaConf.create({name: {"kind": {"own": {"host": "127.0.0.1", "port": at}}} for name, at in ports.items()})
    agent = SimpleAgent(
        config=SimpleAgentConfig(
            name="agent", host="127.0.0.1", port=ports["agent"], entrypoint="app.py",
            resources_server={"type": "resources_servers", "name": "shop"}, model_server={"type": "responses_api_models", "name": "model"}),
        server_client=server_utils.ServerClient(head_server_config=BaseServerConfig(host="127.0.0.1", port=1), global_config_dict=config))
    client = server_utils.set_global_aiohttp_client(server_utils.GlobalAIOHTTPAsyncClientConfig())
    app = agent.setup_webserver()
    agent.setup_exception_middleware(app)
    servers = [uvicorn.Server(uvicorn.Config(a, host="127.0.0.1", port=ports[n], log_level="warning")) for a, n in ((app, "agent"), (model, "model"))]
    running = [asyncio.create_task(s.serve()) for s in servers]
    while not all(s.started for s in servers):
        await asyncio.sleep(0.05)
    results = []
    for i, e in enumerate(episodes):
        params = e["row"]["responses_create_params"] | {"metadata": {"episode": str(i)}}
        answer = await agent.server_client.post(server_name="agent", url_path="/run", json=e["row"] | {"responses_create_params": params})
        await server_utils.raise_for_status(answer)
        paid = await server_utils.get_response_json(answer)
        heard = [item["output"] for item in paid["response"]["output"] if item["type"] == "function_call_output"]
        results.append({"heard": heard, "reward": None if paid["mask_sample"] else paid["reward"]})
    for s in servers:
        s.should_exit = True
    await asyncio.gather(*running)
    await client.close()
    return results


if __name__ == "__main__":
    door, export, episodes, results = sys.argv[1:]
    sys.path[:0] = [os.path.join(export, "env"), os.path.dirname(HERE)]
    with open(episodes, encoding="utf-8") as file:
        played = list(globals()[door](os.path.join(export, "env"), json.load(file)))
    with open(results, "w", encoding="utf-8") as file:
        json.dump(played, file)
