"""Has other tools write traces by their own code, reads them with `arena convert`,
and holds turns, calls, answers and reasoning against what the tools were given.

    check_formats.py ARENA FOLDER

What is made here is made by the tools' own classes and exporters; a model stands in
as a server on loopback. Formats whose tools cannot be had are told as such.
"""

import json
import os
import shutil
import subprocess
import sys

from conversation import ANSWERS, CALLS, SYSTEM, TEXTS, THOUGHTS, TOOL, USER, WANT, arena, convert, end, folder, genai, hold, openai_messages, play

os.environ.update(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="SPAN_ONLY", OTEL_SEMCONV_STABILITY_OPT_IN="gen_ai_latest_experimental", OPENAI_API_KEY="none")


def columns():
    import datasets

    datasets.disable_progress_bars()
    plain = openai_messages()
    table = datasets.Dataset.from_list([{"instance_id": "a", "messages": plain, "reward": 0.5}])
    table.to_parquet(folder / "structs.parquet")
    hold("openai", "datasets, Parquet of structures", folder / "structs.parquet", reward=0.5)
    table.save_to_disk(folder / "saved")
    hold("openai", "datasets, Arrow as saved to disk", next((folder / "saved").glob("*.arrow")), reward=0.5)
    datasets.Dataset.from_list([{"instance_id": "a", "messages": json.dumps(plain), "resolved": True}]).to_parquet(folder / "strings.parquet")
    hold("openai", "datasets, Parquet of JSON in a string (SWE-smith)", folder / "strings.parquet", reward=1)
    datasets.Dataset.from_list([{"trajectory": plain, "exit_status": "submitted", "resolved": 0}]).to_parquet(folder / "trajectory.parquet")
    hold("openai", "datasets, Parquet of a trajectory (SWE-rebench)", folder / "trajectory.parquet", reward=0)


def inspect():
    import tiktoken

    class Words:  # its vocabularies lie on a host that is not asked
        def encode(self, text, **_):
            return text.split()

    tiktoken.get_encoding = tiktoken.encoding_for_model = lambda *_: Words()
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.log import read_eval_log, write_eval_log
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ContentReasoning, ContentText, ModelOutput, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate, system_message, use_tools
    from inspect_ai.tool import ToolCall, tool

    answers = {a["city"]: ANSWERS[i] for turn in CALLS for i, _, a in turn}

    @tool
    def weather():
        async def execute(city: str):
            """Tells the weather.

            Args:
                city: where
            """
            return answers[city]

        return execute

    outputs = []
    for text, thought, calls in zip(TEXTS, THOUGHTS, CALLS):
        m = ChatMessageAssistant(content=[ContentReasoning(reasoning=thought), ContentText(text=text)], tool_calls=[ToolCall(id=i, function=n, arguments=a) for i, n, a in calls] or None)
        outputs.append(ModelOutput(model="mockllm/model", choices=[ChatCompletionChoice(message=m)]))
    task = Task(dataset=[Sample(id="a", input=USER, target="odd")], solver=[system_message(SYSTEM), use_tools(weather()), generate()], scorer=includes())
    log = eval(task, model=get_model("mockllm/model", custom_outputs=outputs), log_dir=str(folder / "logs"), display="none")[0]
    assert log.status == "success", log.error
    write_eval_log(log, str(folder / "inspect.eval"))
    hold("inspect", "inspect_ai, .eval of a run", folder / "inspect.eval", reward=1)
    write_eval_log(read_eval_log(str(folder / "inspect.eval")), str(folder / "inspect.json"))
    hold("inspect", "inspect_ai, .json of a run", folder / "inspect.json", reward=1)
    rows, _, _ = convert(folder / "inspect.eval")
    (folder / "again").mkdir(exist_ok=True)
    subprocess.run([arena, "convert", str(folder / "inspect.eval"), "--to", "inspect", "-o", str(folder / "again" / "back.json"), "-q"], check=True)
    back = read_eval_log(str(folder / "again" / "back.json"))
    assert len(back.samples) == 1 and len(back.samples[0].messages) == len(rows[0]["messages"])
    hold("inspect", "inspect_ai, what arena writes, opened by it", folder / "again" / "back.json", reward=1)


def responses():
    from openai.types.responses import Response

    output = []
    for text, thought, calls in zip(TEXTS, THOUGHTS, CALLS):
        output.append({"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": thought}]})
        if text:
            output.append({"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]})
        output += [{"type": "function_call", "call_id": i, "name": n, "arguments": json.dumps(a)} for i, n, a in calls]
        output += [{"type": "function_call_output", "call_id": i, "output": ANSWERS[i], "id": "o", "status": "completed"} for i, _, _ in calls]
    made = Response.model_validate({"id": "r", "created_at": 1, "model": "m", "object": "response", "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []})
    row = {"responses_create_params": {"input": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER}], "tools": []}, "response": json.loads(made.model_dump_json()), "reward": 1.0}
    (folder / "nemo.jsonl").write_text(json.dumps(row) + "\n")
    hold("exchange", "openai types, Responses in a rollout of NeMo-Gym", folder / "nemo.jsonl", reward=1)
    subprocess.run([arena, "convert", str(folder / "nemo.jsonl"), "--to", "responses", "-o", str(folder / "own.jsonl"), "-q"], check=True)
    own = json.loads((folder / "own.jsonl").read_text())
    assert [o["type"] for o in own["response"]["output"]] == [o["type"] for o in row["response"]["output"]]
    hold("exchange", "what arena writes as responses", folder / "own.jsonl", reward=1)


def anthropic():
    from anthropic.types import Message

    messages = [{"role": "user", "content": USER}]
    for text, thought, calls in zip(TEXTS, THOUGHTS, CALLS):
        parts = [{"type": "thinking", "thinking": thought, "signature": "s"}] + ([{"type": "text", "text": text}] if text else [])
        parts += [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls]
        made = Message.model_validate({"id": "m", "type": "message", "role": "assistant", "model": "m", "content": parts, "usage": {"input_tokens": 1, "output_tokens": 1}})
        messages.append({"role": "assistant", "content": [json.loads(p.model_dump_json(exclude_none=True)) for p in made.content]})
        if calls:
            messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": i, "content": [{"type": "text", "text": ANSWERS[i]}]} for i, _, _ in calls]})
    (folder / "anthropic.jsonl").write_text(json.dumps({"model": "m", "system": SYSTEM, "messages": messages, "tools": [{"name": "weather", "input_schema": TOOL}]}) + "\n")
    hold("exchange", "anthropic types, Messages", folder / "anthropic.jsonl")
    session, parent = [], None
    for n, m in enumerate(messages):  # by Claude Code's published lines: a line for each part of a reply
        for part in m["content"] if m["role"] == "assistant" else [None]:
            own = m if part is None else {"id": f"msg_{n}", "type": "message", "role": "assistant", "model": "m", "content": [part]}
            session.append({"type": m["role"], "uuid": f"{len(session)}", "parentUuid": parent, "sessionId": "s", "isSidechain": False, "message": own})
            parent = session[-1]["uuid"]
    (folder / "claude_code.jsonl").write_text("".join(json.dumps(line) + "\n" for line in session))
    hold("claude_code", "Claude Code session (by its published lines)", folder / "claude_code.jsonl", system="")


def verifiers():
    import asyncio

    from verifiers.v1.configs.agent import WireAgentConfig
    from verifiers.v1.graph import MessageNode
    from verifiers.v1.task import WireTaskData
    from verifiers.v1.trace import AgentInfo, Reward, Trace, TraceTask
    from verifiers.v1.utils.trace_store import append_trace

    nodes = []
    for m in openai_messages():
        for c in m.get("tool_calls", []):
            c.update(c.pop("function"))
        nodes.append(MessageNode.model_validate({"parent": len(nodes) - 1 if nodes else None, "message": m}))
    trace = Trace(task=TraceTask(type="T", data=WireTaskData.model_construct(idx=1, name="a", prompt=USER)), agent=AgentInfo.model_construct(config=WireAgentConfig.model_construct(model="m")), nodes=nodes, rewards={"a": Reward(score=1.0, weight=0.5)}, ok=True)
    at = folder / "verifiers"
    at.mkdir(exist_ok=True)
    (at / "traces.jsonl").unlink(missing_ok=True)
    asyncio.run(append_trace(at, trace, asyncio.Lock()))
    hold("verifiers_episode", "verifiers 0.4, traces.jsonl", at / "traces.jsonl", reward=0.5)
    row = {"example_id": 0, "prompt": openai_messages()[:2], "completion": openai_messages()[2:], "reward": 0.5, "task": "a"}
    (folder / "results.jsonl").write_text(json.dumps(row) + "\n")
    hold("verifiers", "verifiers before 0.4, results.jsonl (by its published keys)", folder / "results.jsonl", reward=0.5)


def openinference(provider):
    from openinference.instrumentation.openai import OpenAIInstrumentor

    own = OpenAIInstrumentor()
    own.instrument(tracer_provider=provider)
    play(provider.get_tracer("check"))
    own.uninstrument()


def spans():
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    # OpenInference records no reasoning.
    for instrument, want in ((openinference, WANT | {"reasoning": 0}), (genai, WANT)):
        memory, provider = InMemorySpanExporter(), TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(memory))
        instrument(provider)
        name, finished = instrument.__name__, memory.get_finished_spans()
        (folder / f"{name}.otlp.jsonl").write_text("".join(json.dumps(MessageToDict(encode_spans([s]))) + "\n" for s in finished))
        hold("spans", f"{name}, OTLP/JSON by OpenTelemetry's encoder", folder / f"{name}.otlp.jsonl", want)
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(json.loads(s.to_json())) + "\n" for s in finished))
        hold("spans", f"{name}, spans as the SDK's JSON", folder / f"{name}.jsonl", want)


def langfuse():
    import datetime

    from langfuse import Langfuse
    from langfuse.api import ObservationsV2Meta, ObservationsV2Response, ObservationV2
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    memory, told, seen = InMemorySpanExporter(), [], openai_messages()[:2]
    client = Langfuse(public_key="pk-lf-none", secret_key="sk-lf-none", base_url="http://127.0.0.1:9", tracer_provider=TracerProvider(), span_exporter=memory)
    with client.start_as_current_observation(name="agent") as agent:
        for m in openai_messages()[2:]:
            if m["role"] == "assistant":
                with client.start_as_current_observation(name="chat", as_type="generation", model="m", input=list(seen)) as one:
                    one.update(output=m)
                now = datetime.datetime.now(datetime.timezone.utc)
                told.append(ObservationV2(id=one.id, trace_id=one.trace_id, parent_observation_id=agent.id, project_id="p", type="GENERATION", name="chat", model="m", start_time=now, end_time=now, input=json.dumps(seen), output=json.dumps(m)))
            seen.append(m)
    client.flush()
    (folder / "langfuse.jsonl").write_text("".join(json.dumps(json.loads(s.to_json())) + "\n" for s in memory.get_finished_spans()))
    hold("spans", "langfuse, spans of its SDK", folder / "langfuse.jsonl")
    (folder / "langfuse.json").write_text(ObservationsV2Response(data=told, meta=ObservationsV2Meta()).json())
    hold("spans", "langfuse, a page of observations by its API's models", folder / "langfuse.json")


def hermes():
    from agent.agent_runtime_helpers import convert_to_trajectory_format
    from agent.trajectory import save_trajectory

    class Agent:
        def _format_tools_for_system_message(self):
            return json.dumps([{"name": "weather", "description": "", "parameters": TOOL, "required": None}])

    messages = openai_messages()[1:]
    for m in messages:
        m["reasoning"] = m.pop("reasoning_content", None)
    path, imported, exported = folder / "hermes.jsonl", folder / "hermes", folder / "hermes-lines"
    for old in (imported, exported):
        shutil.rmtree(old, ignore_errors=True)
    path.unlink(missing_ok=True)
    save_trajectory(convert_to_trajectory_format(Agent(), messages, USER, True), "m", True, str(path))
    # Its calls are text, which import reads.
    subprocess.run([arena, "import", str(path), "--unguarded", "-o", str(imported), "-q"], check=True)
    subprocess.run([arena, "export", str(imported), "--profile", "openai-jsonl", "-o", str(exported), "-q"], check=True)
    hold("openai", "hermes-agent, its trajectories, imported", next(exported.glob("jsonl/*/*.jsonl")), system=None)


def mini():
    """Has mini-swe-agent's own agent play the conversation and save its trajectory, in both forms of its models."""
    os.environ["MSWEA_SILENT_STARTUP"] = "1"
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.models.test_models import DeterministicResponseAPIToolcallModel, DeterministicToolcallModel

    class Weather:
        def execute(self, action):
            return {"output": ANSWERS[action["tool_call_id"]], "returncode": 0}

        def get_template_vars(self):
            return {}

        def serialize(self):
            return {}

    chat, items = [m for m in openai_messages() if m["role"] == "assistant"], []
    for m, calls, thought in zip(chat, CALLS, THOUGHTS):
        m["extra"] = {"actions": [{"tool_call_id": i, "command": n} for i, n, _ in calls]}
        output = [{"type": "reasoning", "summary": [{"type": "summary_text", "text": thought}]}]
        output += [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": m["content"]}]}] if m["content"] else []
        output += [{"type": "function_call", "call_id": i, "name": n, "arguments": json.dumps(a)} for i, n, a in calls]
        items.append({"object": "response", "output": output, "extra": m["extra"]})
    for model, outputs in ((DeterministicToolcallModel, chat), (DeterministicResponseAPIToolcallModel, items)):
        path = folder / f"mini-{model.__name__}.traj.json"
        DefaultAgent(model(outputs=outputs, observation_template="{{output.output}}"), Weather(), system_template=SYSTEM, instance_template="{{task}}", step_limit=3, output_path=path).run(USER)
        hold("swe_agent", f"mini-swe-agent, {model.__name__}", path)


for check in (columns, inspect, responses, anthropic, verifiers, spans, langfuse, hermes, mini):
    check()
end()
