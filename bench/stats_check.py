"""Hold the statistics of package internal/stats against scipy and statsmodels.

    python -m venv venv && venv/bin/pip install scipy statsmodels
    venv/bin/python bench/stats_check.py

It makes random tables from a seed, lets a Go test (TestTables of internal/stats)
compute the same numbers, and fails if any differ by more than 1e-9.
"""

import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from scipy.special import comb
from scipy.stats import norm, t, ttest_1samp
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

TOLERANCE = 1e-9


def cases(count, seed):
    """Random tables: rates, paired counts, p-values and means by problem."""
    draw = random.Random(seed)
    for _ in range(count):
        n = draw.randint(1, 400)
        samples = draw.randint(1, 16)
        yield {
            "n": n,
            "c": draw.randint(0, n),
            "samples": samples,
            "wins": draw.randint(0, samples),
            "k": draw.randint(1, samples),
            "only_a": draw.randint(0, 60),
            "only_b": draw.randint(0, 60),
            "p": [draw.random() ** 3 for _ in range(draw.randint(1, 8))],
            "means": [draw.randint(0, 8) / 8 for _ in range(draw.randint(2, 90))],
        }


def expected(case):
    """The same numbers by the reference libraries."""
    low, high = proportion_confint(case["c"], case["n"], method="wilson")
    table = [[0, case["only_a"]], [case["only_b"], 0]]
    samples, wins, k = case["samples"], case["wins"], case["k"]
    means = case["means"]
    mean = sum(means) / len(means)
    se = math.sqrt(sum((x - mean) ** 2 for x in means) / (len(means) * (len(means) - 1)))
    return {
        "wilson": [low, high],
        "mcnemar": mcnemar(table, exact=True).pvalue,
        "holm": list(multipletests(case["p"], method="holm")[1]),
        "pass_at": 1 - comb(samples - wins, k, exact=True) / comb(samples, k, exact=True),
        "pass_hat": comb(wins, k, exact=True) / comb(samples, k, exact=True),
        "se": se,
        "paired": paired(means, se),
        "grouped_se": grouped(means),
        "t95": list(ttest_1samp(means, 0).confidence_interval(0.95)) if se > 0 else [mean, mean],
        "clustered": clustered(mean, se, len(means)),
    }


def paired(means, se):
    """The t test, never surer than a coin for each that differs, all on one side."""
    if not any(means):
        return 1
    return min(1, max(ttest_1samp(means, 0).pvalue if se > 0 else 0, 2 ** (1 - sum(x != 0 for x in means))))


def grouped(means):
    """The cluster-robust standard error of a mean, every two values being a group."""
    groups = [i // 2 for i in range(len(means))]
    if groups[-1] == 0 or len(set(means)) == 1:
        return 0
    model = OLS(means, [1.0] * len(means))
    return float(model.fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": True}).bse[0])


def clustered(mean, se, problems):
    """Wilson's interval for as many trials as have this standard error."""
    trials = min(8 * problems, mean * (1 - mean) / se**2) if se > 0 else problems * (8 if 0 < mean < 1 else 1)
    trials *= (norm.ppf(0.975) / t.ppf(0.975, problems - 1)) ** 2
    return [max(0, min(1, x)) for x in proportion_confint(mean * trials, trials, method="wilson")]


def flat(value):
    return value if isinstance(value, list) else [value]


def main():
    tables = list(cases(2000, seed=1))
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "tables"
        made.write_text("".join(json.dumps(t) + "\n" for t in tables))
        subprocess.run(["go", "test", "-count=1", "-run", "TestTables", "./internal/stats", "-tables", made], check=True)
        lines = Path(f"{made}.numbers").read_text().splitlines()
    worst, bad = 0.0, 0
    for table, line in zip(tables, lines, strict=True):
        got, want = json.loads(line), expected(table)
        for name, value in want.items():
            gap = max(abs(a - b) for a, b in zip(flat(got[name]), flat(value), strict=True))
            worst = max(worst, gap)
            if gap > TOLERANCE:
                bad += 1
                print(f"{name}: {got[name]} instead of {value} for {table}")
    print(f"{len(tables)} tables, largest difference {worst:.2e}, {bad} beyond {TOLERANCE:.0e}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
