"""Hold `arena agreement` against independent implementations on random tables.

    pip install scikit-learn==1.7.2 krippendorff==0.9.0
    go build -o /tmp/arena ./cmd/arena && python bench/agreement_check.py /tmp/arena

Every figure must be equal to 1e-9; the script ends with 1 at the first that is not.
"""

import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import krippendorff
import numpy as np
from sklearn.metrics import cohen_kappa_score, confusion_matrix

LEVELS = [0.1, 0.3, 0.5, 0.7, 0.9]


def ratings(chance, attempts, unscored):
    """Scores with some agreement: a hidden level, seen with errors."""
    levels = LEVELS[: chance.randint(2, 5)]
    truth = [chance.randrange(len(levels)) for _ in range(attempts)]
    spread = chance.choice([0, 1, 4])

    def rate(level):
        if chance.random() < unscored:
            return None
        seen = level + chance.randint(-spread, spread)
        return levels[min(max(seen, 0), len(levels) - 1)]

    return [[rate(level) for level in truth] for _ in range(3)]


def write(folder, name, scores):
    path = folder / name
    with path.open("w") as out:
        for i, score in enumerate(scores):
            line = {"eval_run_id": f"r{i // 7}", "problem_id": f"p{i % 7}", "score": score}
            if score is None:
                line["outcome"] = "failed"
            out.write(json.dumps(line) + "\n")
    return str(path)


def same(name, ours, theirs):
    if theirs is None or math.isnan(theirs):
        ok = ours is None
    else:
        ok = ours is not None and abs(ours - theirs) <= 1e-9
    if not ok:
        sys.exit(f"{name}: arena says {ours}, the reference {theirs}")


def alpha(scores, level):
    table = np.array([[math.nan if s is None else s for s in row] for row in scores])
    try:
        return krippendorff.alpha(reliability_data=table, value_domain=LEVELS, level_of_measurement=level)
    except (ValueError, AssertionError):
        return math.nan


def check_pair(pair, a, b):
    both = [(x, y) for x, y in zip(a, b) if x is not None and y is not None]
    x = [LEVELS.index(p[0]) for p in both]
    y = [LEVELS.index(p[1]) for p in both]
    labels = list(range(len(LEVELS)))
    assert pair["n"] == len(both) and pair["levels"] == LEVELS
    assert pair["confusion"] == confusion_matrix(x, y, labels=labels).tolist()
    same("exact", pair["exact"]["value"], float(np.mean(np.equal(x, y))))
    same("kappa", pair["kappa"]["value"], cohen_kappa_score(x, y, labels=labels))
    same("weighted", pair["weighted_kappa"]["value"], cohen_kappa_score(x, y, labels=labels, weights="quadratic"))
    same("bias", pair["bias"]["value"], float(np.mean([q - p for p, q in both])))
    for level in ("nominal", "ordinal", "interval"):
        same(f"alpha {level}", pair["alpha"][level]["value"], alpha([a, b], level))


def main(arena):
    for seed in range(200):
        chance = random.Random(seed)
        scores = ratings(chance, chance.randint(5, 300), chance.choice([0, 0.1, 0.4]))
        with tempfile.TemporaryDirectory() as folder:
            files = [write(Path(folder), f"{n}.jsonl", s) for n, s in zip("abc", scores)]
            done = subprocess.run([arena, "agreement", *files, "--json"], capture_output=True, check=True)
        report = json.loads(done.stdout)
        a, b, c = scores
        for pair, (x, y) in zip(report["pairs"], [(a, b), (a, c), (b, c)], strict=True):
            if pair["n"] > 1:
                check_pair(pair, x, y)
        for level in ("nominal", "ordinal", "interval"):
            same(f"panel alpha {level}", report["panel"]["alpha"][level]["value"], alpha(scores, level))
    print("agreement: 200 random tables equal to 1e-9")


if __name__ == "__main__":
    main(sys.argv[1])
