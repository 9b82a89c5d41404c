"""Holds the scores of `arena contest run` for subnet 47 against a second, straight implementation.

    python bench/score47_check.py ROUND.json...

The rounds follow each other. Written from the rules, not from the Go code.
"""

import json
import sys

import numpy as np

MEASURED = {"current": "kl_current", "next": "kl_next", "thinking": "thinking", "base": "base", "solved": "solved"}
averages = {}


def check(path):
    scores = json.load(open(path, encoding="utf-8"))["scores"]
    worst, squares = 0.0, {}
    for s in scores:
        bonus = np.sqrt(s["params_b"] / 1.8)
        now = {k: s[v] * (bonus if k in ("current", "next") else 1) for k, v in MEASURED.items()}
        series = averages.setdefault(s["uid"], [])
        if series:
            now = {k: 0.1 * v + 0.9 * series[-1][k] for k, v in now.items()}
        series.append(now)
        steps = -np.diff([a["current"] for a in series])
        flow = max(0, np.tanh(steps.mean() / (steps.std() + 1e-4))) if len(series) >= 10 else 0
        gain = max(0, np.tanh(now["thinking"] - now["base"]))
        improved = s["previous_kl"] is not None and s["revision"] != s["previous_revision"] and s["kl_current"] <= 0.98 * s["previous_kl"]
        consistent = now["next"] <= 1.2 * now["current"]
        quality = np.exp(-now["current"]) * (0.3 + 0.7 * gain) * improved * consistent
        score = 0.6 * quality + 0.3 * flow * quality + 0.1 * now["solved"]
        squares.setdefault(s["track"], []).append(score**2)
        for key, value in dict(bonus=bonus, absolute=np.exp(-now["current"]), think_gain=gain, flow=flow, quality=quality, score=score).items():
            worst = max(worst, abs(value - s[key]))
        for key, value in now.items():
            worst = max(worst, abs(value - s["averages"][key]))
    tracks = [t for t in squares if sum(squares[t])]
    for s in scores:
        weight = s["score"] ** 2 / sum(squares[s["track"]]) / len(tracks) if s["track"] in tracks else 0
        worst = max(worst, abs(weight - s["weight"]))
    assert worst <= 1e-12, f"{path}: off by {worst}"
    print(f"{path}: {len(scores)} models, off by {worst:.1e} at most")


for path in sys.argv[1:]:
    check(path)
