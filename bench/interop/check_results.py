"""Holds what arena reads of other harnesses' results against the figures of the harnesses.

    check_results.py ARENA FOLDER

FOLDER is what write_results.py wrote.
"""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

arena, folder = sys.argv[1], Path(sys.argv[2])
figures = json.loads((folder / "figures.json").read_text())


def run(*words):
    return subprocess.run([arena, *map(str, words)], check=True, capture_output=True, text=True).stdout


rates = {}
for name, want in figures.items():
    rows = [json.loads(line) for line in run("results", folder / name, "-o", "-").splitlines()]
    scored = [r for r in rows if r["outcome"] == "scored"]
    mean = sum(r["reward"] for r in scored) / len(scored)
    assert (len(scored), len(rows) - len(scored)) == (want["scored"], want["failed"]), (name, rows)
    assert abs(mean - want["mean"]) < 1e-12, (name, mean, want)
    problems = defaultdict(list)
    for r in scored:
        problems[r["problem_id"]].append(r["reward"])
    rates[name] = {p: sum(v) / len(v) for p, v in problems.items()}
    print(f"{name}: {mean:.4f} of {len(scored)} samples, as the harness says")

for name in figures:
    other = name.replace("weak", "strong")
    if other == name:
        continue
    (got,) = [json.loads(line) for line in run("compare", folder / name, folder / other, "--json", "--min-coverage", "0.9").splitlines()]
    both = rates[name].keys() & rates[other].keys()
    want = sum(rates[other][p] - rates[name][p] for p in both) / len(both)
    assert got["problems"] == len(both) and abs(got["difference"] - want) < 1e-12, (got["difference"], want)
    assert got["a_run"]["summary"]["asr_scored"] == got["a_run"]["summary"]["successes"] / got["a_run"]["summary"]["scored"]
    site = folder / f"site-{name}"
    run("view", folder / name, folder / other, "-o", site)
    talk = (site / "data" / "r0" / "talk" / "0.js").read_text()
    assert "Which colour has thing 0?" in talk, talk
    print(f"{name} and {other}: difference {got['difference']:+.4f} on {len(both)} problems; pages with {len(rates[name])} problems")
