"""Has other tools write traces by their own code, reads them with `arena convert`,
and holds turns, calls, answers and reasoning against what the tools were given.

    check_formats.py ARENA FOLDER

What is made here is made by the tools' own classes and exporters; a model stands in
as a server on loopback. Formats whose tools cannot be had are told as such.
"""

import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

arena, folder = sys.argv[1], Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
os.environ.update(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="SPAN_ONLY", OTEL_SEMCONV_STABILITY_OPT_IN="gen_ai_latest_experimental", OPENAI_API_KEY="none")

# The conversation that every tool is given: two calls in one turn, one in the next.
TOOL = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
CALLS = [[("c1", "weather", {"city": "Bern"}), ("c2", "weather", {"city": "Genève"})], [("c3", "weather", {"city": "Ulm"})], []]
ANSWERS = {"c1": "18C", "c2": "20C", "c3": "\"quoted\" \u2028 <&>"}
TEXTS = ["One moment.", "", "Ulm is odd."]
THOUGHTS = ["Ask for both.", "And Ulm.", "Done."]
SYSTEM, USER = "Be short.", "Weather in Bern, Genève and Ulm?"
WANT = {"turns": 3, "calls": 3, "results": 3, "reasoning": 3}


def openai_messages(reasoning=True):
    out = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": USER}]
    for text, thought, calls in zip(TEXTS, THOUGHTS, CALLS):
        m = {"role": "assistant", "content": text}
        if reasoning:
            m["reasoning_content"] = thought
        if calls:
            m["tool_calls"] = [{"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}} for i, n, a in calls]
        out.append(m)
        out += [{"role": "tool", "tool_call_id": i, "content": ANSWERS[i]} for i, _, _ in calls]
    return out


def convert(path):
    out = folder / (path.name + ".openai")
    done = subprocess.run([arena, "convert", str(path), "--to", "openai", "-o", str(out)], capture_output=True, text=True)
    rows = [json.loads(line) for line in out.read_text().split("\n") if line] if out.exists() else []
    lost = [line[6:].rsplit(" in ", 1)[0] for line in done.stderr.split("\n") if line.startswith("lost: ")]
    return rows, lost, done.stderr


def counts(row):
    ms = row["messages"]
    agent = [m for m in ms if m["role"] == "assistant"]
    return {
        "turns": len(agent),
        "calls": sum(len(m.get("tool_calls", [])) for m in agent),
        "results": sum(m["role"] == "tool" for m in ms),
        "reasoning": sum(bool(m.get("reasoning_content")) for m in agent),
    }


failed = 0


def hold(name, path, want=WANT, reward=None, rows_wanted=1, words=()):
    global failed
    rows, lost, said = convert(path)
    got = counts(rows[0]) if rows else {}
    args = [json.loads(c["function"]["arguments"]) for r in rows[:1] for m in r["messages"] for c in m.get("tool_calls", [])]
    answers = [m["content"] for r in rows[:1] for m in r["messages"] if m["role"] == "tool"]
    ok = got == want and len(rows) == rows_wanted and args == [a for turn in CALLS for _, _, a in turn][: len(args)]
    ok = ok and answers == list(ANSWERS.values())[: len(answers)] and (reward is None or rows[0].get("reward") == reward)
    ok = ok and all(word in lost for word in words)
    failed += not ok
    print(f"{'ok  ' if ok else 'FAIL'} {name}: {got} of {want}, lost {[w for w in lost if w not in ('arguments_kind', 'outcome')]}")
    if not ok:
        print(said, rows[:1])


def columns():
    import datasets

    datasets.disable_progress_bars()
    plain = openai_messages()
    table = datasets.Dataset.from_list([{"instance_id": "a", "messages": plain, "reward": 0.5}])
    table.to_parquet(folder / "structs.parquet")
    hold("datasets, Parquet of structures", folder / "structs.parquet", reward=0.5)
    table.save_to_disk(folder / "saved")
    hold("datasets, Arrow as saved to disk", next((folder / "saved").glob("*.arrow")), reward=0.5)
    datasets.Dataset.from_list([{"instance_id": "a", "messages": json.dumps(plain), "resolved": True}]).to_parquet(folder / "strings.parquet")
    hold("datasets, Parquet of JSON in a string (SWE-smith)", folder / "strings.parquet", reward=1)
    datasets.Dataset.from_list([{"trajectory": plain, "exit_status": "submitted", "resolved": 0}]).to_parquet(folder / "trajectory.parquet")
    hold("datasets, Parquet of a trajectory (SWE-rebench)", folder / "trajectory.parquet", reward=0)


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
    hold("inspect_ai, .eval of a run", folder / "inspect.eval", reward=1)
    write_eval_log(read_eval_log(str(folder / "inspect.eval")), str(folder / "inspect.json"))
    hold("inspect_ai, .json of a run", folder / "inspect.json", reward=1)
    rows, _, _ = convert(folder / "inspect.eval")
    (folder / "again").mkdir(exist_ok=True)
    subprocess.run([arena, "convert", str(folder / "inspect.eval"), "--to", "inspect", "-o", str(folder / "again" / "back.json"), "-q"], check=True)
    back = read_eval_log(str(folder / "again" / "back.json"))
    assert len(back.samples) == 1 and len(back.samples[0].messages) == len(rows[0]["messages"])
    hold("inspect_ai, what arena writes, opened by it", folder / "again" / "back.json", reward=1)


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
    hold("openai types, Responses in a rollout of NeMo-Gym", folder / "nemo.jsonl", reward=1)
    subprocess.run([arena, "convert", str(folder / "nemo.jsonl"), "--to", "responses", "-o", str(folder / "own.jsonl"), "-q"], check=True)
    own = json.loads((folder / "own.jsonl").read_text())
    assert [o["type"] for o in own["response"]["output"]] == [o["type"] for o in row["response"]["output"]]
    hold("what arena writes as responses", folder / "own.jsonl", reward=1)


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
    hold("anthropic types, Messages", folder / "anthropic.jsonl")
    session, parent = [], None
    for n, m in enumerate(messages):  # by Claude Code's published lines: a line for each part of a reply
        for part in m["content"] if m["role"] == "assistant" else [None]:
            own = m if part is None else {"id": f"msg_{n}", "type": "message", "role": "assistant", "model": "m", "content": [part]}
            session.append({"type": m["role"], "uuid": f"{len(session)}", "parentUuid": parent, "sessionId": "s", "isSidechain": False, "message": own})
            parent = session[-1]["uuid"]
    (folder / "claude_code.jsonl").write_text("".join(json.dumps(line) + "\n" for line in session))
    hold("Claude Code session (by its published lines)", folder / "claude_code.jsonl")


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
    hold("verifiers 0.4, traces.jsonl", at / "traces.jsonl", reward=0.5)
    row = {"example_id": 0, "prompt": openai_messages()[:2], "completion": openai_messages()[2:], "reward": 0.5, "task": "a"}
    (folder / "results.jsonl").write_text(json.dumps(row) + "\n")
    hold("verifiers before 0.4, results.jsonl (by its published keys)", folder / "results.jsonl", reward=0.5)


class Model(http.server.BaseHTTPRequestHandler):
    """Answers the next turn of the conversation."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        turn = sum(m["role"] == "assistant" for m in asked["messages"])
        said = [m for m in openai_messages(reasoning=False) if m["role"] == "assistant"][turn]
        body = json.dumps({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": said}], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def play(tracer):
    """Plays the conversation with openai's client against the model, under one span."""
    import openai

    server = http.server.HTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="none")
    with tracer.start_as_current_span("agent"):
        messages = openai_messages()[:2]
        for _ in CALLS:
            said = client.chat.completions.create(model="m", messages=messages, tools=[{"type": "function", "function": {"name": "weather", "parameters": TOOL}}]).choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            messages += [{"role": "tool", "tool_call_id": c.id, "content": ANSWERS[c.id]} for c in said.tool_calls or []]
    server.shutdown()


def genai(provider):
    """Notes the conversation by OpenTelemetry's own helpers for GenAI, reasoning too."""
    from opentelemetry.util.genai.handler import TelemetryHandler
    from opentelemetry.util.genai.types import InputMessage, OutputMessage, ReasoningPart, TextPart, ToolCallRequestPart, ToolCallResponsePart

    handler, seen = TelemetryHandler(tracer_provider=provider), [InputMessage("user", [TextPart(USER)])]
    with provider.get_tracer("check").start_as_current_span("agent"):
        for text, thought, calls in zip(TEXTS, THOUGHTS, CALLS):
            with handler.inference("test", request_model="m") as one:
                parts = [ReasoningPart(thought), TextPart(text)] + [ToolCallRequestPart(a, n, i) for i, n, a in calls]
                one.input_messages, one.output_messages = list(seen), [OutputMessage("assistant", parts, "stop")]
                one.system_instruction = [TextPart(SYSTEM)]
            seen.append(InputMessage("assistant", parts))
            seen += [InputMessage("tool", [ToolCallResponsePart(ANSWERS[i], i)]) for i, _, _ in calls]


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
        hold(f"{name}, OTLP/JSON by OpenTelemetry's encoder", folder / f"{name}.otlp.jsonl", want)
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(json.loads(s.to_json())) + "\n" for s in finished))
        hold(f"{name}, spans as the SDK's JSON", folder / f"{name}.jsonl", want)


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
    hold("langfuse, spans of its SDK", folder / "langfuse.jsonl")
    (folder / "langfuse.json").write_text(ObservationsV2Response(data=told, meta=ObservationsV2Meta()).json())
    hold("langfuse, a page of observations by its API's models", folder / "langfuse.json")


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
    hold("hermes-agent, its trajectories, imported", next(exported.glob("jsonl/*/*.jsonl")))


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
        hold(f"mini-swe-agent, {model.__name__}", path)


for check in (columns, inspect, responses, anthropic, verifiers, spans, langfuse, hermes, mini):
    check()
sys.exit(failed > 0)
