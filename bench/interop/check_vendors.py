"""Has telemetry and agents of other vendors record the conversation by their own packages, and holds what `arena convert`
reads of their records against it.

    check_vendors.py ARENA FOLDER

Every package writes to a server on loopback or into a list. What a vendor's server would hand out is what its package
sent there.
"""

import contextlib
import copy
import json
import os
import shutil
import types
from unittest import mock

from conversation import ANSWERS, CALLS, SYSTEM, TEXTS, THOUGHTS, TOOL, USER, WANT, end, folder, genai, hold, openai_messages, play

os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", MLFLOW_ENABLE_ASYNC_TRACE_LOGGING="false", MLFLOW_HTTP_REQUEST_MAX_RETRIES="0", OPENAI_API_KEY="none", LANGSMITH_TRACING="true", LANGSMITH_API_KEY="none", OPENHANDS_SUPPRESS_BANNER="1")
UNREASONED = WANT | {"reasoning": 0}  # the vendor records no reasoning of a reply
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": TOOL}}]


def lines(name, records):
    path = folder / name
    path.write_text("".join(json.dumps(r, default=str) + "\n" for r in records))
    return path


def record(instrument):
    """Returns the spans and the log records that an instrument writes, which gets the providers of both."""
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    spans, logs, tracers, loggers = InMemorySpanExporter(), InMemoryLogRecordExporter(), TracerProvider(), LoggerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    loggers.add_log_record_processor(SimpleLogRecordProcessor(logs))
    instrument(tracers, loggers)
    return spans.get_finished_spans(), logs.get_finished_logs()


def instrumented(tracers, loggers):
    """Plays the conversation with openai's client under OpenTelemetry's own instrumentation."""
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

    own = OpenAIInstrumentor()
    own.instrument(tracer_provider=tracers, logger_provider=loggers)
    play(tracers.get_tracer("check"))
    own.uninstrument()


def opentelemetry():
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs

    def hold_logs(name, file, *args, **rest):
        hold("spans", name + " in OTLP/JSON", lines(file + ".otlp.jsonl", [MessageToDict(encode_logs([r])) for r in logs]), *args, **rest)
        hold("spans", name, lines(file + ".jsonl", [json.loads(r.to_json()) for r in logs]), *args, **rest)

    os.environ.update(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="EVENT_ONLY", OTEL_SEMCONV_STABILITY_OPT_IN="gen_ai_latest_experimental", OTEL_INSTRUMENTATION_GENAI_EMIT_EVENT="true")
    _, logs = record(genai)
    hold_logs("opentelemetry-util-genai, events of operations", "operations")
    os.environ.update(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="true", OTEL_SEMCONV_STABILITY_OPT_IN="")
    _, logs = record(instrumented)
    # It leaves out the text of a message with calls where a later request repeats the message.
    hold_logs("opentelemetry-instrumentation-openai-v2, events of messages", "messages", UNREASONED, texts=["", "", TEXTS[-1]], words=["other_spans"])


class Untraced:
    """Stands for a tracer where the vendor has none."""

    def start_as_current_span(self, _):
        return contextlib.nullcontext()


def langsmith():
    import langsmith
    import openai
    from langsmith.run_trees import RunTree
    from langsmith.schemas import Run
    from langsmith.wrappers import wrap_openai

    told = {}

    class Client(langsmith.Client):
        def create_run(self, name, inputs, run_type, **rest):
            told[str(rest["id"])] = {"name": name, "inputs": copy.deepcopy(inputs), "run_type": run_type, **rest}

        def update_run(self, run_id, **rest):
            told[str(run_id)].update({k: v for k, v in rest.items() if v is not None})

    client = Client(api_url="http://127.0.0.1:9", api_key="none", auto_batch_tracing=False, info={})
    made = openai.OpenAI
    root = RunTree(name="agent", run_type="chain", inputs={"question": USER}, ls_client=client)
    root.post()
    with langsmith.tracing_context(parent=root, client=client, enabled=True), mock.patch.object(openai, "OpenAI", lambda **k: wrap_openai(made(**k), tracing_extra={"client": client})):
        play(Untraced())
    root.end(outputs={"answer": TEXTS[-1]})
    root.patch()
    runs = [Run.model_validate({"session_id": root.id, "start_time": root.start_time, **r}) for r in told.values()]
    hold("spans", "langsmith, runs of wrap_openai", lines("langsmith.jsonl", [json.loads(r.model_dump_json()) for r in runs]), UNREASONED)


def mlflow():
    import mlflow
    from mlflow.entities import SpanType
    from mlflow.entities.trace_location import MlflowExperimentLocation
    from mlflow.tracing.trace_manager import InMemoryTraceManager

    mlflow.set_tracking_uri("http://127.0.0.1:9")
    mlflow.tracing.set_destination(MlflowExperimentLocation("0"))
    seen = openai_messages(reasoning=False)[:2]
    with mlflow.start_span("agent", span_type=SpanType.AGENT) as agent:
        agent.set_inputs({"question": USER})
        for m in openai_messages(reasoning=False)[2:]:
            if m["role"] == "assistant":
                with mlflow.start_span("Completions", span_type=SpanType.CHAT_MODEL) as one:
                    one.set_inputs({"model": "m", "messages": list(seen), "tools": TOOLS})
                    one.set_outputs({"choices": [{"index": 0, "finish_reason": "stop", "message": m}]})
            seen.append(m)
        agent.set_outputs(TEXTS[-1])
        with InMemoryTraceManager.get_instance().get_trace(agent.trace_id) as kept:
            trace = json.loads(kept.to_mlflow_trace().to_json())
    hold("spans", "mlflow-tracing, a trace as JSON", lines("mlflow.json", [trace]), UNREASONED)


def weave():
    from weave.trace import weave_client
    from weave.trace.context import weave_client_context

    calls = {}

    class Server:
        """Keeps the calls that the client sends."""

        call_processor = None

        def call_start(self, sent):
            calls[sent["start"]["id"]] = dict(sent["start"])

        def call_end(self, sent):
            calls[sent["end"]["id"]].update(sent["end"])

        def __getattr__(self, name):
            if name.startswith("_") or name == "get_feedback_processor":
                raise AttributeError(name)
            return lambda *_, **__: types.SimpleNamespace(digest="d", project_name="p")

    client = weave_client.WeaveClient("e", "p", Server(), ensure_project_exists=False)
    weave_client_context.set_weave_client_global(client)
    import weave as w
    from weave.integrations.openai import openai_sdk

    openai_sdk.get_openai_patcher().attempt_patch()

    @w.op
    def agent(question):
        play(Untraced())
        return TEXTS[-1]

    agent(USER)
    client.finish()
    hold("spans", "weave, calls of its integration of openai", lines("weave.jsonl", calls.values()), UNREASONED)


def agent_lightning():
    from agentlightning import Span, emit_reward

    os.environ.update(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="SPAN_ONLY", OTEL_SEMCONV_STABILITY_OPT_IN="gen_ai_latest_experimental")
    spans, _ = record(genai)
    told = [Span.from_opentelemetry(s, "ro-1", "at-1", i) for i, s in enumerate(spans)]
    told.append(Span.from_core_fields(emit_reward(0.75, propagate=False), rollout_id="ro-1", attempt_id="at-1", sequence_id=len(told)))
    hold("spans", "agentlightning, spans with a reward", lines("agentlightning.jsonl", [json.loads(s.model_dump_json()) for s in told]), reward=0.75)


def openhands():
    from openhands.sdk import Agent, Conversation
    from openhands.sdk.llm import Message, MessageToolCall, TextContent
    from openhands.sdk.testing import TestLLM
    from openhands.sdk.tool import Action, Observation, Tool, ToolDefinition, ToolExecutor, register_tool

    class WeatherAction(Action):
        city: str

    class WeatherObservation(Observation):
        pass

    class Executor(ToolExecutor):
        def __call__(self, action, conversation=None):
            said = {a["city"]: ANSWERS[i] for turn in CALLS for i, _, a in turn}[action.city]
            return WeatherObservation.from_text(said)

    class WeatherTool(ToolDefinition):
        name = "weather"

        @classmethod
        def create(cls, *_, **__):
            return [cls(description="Tells the weather.", action_type=WeatherAction, observation_type=WeatherObservation, executor=Executor())]

    register_tool("weather", WeatherTool)
    told = []
    for text, thought, turn in zip(TEXTS, THOUGHTS, CALLS):
        told.append(Message(role="assistant", content=[TextContent(text=text)], reasoning_content=thought, tool_calls=[MessageToolCall(id=i, name=n, arguments=json.dumps(a), origin="completion") for i, n, a in turn] or None))
    at = folder / "openhands"
    shutil.rmtree(at, ignore_errors=True)
    agent = Agent(llm=TestLLM.from_messages(told), tools=[Tool(name="weather")], include_default_tools=[], system_prompt=SYSTEM)
    talk = Conversation(agent=agent, workspace=str(at / "work"), persistence_dir=str(at / "kept"), visualizer=None)
    talk.send_message(USER)
    talk.run()
    events = sorted(at.glob("kept/*/events/*.json"))
    hold("openhands", "openhands-sdk, events of a conversation", lines("openhands.jsonl", [json.loads(e.read_text()) for e in events]))


def gemini():
    from google.genai import types as g

    contents = [g.Content(role="user", parts=[g.Part(text=USER)])]
    for text, thought, turn in zip(TEXTS, THOUGHTS, CALLS):
        parts = [g.Part(text=thought, thought=True)] + ([g.Part(text=text)] if text else [])
        parts += [g.Part(function_call=g.FunctionCall(id=i, name=n, args=a)) for i, n, a in turn]
        contents.append(g.Content(role="model", parts=parts))
        if turn:
            contents.append(g.Content(role="user", parts=[g.Part(function_response=g.FunctionResponse(id=i, name=n, response={"output": ANSWERS[i]})) for i, n, _ in turn]))
    rest, last = contents[:-1], contents[-1]
    answer = g.GenerateContentResponse(candidates=[g.Candidate(content=last)], model_version="m")
    dump = lambda v: json.loads(v.model_dump_json(by_alias=True, exclude_none=True))
    row = {"request": {"contents": [dump(c) for c in rest], "systemInstruction": dump(g.Content(parts=[g.Part(text=SYSTEM)]))}, "response": dump(answer)}
    hold("exchange", "google-genai types, a request and its response", lines("gemini.jsonl", [row]), answers=[json.dumps({"output": a}) for a in ANSWERS.values()])


for check in (opentelemetry, langsmith, mlflow, weave, agent_lightning, openhands, gemini):
    check()
end()
