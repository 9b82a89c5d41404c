"""Writes the results of two small evaluations by another harness's own code, with the figures that the
harness itself states of them.

    write_results.py inspect|verifiers|verifiers-traces|tau2 FOLDER [PROBLEMS]

Twelve problems, two samples each, by a weak and a strong model; one sample fails by an error.
FOLDER/figures.json has for each file the mean reward, the scored and the failed samples.
"""

import asyncio
import json
import random
import sys
from pathlib import Path

harness, folder = sys.argv[1], Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
PROBLEMS, SAMPLES = int((sys.argv[3:] or [12])[0]), 2


def outcomes(name):
    chance = random.Random(name)
    return {(p, s): chance.random() < {"weak": 0.3, "strong": 0.8}[name] for p in range(PROBLEMS) for s in range(SAMPLES)}


BROKEN = (1, 1)  # the sample that ends with an error


def inspect(name, solved):
    import os

    os.environ["INSPECT_DISPLAY"] = "none"
    from inspect_ai import Task, eval as play
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageAssistant
    from inspect_ai.scorer import Score, accuracy, includes, mean, scorer, stderr
    from inspect_ai.solver import solver

    @solver
    def answer():
        async def solve(state, generate):
            at = (int(state.sample_id), state.epoch - 1)
            if at == BROKEN:
                raise ConnectionError("the server is away")
            state.messages.append(ChatMessageAssistant(content="blue" if solved[at] else "red"))
            state.output.completion = "blue" if solved[at] else "red"
            return state

        return solve

    @scorer(metrics=[mean()])
    def half():
        async def score(state, target):
            return Score(value=0.5)

        return score

    task = Task(dataset=[Sample(id=p, input=f"Which colour has thing {p}?", target="blue") for p in range(PROBLEMS)], solver=answer(), scorer=[includes(), half()], epochs=SAMPLES, name="colours")
    kinds = {}
    for kind in ("eval", "json"):
        at = folder / f"{name}-{kind}"
        (log,) = play(task, model="mockllm/" + name, log_dir=str(at), log_format=kind, fail_on_error=False, display="none")
        values = [s.scores["includes"].value == "C" for s in log.samples if not s.error]
        failed = sum(bool(s.error) for s in log.samples)
        path = next(at.iterdir()).rename(folder / f"{name}.{kind}")
        at.rmdir()
        kinds[path.name] = {"mean": sum(values) / len(values), "scored": len(values), "failed": failed}
    return kinds


def verifiers(name, solved):
    import verifiers as vf
    from datasets import Dataset
    from verifiers.types import Response, ResponseMessage
    from verifiers.utils.save_utils import GenerateOutputsBuilder

    served = {}

    class Served(vf.Client):
        def __init__(self):
            super().__init__(object())

        def setup_client(self, config):
            return object()

        async def to_native_tool(self, tool):
            return tool

        async def to_native_prompt(self, messages):
            return messages, {}

        async def get_native_response(self, prompt, model, sampling_args, tools=None, **kwargs):
            p = int(prompt[-1].content.split()[-1].rstrip("?"))
            s = served[p] = served.get(p, -1) + 1
            if (p, s) == BROKEN:
                raise vf.ModelError("the server is away")
            return "blue" if solved[p, s] else "red"

        async def raise_from_native_response(self, response):
            pass

        async def from_native_response(self, response):
            return Response(id="x", created=1, model=name, usage=None, message=ResponseMessage(content=response, finish_reason="stop", is_truncated=False))

        async def close(self):
            pass

    def right(completion, answer, **kwargs):
        return float(completion[-1].content == answer)

    rows = Dataset.from_list([{"question": f"Which colour has thing {p}?", "answer": "blue"} for p in range(PROBLEMS)])
    env = vf.SingleTurnEnv(dataset=rows, rubric=vf.Rubric(funcs=[right]), env_id="colours")
    at = folder / name
    out = env.evaluate_sync(client=Served(), model=name, sampling_args={"temperature": 0.5}, num_examples=PROBLEMS, rollouts_per_example=SAMPLES, max_concurrent=1, results_path=at, save_results=True)
    values = [o["reward"] for o in out["outputs"] if not o.get("error")]
    assert GenerateOutputsBuilder and (at / "metadata.json").exists()
    return {name: {"mean": sum(values) / len(values), "scored": len(values), "failed": len(out["outputs"]) - len(values)}}


def verifiers_traces(name, solved):
    from verifiers.v1.configs.agent import WireAgentConfig
    from verifiers.v1.graph import MessageNode
    from verifiers.v1.task import WireTaskData
    from verifiers.v1.trace import AgentInfo, Error, Reward, Trace, TraceTask
    from verifiers.v1.utils.trace_store import append_trace

    at = folder / name
    at.mkdir(exist_ok=True)
    (at / "traces.jsonl").unlink(missing_ok=True)
    values = []
    for p, s in solved:
        asked = f"Which colour has thing {p}?"
        said = [{"role": "user", "content": asked}, {"role": "assistant", "content": "blue" if solved[p, s] else "red"}]
        nodes = [MessageNode.model_validate({"parent": i - 1 if i else None, "message": m}) for i, m in enumerate(said)]
        trace = Trace(task=TraceTask(type="T", data=WireTaskData.model_construct(idx=p, name=f"thing-{p}", prompt=asked)), agent=AgentInfo.model_construct(config=WireAgentConfig.model_construct(model=name)), nodes=nodes, ok=True)
        if (p, s) == BROKEN:
            trace.ok = False
            trace.errors = [Error(type="ModelError", message="the server is away", traceback="")]
        else:
            trace.rewards = {"right": Reward(score=float(solved[p, s]), weight=1.0)}
            values.append(trace.reward)
        asyncio.run(append_trace(at, trace, asyncio.Lock(), env="colours"))
    return {name: {"mean": sum(values) / len(values), "scored": len(values), "failed": 1}}


def tau2(name, solved):
    from tau2.data_model.message import AssistantMessage, UserMessage
    from tau2.data_model.simulation import AgentInfo, Info, Results, RewardInfo, SimulationRun, TerminationReason, UserInfo
    from tau2.data_model.tasks import EvaluationCriteria, StructuredUserInstructions, Task, UserScenario
    from tau2.environment.environment import EnvironmentInfo
    from tau2.metrics.agent_metrics import compute_metrics

    tasks = [Task(id=str(p), evaluation_criteria=EvaluationCriteria(actions=[]), user_scenario=UserScenario(instructions=StructuredUserInstructions(domain="mock", reason_for_call=f"You ask which colour thing {p} has.", task_instructions="Be short."))) for p in range(PROBLEMS)]
    runs = []
    for p, s in solved:
        broken = (p, s) == BROKEN
        said = [UserMessage(role="user", content=f"Which colour has thing {p}?"), AssistantMessage(role="assistant", content="blue" if solved[p, s] else "red")]
        runs.append(SimulationRun(id=f"{p}-{s}", task_id=str(p), trial=s, start_time="2026-01-01T00:00:00", end_time="2026-01-01T00:00:01", duration=1.0, messages=said,
                                  termination_reason=TerminationReason.USER_ERROR if broken else TerminationReason.USER_STOP, reward_info=RewardInfo(reward=0.0 if broken else float(solved[p, s]))))
    info = Info(git_commit="0", num_trials=SAMPLES, max_steps=30, max_errors=10, user_info=UserInfo(implementation="user_simulator", llm="u"), agent_info=AgentInfo(implementation="llm_agent", llm=name), environment_info=EnvironmentInfo(domain_name="mock", policy="Be short."))
    results = Results(info=info, tasks=tasks, simulations=runs)
    results.save(folder / f"{name}.json")
    values = [r.reward_info.reward for r in runs if r.termination_reason == TerminationReason.USER_STOP]
    # tau2-bench counts the failed sample as a reward of 0.
    assert abs(compute_metrics(results).avg_reward - sum(values) / len(runs)) < 1e-12
    return {f"{name}.json": {"mean": sum(values) / len(values), "scored": len(values), "failed": 1}}


write = {"inspect": inspect, "verifiers": verifiers, "verifiers-traces": verifiers_traces, "tau2": tau2}[harness]
figures = {file: row for name in ("weak", "strong") for file, row in write(name, outcomes(name)).items()}
(folder / "figures.json").write_text(json.dumps(figures, indent=1))
