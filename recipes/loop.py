"""The loop: evaluate, make the data of a stage, train, evaluate again. python loop.py -o WORK --arena ARENA

A shop, a day of attempts at it and a model of random weights are made on the spot; nothing is downloaded. Students:

    untrained   the model as it was made
    scripted    trained on the attempts of programs, on as many tokens as kept
    kept        trained on the rows that a build kept (recipe sft)
    policy      a program that knows every answer: what can be reached

Every step leaves a marker, its result. The same command goes on where an earlier one was killed; a stage of training
begins anew, with its seed. WORK/figures.json and the checkpoints are the same, however often it was killed.
"""
import argparse
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from programs import table as rows_of

HERE = Path(__file__).resolve().parent
STUDENTS = ["kept", "scripted"]
CLAIMS = [("untrained", "kept"), ("scripted", "kept")]


@dataclass(frozen=True)
class Loop:
    work: Path
    arena: str
    policy: str
    flags: argparse.Namespace
    seed: int

    @property
    def common(self) -> Path:
        return self.work.parent

    def say(self, text: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {self.work.name}: {text}", flush=True)

    def step(self, made: Path, *commands: list[object]) -> None:
        """Runs commands unless what they make is there. {new} in them is a folder that becomes it at the end."""
        if made.exists():
            return
        self.say(str(made.relative_to(self.common)))
        new = made.with_name(made.name + ".new")
        shutil.rmtree(new, ignore_errors=True)
        made.parent.mkdir(parents=True, exist_ok=True)
        with open(self.work / "loop.log", "ab") as log:
            for command in commands:
                words = [str(new) if w == "{new}" else str(w) for w in command]
                if subprocess.run(words, stdout=log, stderr=log).returncode:
                    sys.exit(f"{' '.join(words)} failed: see {log.name}")
        if new.exists():
            new.rename(made)

    def python(self, script: str, *words: object) -> list[object]:
        return [sys.executable, HERE / script, *words]

    def served(self, model: Path | None) -> list[object]:
        """The flags that start a server of the model, or of the policy, and ask it."""
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            at = f"127.0.0.1:{s.getsockname()[1]}"
        if model is None:
            command = f"'{self.policy}' -day '{self.common / 'day'}' -solves 1 -listen {at}"
        else:
            command = f"'{sys.executable}' '{HERE / 'serve.py'}' '{model}' --listen {at}"
        return ["--serve", command, "--endpoint", f"http://{at}/v1", "--model", "student", "-q"]

    def prepare(self) -> None:
        """What all seeds share: the day, its corpus, the unseen problems and the rows of programs."""
        c, shares = self.common, ["--set", "guard.shares.eval=0.2", "--set", "guard.shares.never_touch=0"]
        self.step(c / "day", self.python("world.py", "{new}", self.arena))
        self.step(c / "corpus", [self.arena, "build", c / "day", "--set", f"harness={self.flags.harness}", *shares, "-q", "-o", c / "corpus"])
        self.step(c / "kept", [self.arena, "recipe", "sft", "--corpus", c / "corpus", "-q", "-o", c / "kept"])
        self.step(c / "day.openai.jsonl", [self.arena, "convert", c / "day", "--to", "openai", "-q", "-o", c / "day.openai.jsonl"])
        self.step(c / "scripted.jsonl", self.python("programs.py", c / "day.openai.jsonl", c / "corpus", "{new}"))
        wanted = {r["problem_id"] for r in rows_of(str(c / "corpus"), "data/rl/eval", "problem_id")}
        with open(c / "day/problems.jsonl", encoding="utf-8") as lines:
            unseen = [line for line in lines if json.loads(line)["problem_id"] in wanted][: self.flags.problems]
        (c / "unseen.jsonl").write_text("".join(unseen), encoding="utf-8")

    def play(self, name: str, model: Path | None) -> None:
        run = self.work / "runs" / name
        shop = ["--problems", self.common / "unseen.jsonl", "--catalog", self.common / "day/catalog.jsonl", "--harness", self.flags.harness, "--max-steps", 6]
        self.step(run / "summary.json", [self.arena, "eval", *self.served(model), *shop, "--temperature", 0, "--judge", "none", "-o", run])

    def student(self, name: str) -> None:
        """Trains a student, unless it is the untrained one, and evaluates it."""
        c, model = self.common, self.work / ("base" if name == "untrained" else name)
        rows = [c / "scripted.jsonl", "--tokens-of", c / "kept"] if name == "scripted" else [c / "kept"]
        self.step(model, self.python("sft.py", self.work / "base", rows[0], "{new}", *rows[1:], "--steps", self.flags.steps, "--seed", self.seed))
        self.play(name, model)

    def figures(self, names: list[str]) -> dict:
        found: dict = {"solved": {}, "compared": []}
        for name in names:
            s = json.loads((self.work / "runs" / name / "summary.json").read_text())
            found["solved"][name] = {k: s[k] for k in ("problems", "successes", "asr_scored", "wilson95_by_problem", "coverage")}
        for a, b in CLAIMS:
            if a in names and b in names:
                command = [self.arena, "compare", self.work / "runs" / a, self.work / "runs" / b, "--json"]
                c = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                found["compared"].append({"a": a, "b": b} | {k: c[k] for k in ("problems", "difference", "ci95", "p", "mde80")})
        return found

    def run(self) -> dict:
        f = self.flags
        self.work.mkdir(parents=True, exist_ok=True)
        self.prepare()
        self.step(self.work / "base", self.python("model.py", self.common / "corpus", self.common / "day/catalog.jsonl", "{new}", f.layers, f.width, self.seed))
        self.play("policy", None)
        names = ["untrained", *f.students]
        with ThreadPoolExecutor(f.at_once) as pool:
            list(pool.map(self.student, names))
        found = self.figures(["policy", *names])
        (self.work / "figures.json").write_text(json.dumps(found, indent=1))
        return found


def percent(x: float | None) -> str:
    return "-" if x is None else f"{100 * x:.1f}"


def table(found: dict) -> str:
    lines = ["| student | solved | of unseen problems | % (95 %) |", "|---|---:|---:|---|"]
    for name, s in found["solved"].items():
        low, high = s["wilson95_by_problem"]
        lines.append(f"| {name} | {s['successes']} | {s['problems']} | {percent(s['asr_scored'])} ({percent(low)} to {percent(high)}) |")
    lines += ["", "| claim | difference in points (95 %) | p | could show four times in five | |", "|---|---|---|---|---|"]
    for c in found["compared"]:
        low, high = c["ci95"] or (None, None)
        difference = f"{percent(c['difference'])} ({percent(low)} to {percent(high)})"
        p = "-" if c["p"] is None else format(c["p"], ".2g")
        word = "met" if low is not None and low > 0 else "missed"
        lines.append(f"| {c['b']} above {c['a']} | {difference} | {p} | {percent(c['mde80'])} | {word} |")
    return "\n".join(lines)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-o", "--output", type=Path, required=True)
    p.add_argument("--arena", required=True, help="the program")
    p.add_argument("--policy", required=True, help="bench/modelserver, built")
    p.add_argument("--harness", default="short")
    p.add_argument("--students", nargs="*", default=STUDENTS, choices=STUDENTS)
    p.add_argument("--seeds", type=int, default=1, help="how many models, one a seed")
    p.add_argument("--problems", type=int, default=200, help="the most unseen problems to play")
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--width", type=int, default=128)
    p.add_argument("--steps", type=int, default=260, help="steps of training")
    p.add_argument("--at-once", type=int, default=3, help="students trained at the same time")
    f = p.parse_args()
    os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
    began = time.monotonic()
    for seed in range(1, f.seeds + 1):
        loop = Loop(f.output.resolve() / f"seed-{seed}", str(Path(f.arena).resolve()), str(Path(f.policy).resolve()), f, seed)
        print(f"\n## Seed {seed}\n\n{table(loop.run())}\n")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{(time.monotonic() - began) / 60:.1f} minutes, {(used.ru_utime + used.ru_stime) / 60:.1f} of CPU, load {os.getloadavg()[1]:.1f}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
