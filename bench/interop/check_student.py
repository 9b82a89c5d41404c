"""Checks what recipes/student.py left: python check_student.py WORK. Each stage has its rows, its training and its evaluation."""
import json
import sys
from pathlib import Path

STAGES = ("sft", "rft", "teacher", "pref", "steps")


def main(work: Path) -> None:
    figures = json.loads((work / "figures.json").read_text())
    assert [row["student"] for row in figures] == ["base", *STAGES], figures
    for row in figures:
        name = row["student"]
        assert row["problems"] and row["coverage"] == 1, f"{name}: {row}"
        assert (work / "runs" / f"{name}-unseen" / "results.jsonl").exists(), f"{name}: no evaluation"
        assert row["cost"] and row["cost"]["cpu"] > 0 and row["cost"]["played"] > 0, f"{name}: no cost"
        if name == "base":
            continue
        assert row["against"][0]["problems"] == row["problems"], f"{name}: {row}"
        assert not (work / "rows" / f"{name}.empty").exists(), f"{name}: no rows"
        training = row["training"]
        assert training["rows"], f"{name}: {training}"
        assert training["steps"] and len(training["losses"]) == training["steps"], f"{name}: {training}"
        assert (work / "students" / name / "model.safetensors").exists(), f"{name}: no model"
    assert (work / "figures.svg").read_text().count("<rect x=") == len(figures)
    print((work / "figures.md").read_text())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
