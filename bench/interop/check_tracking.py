"""Holds what the loaders of W&B and MLflow and the Hub's own parser read of a run against its summary.

    check_tracking.py ARENA RUN FOLDER
"""

import json
import os
import subprocess
import sys
from pathlib import Path

arena, run, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)
summary = json.loads((run / "summary.json").read_text())
rate = summary["asr_scored"]

import yaml  # noqa: E402
from huggingface_hub import parse_eval_result_entries  # noqa: E402

subprocess.run([arena, "results", run, "--hub", "org/shop/default", "-o", folder / "result.yaml"], check=True)
(entry,) = parse_eval_result_entries(yaml.safe_load((folder / "result.yaml").read_text()))
assert (entry.dataset_id, entry.task_id, entry.value) == ("org/shop", "default", round(rate, 4)), entry
print(f"the Hub's parser: {entry}")

env = {**os.environ, "WANDB_MODE": "offline", "WANDB_DIR": str(folder), "WANDB_SILENT": "true"}
subprocess.run([sys.executable, "recipes/log_wandb.py", run, "arena"], check=True, env=env)
(written,) = folder.glob("wandb/offline-run-*/run-*.wandb")
from wandb.proto import wandb_internal_pb2  # noqa: E402


def records(data):
    """The records of an offline run: after 7 bytes of header, LevelDB's log format in blocks of 32 KiB."""
    at, part = 7, b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        part += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            yield part
            part = b""


found = {}
for data in records(written.read_bytes()):
    record = wandb_internal_pb2.Record()
    record.ParseFromString(data)
    found.update({item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in record.summary.update})
assert found["success_rate"] == rate and found["coverage"] == summary["coverage"], found
print(f"W&B, offline: success_rate {found['success_rate']:.4f}")

os.environ["MLFLOW_TRACKING_URI"] = (folder / "mlruns").absolute().as_uri()
os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
subprocess.run([sys.executable, "recipes/log_mlflow.py", run, "arena"], check=True)
import mlflow  # noqa: E402

(logged,) = mlflow.MlflowClient().search_runs([mlflow.get_experiment_by_name("arena").experiment_id])
assert abs(logged.data.metrics["success_rate"] - rate) < 1e-12, logged.data.metrics
print(f"MLflow, file store: success_rate {logged.data.metrics['success_rate']:.4f}, model {logged.data.params['model']}")
