"""Logs a run of arena to Weights & Biases: its rates, and a table with a row for each rollout.

    python log_wandb.py RUN PROJECT        WANDB_MODE=offline needs no account

RUN is a folder that `arena eval` finished.
"""

import installed  # first: it says what is not installed
import json
import sys
from pathlib import Path

import wandb

folder, project = Path(sys.argv[1]), sys.argv[2]
spec, summary = (json.loads((folder / name).read_text()) for name in ("spec.json", "summary.json"))
rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
columns = ["problem_id", "sample", "outcome", "success", "label", "stop", "turns"]

with wandb.init(project=project, name=folder.name, config=spec) as run:
    low, high = summary["wilson95_by_problem"] or (None, None)
    run.summary.update({"success_rate": summary["asr_scored"], "low95": low, "high95": high, "coverage": summary["coverage"], "problems": summary["problems"]})
    run.log({"rollouts": wandb.Table(columns=columns, data=[[row[c] for c in columns] for row in rows])})
