"""Holds `arena contest yuma --json` against a second, straight implementation.

    python bench/yuma_check.py ARENA FILE...

Dense matrices, one line a rule; written from the rules, not from the Go code.
"""

import json
import subprocess
import sys

import numpy as np

KAPPA, ALPHA = 0.5, 0.1
LOW, HIGH, STEEP = 0.7, 0.9, 10
RULES = {"yuma": [], "yuma3": ["--yuma3"], "liquid": ["--yuma3", "--liquid-alpha"]}


def share(part, whole):
    return np.divide(part, whole, out=np.zeros_like(part), where=whole != 0)


def bonds3(rule, clipped, consensus, bonds):
    old = np.zeros_like(clipped) if bonds is None else bonds
    alpha = ALPHA
    if rule == "liquid" and consensus.any():
        away = np.where(clipped >= old, clipped - consensus, old - clipped).clip(0, 1)
        alpha = LOW + (HIGH - LOW) / (1 + np.exp(-STEEP * (away - 0.5)))
    return np.minimum(1, (1 - alpha) * old + alpha * clipped)


def epoch(rule, stake, weights, bonds):
    n = len(stake)
    s = stake / stake.sum()
    w = weights * (1 - np.eye(n))
    w = share(w, w.sum(axis=1, keepdims=True))
    consensus = np.zeros(n)
    for j in range(n):
        for level in np.unique(w[:, j])[::-1]:
            if level > 0 and s[w[:, j] >= level].sum() >= KAPPA - 1e-12:
                consensus[j] = level
                break
    clipped = np.minimum(w, consensus)
    ranks = s @ clipped
    incentive = share(ranks, ranks.sum(keepdims=True))
    if rule == "yuma":
        now = s[:, None] * clipped
        now = share(now, now.sum(axis=0, keepdims=True))
        if bonds is not None:
            now = ALPHA * now + (1 - ALPHA) * bonds
            now = share(now, now.sum(axis=0, keepdims=True))
        dividends = now @ incentive
    else:
        now = bonds3(rule, clipped, consensus, bonds)
        dividends = s * (share(now, now.sum(axis=0, keepdims=True)) @ incentive)
    dividends = share(dividends, dividends.sum(keepdims=True))
    earned = incentive + dividends
    emission = earned / earned.sum() if earned.sum() else s
    trust = share(ranks, s @ w)
    return now, dict(stake=s, rank=ranks, trust=trust, consensus=consensus, incentive=incentive,
                     validator_trust=clipped.sum(axis=1), dividends=dividends, emission=emission)


def dense(rows, n):
    w = np.zeros((n, n))
    for i, row in enumerate(rows):
        for to, value in row:
            w[i, int(to)] = value
    return w


def read(path):
    text = open(path, encoding="utf-8").read()
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def check(arena, path, rule):
    got = json.loads(subprocess.run([arena, "contest", "yuma", path, "--json", *RULES[rule]], check=True, capture_output=True).stdout)
    worst, bonds, before = 0.0, None, None
    epochs = read(path)
    assert len(got) == len(epochs), path
    for e, result in zip(epochs, got):
        name = e.get("id", "").rpartition("-")[0]
        rows = e.get("weights_after_self_and_outdated_removed") or e["weights"]
        bonds, want = epoch(rule, np.array(e["stake"], float), dense(rows, len(e["stake"])), bonds if name and name == before else None)
        before = name
        for key, values in want.items():
            worst = max(worst, np.abs(values - [node[key] for node in result["nodes"]]).max())
    assert worst <= 1e-9, f"{path}: off by {worst}"
    print(f"{path}: {rule}, {len(epochs)} epochs, off by {worst:.1e} at most")


for path in sys.argv[2:]:
    for rule in RULES:
        check(sys.argv[1], path, rule)
