"""Logs a run of arena to MLflow: its settings, rates and rollouts.

    python log_mlflow.py RUN EXPERIMENT    MLFLOW_TRACKING_URI names the server or the store

RUN is a folder that `arena eval` finished.
"""

import installed  # first: it says what is not installed
import json
import sys
from pathlib import Path

import mlflow

folder, experiment = Path(sys.argv[1]), sys.argv[2]
spec, summary = (json.loads((folder / name).read_text()) for name in ("spec.json", "summary.json"))
low, high = summary["wilson95_by_problem"] or (None, None)
rates = {"success_rate": summary["asr_scored"], "low95": low, "high95": high, "coverage": summary["coverage"], "problems": summary["problems"]}

mlflow.set_experiment(experiment)
with mlflow.start_run(run_name=folder.name):
    mlflow.log_params({name: str(value)[:500] for name, value in spec.items() if name != "system"})
    mlflow.log_metrics({name: value for name, value in rates.items() if value is not None})
    for name in ("spec.json", "summary.json", "results.jsonl"):
        mlflow.log_artifact(str(folder / name))
