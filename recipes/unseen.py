"""The loss of students on solved attempts at unseen tasks, by one command: python unseen.py DATA --model MODEL --arena ARENA -o WORK.

It is for attempts whose tools cannot be played here: DATA is what `arena build` reads, such as tau-bench's runs with
--domain service. MODEL is a folder of transformers or a name of the Hub. Students, each trained from the model on as
many tokens of attempts at other tasks:

    base    the model as it is
    solved  solved attempts
    random  attempts, solved or not
    failed  attempts that are not solved

The loss is in nats for a token that the assistant wrote. Each unseen task counts once. WORK/losses.md has the table, and
WORK/losses.tsv the loss of each student on each task. The same command goes on after a kill.
"""
import installed  # first: it says what is not installed
import argparse
import json
import os
import random
import re
import statistics
from dataclasses import dataclass
from pathlib import Path

from arms import Arms, Row, chance, counter
from loop import Loop
from programs import table

ARMS = ["solved", "random", "failed"]
PAIRS = [("solved", "random"), ("solved", "failed"), ("random", "failed"), *((arm, "base") for arm in ARMS)]
RESAMPLES = 10_000


def attempts(corpus: Path, system: bool) -> list[Row]:
    """All attempts of config kto, which has the solved and the failed. The grade is 1 for a solved one."""
    return [Row(r["session_id"], r["problem_id"], "", [m for m in r["prompt"] + r["completion"] if system or m["role"] != "system"], [], float(r["label"]))
            for r in table(str(corpus), "data/kto/")]


def unseen(rows: list[Row], share: float, apart: str) -> set[str]:
    """The tasks that nothing is trained on, about this share. Tasks whose attempts have a match of apart in common, such as a customer's name, stay together."""
    group = {row.problem: row.problem for row in rows}
    first: dict[str, str] = {}  # a task of the attempts that have the match
    for row in rows:
        for match in re.findall(apart, json.dumps(row.messages)) if apart else ():
            old, new = group[row.problem], group[first.setdefault(match, row.problem)]
            group = {task: new if g == old else g for task, g in group.items()}
    names = {g: min(task for task in group if group[task] == g) for g in group.values()}
    return {task for task, g in group.items() if chance(0, names[g]) < share}


def interval(values: list[float]) -> tuple[float, float]:
    """The 95 % interval of the mean, over the tasks: percentiles of bootstrap means."""
    dice = random.Random(0)
    means = sorted(statistics.fmean(dice.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return means[RESAMPLES // 40], means[-1 - RESAMPLES // 40]


@dataclass(frozen=True)
class Unseen(Loop):
    @property
    def common(self) -> Path:
        return self.work

    def rows(self) -> tuple[dict[str, list[Row]], list[Row]]:
        """The attempts of each arm, in the order in which they are taken, and those that the loss is measured on."""
        f, w = self.flags, self.work
        w.mkdir(parents=True, exist_ok=True)
        self.step(w / "corpus", [self.arena, "build", *f.data, *(["--domain", f.domain] if f.domain else []), "-q", "-o", w / "corpus"])
        every, size = attempts(w / "corpus", f.system), counter(f.model)
        away = unseen(every, f.share, f.apart)
        short = [row for row in every if size(row) <= f.longest]
        known = Arms(None, self.seed, size).drawn(row for row in short if row.problem not in away)
        pools = {"solved": [row for row in known if row.grade], "random": known, "failed": [row for row in known if not row.grade]}
        one = {row.problem: row for row in sorted(short, key=lambda row: chance(0, row.id)) if row.grade and row.problem in away}
        arms = {name: Arms(None, self.seed, size).take(pool, f.tokens) for name, pool in pools.items()}
        told = {"attempts": len(every), "too_long": len(every) - len(short), "unseen_tasks": sorted(away), "measured": [row.id for row in one.values()],
                "arms": {name: {"of": len(pools[name]), "rows": len(rows), "tokens": sum(map(size, rows)), "tasks": len({row.problem for row in rows}), "solved": sum(bool(row.grade) for row in rows),
                                "in_solved": sum(row in arms["solved"] for row in rows)} for name, rows in arms.items()}}
        (w / f"arms-{self.seed}.json").write_text(json.dumps(told, indent=1) + "\n")
        if len(one) < 2 or not all(arms.values()):
            raise SystemExit(f"{len(one)} unseen tasks have a solved attempt of at most {f.longest} tokens, and an arm may be empty: see {w}/arms-{self.seed}.json")
        return arms, [one[task] for task in sorted(one)]

    def measure(self, name: str, model: Path | str, rows: list[Row]) -> None:
        """Writes the loss on each attempt."""
        at = self.work / "losses" / f"{name}.json"
        if at.exists():
            return
        import torch
        from transformers import AutoModelForCausalLM

        from tune import DEVICE, Words, likelihoods

        self.say(f"losses of {name}")
        words, net, found = Words(str(model), self.flags.longest), AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).to(DEVICE).eval(), []
        with torch.no_grad():
            for row in rows:
                said = likelihoods(net, *words.encoded(row.messages, row.tools))
                found.append({"task": row.problem, "tokens": len(said), "loss": -float(said.mean())})
        at.parent.mkdir(exist_ok=True)
        at.with_suffix(".new").write_text(json.dumps(found))
        at.with_suffix(".new").rename(at)

    def run(self) -> None:
        f, w = self.flags, self.work
        arms, rows = self.rows()
        if f.only_rows:
            return
        self.measure("base", f.model, rows)
        for name, taken in arms.items():
            file, model = w / f"{name}-{self.seed}.jsonl", w / "students" / f"{name}-{self.seed}"
            file.write_text("".join(map(Row.line, taken)), encoding="utf-8")
            self.step(model, self.python("tune.py", f.model, file, model, "--rate", f.rate, "--batch", f.batch, "--epochs", f.epochs, "--longest", f.longest, "--lora", f.lora, "--seed", self.seed, "--save-every", 60))
            self.measure(f"{name}-{self.seed}", model, rows)
            report(w)


def report(work: Path) -> str:
    """The tables of what is measured so far."""
    files = sorted((work / "losses").glob("*.json"))
    found = {file.stem: json.loads(file.read_text()) for file in files}
    tasks = [row["task"] for row in found["base"]]
    lines = ["\t".join(["task", "tokens", *found])]
    lines += ["\t".join([task, str(found["base"][n]["tokens"]), *(f"{rows[n]['loss']:.4f}" for rows in found.values())]) for n, task in enumerate(tasks)]
    (work / "losses.tsv").write_text("\n".join(lines) + "\n")
    loss = {name: [row["loss"] for row in rows] for name, rows in found.items()}
    text = ["| student | nats a token (95 %) |", "|---|---|", *(f"| {name} | {cell(values)} |" for name, values in loss.items())]
    text += ["", "| difference | seed | nats a token (95 %) | detects | |", "|---|---|---|---:|---|"]
    for a, b in PAIRS:
        seeds = sorted(name.split("-")[1] for name in loss if name.startswith(a + "-") and (b == "base" or f"{b}-{name.split('-')[1]}" in loss))
        each = [[x - y for x, y in zip(loss[f"{a}-{s}"], loss[b if b == "base" else f"{b}-{s}"], strict=True)] for s in seeds]
        if len(each) > 1:  # of a task, the mean over the seeds
            seeds, each = [*seeds, "all"], [*each, list(map(statistics.fmean, zip(*each)))]
        for seed, values in zip(seeds, each):
            low, high = interval(values)
            detects = 2.8 * statistics.stdev(values) / len(values) ** 0.5
            text.append(f"| {a} less {b} | {seed} | {cell(values)} | {detects:.3f} | {'shown' if low > 0 or high < 0 else 'not shown'} |")
    (work / "losses.md").write_text("\n".join(text) + "\n")
    return "\n".join(text)


def cell(values: list[float]) -> str:
    low, high = interval(values)
    return f"{statistics.fmean(values):.3f} ({low:.3f} to {high:.3f})"


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("data", nargs="+")
    p.add_argument("-o", "--output", type=Path, required=True)
    p.add_argument("--model", required=True, help="folder or name of the model")
    p.add_argument("--arena", required=True, help="the program")
    p.add_argument("--domain", default="", help="of all attempts; recognised for each, if not named")
    p.add_argument("--apart", default="", help="tasks with the same match of this expression are trained on together or not at all")
    p.add_argument("--share", type=float, default=0.5, help="of the tasks that nothing is trained on")
    p.add_argument("--system", choices=("keep", "drop"), default="keep", help="drop: without the system's turn, in training and in the loss")
    p.add_argument("--tokens", type=int, default=400_000, help="of an arm at most, the prompt's too")
    p.add_argument("--longest", type=int, default=8192, help="tokens of an attempt at most; longer ones are left out and counted")
    p.add_argument("--rate", type=float, default=3e-4)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--epochs", type=int, default=1)
    p.add_argument("--lora", choices=("auto", "yes", "no"), default="auto", help="auto: if the memory is not enough for all weights")
    p.add_argument("--seeds", type=int, default=1, help="how many students of each arm, each of other rows in another order")
    p.add_argument("--only-rows", action="store_true", help="choose the rows and stop")
    f = p.parse_args()
    os.environ |= {"TOKENIZERS_PARALLELISM": "false"}
    f.system = f.system == "keep"
    if Path(f.model).is_dir():
        f.model = str(Path(f.model).resolve())
        os.environ["HF_HUB_OFFLINE"] = "1"
    work = f.output.resolve()
    for seed in range(1, f.seeds + 1):
        Unseen(work, str(Path(f.arena).resolve()), "", f, seed).run()
    if not f.only_rows:
        print(f"\n{report(work)}")


if __name__ == "__main__":
    main()
