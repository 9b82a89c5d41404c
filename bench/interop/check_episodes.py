"""Holds a corpus of episodes against what the runtime ruled: python check_episodes.py RULED.jsonl CORPUS"""

import json
import sys

import pyarrow.parquet as pq

ruled = {d["id"]: d for d in map(json.loads, open(sys.argv[1]))}
attempts = {r["trace_id"]: r for r in pq.read_table(f"{sys.argv[2]}/tables/attempts.parquet").to_pylist()}
outcomes = {r["trace_id"]: r for r in pq.read_table(f"{sys.argv[2]}/tables/outcomes.parquet").to_pylist()}
assert set(ruled) == set(outcomes), "an episode is missing"
wrong = 0
for name, want in ruled.items():
    got = outcomes[name]
    same = (got["paid"] == want["score"] and got["category"] == (want["category"] or "").replace(" ", "_") and got["flags"] == want["flags"]
            and got["scored"] == (want["score"] is not None) and got["success"] == (bool(want["score"]) and want.get("correct", want["score"] == 1)))
    if want["score"] is None:
        same = same and attempts[name]["reason"] == (want.get("reason") or "environment_error")
    same = same and attempts[name]["reason"] != "ledger_mismatch"
    if not same:
        wrong += 1
        print(name, want, got)
print(f"{len(ruled)} episodes, {wrong} with another outcome than the runtime's")
sys.exit(wrong > 0)
