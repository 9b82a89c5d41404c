"""Opens the inspect_ai log of a run with inspect_ai's own functions, as its
viewer does, and holds every sample against results.jsonl. A warning is a
failure."""

import json
import logging
import sys
import warnings
from pathlib import Path

warnings.simplefilter("error")
records = []
handler = logging.Handler(logging.WARNING)
handler.emit = lambda record: records.append(record.getMessage())
logging.getLogger().addHandler(handler)

from inspect_ai.log import (  # noqa: E402
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample,
    read_eval_log_sample_summaries,
)

run = Path(sys.argv[1])
results = [json.loads(line) for line in (run / "results.jsonl").read_text().split("\n") if line]
summary = json.loads((run / "summary.json").read_text())

logs = list_eval_logs(str(run))
assert len(logs) == 1, logs
where = logs[0].name

header = read_eval_log(where, header_only=True)
assert header.status == "success" and header.samples is None
success = header.results.scores[0]
assert success.metrics["asr_all"].value == summary["asr_all"]
assert success.scored_samples == summary["scored"]

log = read_eval_log(where)
by_key = {(s.id, s.epoch - 1): s for s in log.samples}
assert len(by_key) == len(results) == header.results.total_samples
for r in results:
    s = by_key[r["problem_id"], r["sample"]]
    if r["outcome"] == "infra":
        assert s.error.message.startswith(r["infra"]) and not s.scores
        continue
    assert s.scores["success"].value == ("C" if r["success"] else "I")
    assert s.metadata["stop"] == r["stop"] and s.metadata.get("label", "") == r["label"]
    assert sum(m.role == "assistant" for m in s.messages) == r["turns"]
    calls = [c for m in s.messages for c in getattr(m, "tool_calls", None) or []]
    answers = [m for m in s.messages if m.role == "tool"]
    assert [c.id for c in calls] == [a.tool_call_id for a in answers]
    assert len(calls) == r["tool_calls"] + r["malformed_calls"]
    if r["tokens"]["completion"] is not None:
        (usage,) = s.model_usage.values()
        assert (usage.input_tokens, usage.output_tokens) == (r["tokens"]["prompt"], r["tokens"]["completion"])

summaries = read_eval_log_sample_summaries(where)
assert [(s.id, s.epoch - 1) for s in summaries] == [(r["problem_id"], r["sample"]) for r in results]
for s in summaries:
    assert s.model_dump() == by_key[s.id, s.epoch - 1].summary().model_dump(), s.id
one = read_eval_log_sample(where, id=summaries[-1].id, epoch=summaries[-1].epoch)
assert one.uuid == summaries[-1].uuid

assert not records, records
print(f"{len(results)} samples open as they are in results.jsonl")
