"""The loop: evaluate, make the data of a stage, train, evaluate again. python loop.py -o WORK --arena ARENA --policy SERVER

A shop, a day of attempts at it and a small model that can repeat what it read are made on the spot; nothing is
downloaded. Students:

    untrained      the model as it was made
    kept           untrained, fine-tuned on the rows that a build kept (recipe sft)
    scripted       untrained, fine-tuned on as many tokens of the attempts of programs
    rewritten      untrained, fine-tuned on as many tokens of those attempts with new reasoning (recipe rewrite)
    rft            kept, fine-tuned on its own successes and the corpus (recipe rft)
    grpo           kept, trained by GRPO in the environment (arena env serve)
    scripted-grpo  scripted, trained by GRPO in the environment
    policy         a program that knows every answer: what can be reached

Every step leaves a marker, its result. The same command goes on where an earlier one was killed; a stage of training
begins anew, with its seed. WORK/figures.json and the checkpoints are the same, however often it was killed.
"""
import installed  # first: it says what is not installed
import argparse
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from programs import table as rows_of

HERE = Path(__file__).resolve().parent
# Each student, and what it begins from.
BEFORE = {"untrained": "", "kept": "untrained", "scripted": "untrained", "rewritten": "untrained", "rft": "kept", "grpo": "kept", "scripted-grpo": "scripted"}
CLAIMS = [("untrained", "kept"), ("scripted", "kept"), ("scripted", "rewritten"), ("kept", "rft"), ("kept", "grpo"), ("scripted", "scripted-grpo")]


def address() -> str:
    """A free one of this machine."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{s.getsockname()[1]}"


def listens(at: str) -> bool:
    host, port = at.split(":")
    with socket.socket() as s:
        return s.connect_ex((host, int(port))) == 0


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
                if self.timed(str(made.relative_to(self.common)), words, stdout=log, stderr=log):
                    sys.exit(f"{' '.join(words)} failed: see {log.name}")
        if new.exists():
            new.rename(made)

    def timed(self, made: str, words: list[str], **files: object) -> int:
        """Runs a command and notes in spent.jsonl its begin, and at its end the seconds it took, of the clock and of all processors."""
        self.note({"made": made, "begun": 1})
        began = time.monotonic()
        running = subprocess.Popen(words, **files)
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
        self.note({"made": made, "ended": 1, "seconds": round(time.monotonic() - began, 1), "cpu": round(used.ru_utime + used.ru_stime, 1)})
        return running.returncode

    def note(self, what: dict) -> None:
        with open(self.work / "spent.jsonl", "a", encoding="utf-8") as lines:
            lines.write(json.dumps(what) + "\n")

    def spent(self, *made: str) -> dict | None:
        """What the steps took together that made these, or nothing where one of them has no note. Without an end for each begin, it is at least this."""
        notes: dict[str, Counter] = defaultdict(Counter)
        if (self.work / "spent.jsonl").exists():
            with open(self.work / "spent.jsonl", encoding="utf-8") as lines:
                for said in map(json.loads, lines):
                    notes[said.pop("made")].update(said)
        if not made or not all(notes[m]["ended"] for m in made):
            return None
        total = sum((notes[m] for m in made), Counter())
        return {"seconds": round(total["seconds"], 1), "cpu": round(total["cpu"], 1), "at_least": total["begun"] > total["ended"]}

    def python(self, script: str, *words: object) -> list[object]:
        return [sys.executable, HERE / script, *words]

    def served(self, model: Path | None) -> list[object]:
        """The flags that start a server of the model, or of the policy, and ask it."""
        at = address()
        if model is None:
            command = f"'{self.policy}' -day '{self.common / 'day'}' -solves 1 -listen {at}"
        else:
            command = f"'{sys.executable}' '{HERE / 'serve.py'}' '{model}' --listen {at}"
        return ["--serve", command, "--endpoint", f"http://{at}/v1", "--model", "student", "-q"]

    @contextmanager
    def running(self, *command: object) -> Iterator[str]:
        """A server for as long as it is needed, and its address."""
        at = address()
        with open(self.work / "loop.log", "ab") as log:
            server = subprocess.Popen([*map(str, command), "--listen", at], stdout=log, stderr=log)
        try:
            while server.poll() is None and not listens(at):
                time.sleep(0.1)
            yield f"http://{at}"
        finally:
            server.terminate()
            server.wait()

    def prepare(self) -> None:
        """What all seeds share: the day, its corpus, the unseen problems and the rows of programs."""
        c, shares = self.common, ["--set", "guard.shares.eval=0.2", "--set", "guard.shares.never_touch=0"]
        self.step(c / "day", self.python("world.py", "{new}", self.arena, self.flags.seed, self.flags.shops))
        self.step(c / "corpus", [self.arena, "build", c / "day", "--set", f"harness={self.flags.harness}", *shares, "-q", "-o", c / "corpus"])
        self.step(c / "kept", [self.arena, "recipe", "sft", "--corpus", c / "corpus", "-q", "-o", c / "kept"])
        self.step(c / "day.openai.jsonl", [self.arena, "convert", c / "day", "--to", "openai", "-q", "-o", c / "day.openai.jsonl"])
        self.step(c / "scripted.jsonl", self.python("programs.py", c / "day.openai.jsonl", c / "corpus", "{new}"))
        self.step(c / "env", [self.arena, "export", c / "corpus", "--profile", "env", "-q", "-o", c / "env"])
        if not (c / "rewritten").exists():
            with self.running(*self.python("writer.py")) as at:
                rewrite = ["--endpoint", at + "/v1", "--model", "writer.py", "--ledger", c / "ledger", "-q"]
                self.step(c / "rewritten", [self.arena, "recipe", "rewrite", c / "day", "--corpus", c / "corpus", *rewrite, "-o", c / "rewritten"])
        with open(c / "day/problems.jsonl", encoding="utf-8") as lines:
            tasks = {json.loads(line)["problem_id"]: line for line in lines}
        for name, split, most in (("unseen", "eval", self.flags.problems), ("seen", "train", self.flags.rollouts)):
            ids = sorted(r["problem_id"] for r in rows_of(str(c / "corpus"), f"data/rl/{split}", "problem_id"))
            (c / f"{name}.jsonl").write_text("".join(tasks[i] for i in ids[:most]), encoding="utf-8")

    def play(self, name: str, model: Path | None, problems: str = "unseen", *how: object) -> Path:
        run = self.work / "runs" / f"{name}-{problems}"
        shop = ["--problems", self.common / f"{problems}.jsonl", "--catalog", self.common / "day/catalog.jsonl", "--harness", self.flags.harness, "--max-steps", 6]
        how = how or ("--temperature", 0)
        self.step(run / "summary.json", [self.arena, "eval", *self.served(model), *shop, *how, "--judge", "none", "-o", run])
        return run

    def rft(self) -> Path:
        """The rows of recipe rft, which takes kept's own rollouts: eight at each of some training problems."""
        run, rows = self.play("kept", self.work / "kept", "seen", "-k", 8, "--temperature", 1), self.work / "rft-rows"
        self.step(rows, [self.arena, "recipe", "rft", "--corpus", self.common / "corpus", "--catalog", self.common / "day/catalog.jsonl", "--run", run, "-q", "-o", rows])
        return rows

    def train(self, name: str, model: Path, script: str, rows: Path, steps: int, rate: float, *more: object) -> None:
        """rate is that of a model of width 128: a wider one is trained at a lower rate."""
        start = self.work / BEFORE[name].replace("untrained", "base")
        rate *= 128 / self.flags.width
        self.step(model, self.python(script, start, rows, "{new}", "--steps", steps, "--rate", rate, "--seed", self.seed, *more))

    def student(self, name: str, before: Future | None) -> None:
        """Trains a student, unless it is the untrained one, and evaluates it."""
        if before:
            before.result()
        c, f, model = self.common, self.flags, self.work / name.replace("untrained", "base")
        match name:
            case "kept":
                self.train(name, model, "sft.py", c / "kept", f.kept_steps, 3e-3)
            case "scripted" | "rewritten":
                self.train(name, model, "sft.py", c / ("scripted.jsonl" if name == "scripted" else name), f.steps, 3e-3, "--tokens-of", c / "kept")
            case "rft":
                self.train(name, model, "sft.py", self.rft(), f.more_steps, 3e-4)
            case "grpo" | "scripted-grpo" if not model.exists():
                problems = ["--problems", c / "day/problems.jsonl", "--catalog", c / "day/catalog.jsonl", "--corpus", c / "corpus"]
                with self.running(self.arena, "env", "serve", *problems, "--harness", f.harness, "--judge", "none") as at:
                    self.train(name, model, "grpo.py", c / "env", f.rl_steps, 3e-4, "--env", at, "--longest", f.rl_longest)
        self.play(name, model)

    def figures(self, names: list[str]) -> dict:
        found: dict = {"solved": {}, "compared": []}
        for name in names:
            s = json.loads((self.work / "runs" / f"{name}-unseen" / "summary.json").read_text())
            found["solved"][name] = {k: s[k] for k in ("problems", "successes", "asr_scored", "wilson95_by_problem", "coverage")}
        for a, b in CLAIMS:
            if a in names and b in names:
                command = [self.arena, "compare", *(self.work / "runs" / f"{name}-unseen" for name in (a, b)), "--json"]
                c = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                found["compared"].append({"a": a, "b": b} | {k: c[k] for k in ("problems", "difference", "ci95", "p", "mde80")})
        return found

    def cost(self, name: str) -> dict | None:
        """What a student's training and evaluation took."""
        model = self.work / name.replace("untrained", "base")
        return self.spent(*(str(made.relative_to(self.common)) for made in (model, self.work / "runs" / f"{name}-unseen/summary.json") if made.exists()))

    def run(self) -> dict:
        f = self.flags
        self.work.mkdir(parents=True, exist_ok=True)
        self.prepare()
        rows = [self.common / name for name in ("kept", "scripted.jsonl", "rewritten")]
        self.step(self.work / "base", self.python("model.py", self.common / "corpus", self.common / "day/catalog.jsonl", "{new}", f.layers, f.width, self.seed, *rows))
        self.play("policy", None)
        names = [name for name in BEFORE if name == "untrained" or name in f.students]
        with ThreadPoolExecutor(f.at_once) as pool:
            begun: dict[str, Future] = {}
            for name in names:  # a student comes after the one that it begins from; the untrained one is there, whatever it solves
                begun[name] = pool.submit(self.student, name, None if BEFORE[name] == "untrained" else begun.get(BEFORE[name]))
            for future in begun.values():
                future.result()
        found = self.figures(["policy", *names])
        (self.work / "figures.json").write_text(json.dumps(found, indent=1))
        return found


def percent(x: float | None) -> str:
    return "-" if x is None else f"{100 * x:.1f}"


def took(cost: dict | None, of: str) -> str:
    """Seconds, of the clock or of all processors. What no step noted is a question mark."""
    return "?" if not cost else "at least " * cost["at_least"] + f"{cost[of]:.0f}"


def table(found: dict, costs: dict[str, dict | None]) -> str:
    lines = ["| student | solved | of unseen problems | % (95 %) | s | CPU, s |", "|---|---:|---:|---|---:|---:|"]
    for name, s in found["solved"].items():
        low, high = s["wilson95_by_problem"]
        lines.append(f"| {name} | {s['successes']} | {s['problems']} | {percent(s['asr_scored'])} ({percent(low)} to {percent(high)}) | {took(costs[name], 'seconds')} | {took(costs[name], 'cpu')} |")
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
    p.add_argument("--students", nargs="*", default=list(BEFORE), choices=BEFORE)
    p.add_argument("--seed", type=int, default=1, help="of the day and its problems, and of the first model")
    p.add_argument("--seeds", type=int, default=1, help="how many models, one a seed")
    p.add_argument("--shops", type=int, default=24, help="how many have products, 24 at most: each has 240")
    p.add_argument("--problems", type=int, default=400, help="the most unseen problems to play")
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--width", type=int, default=128)
    p.add_argument("--rollouts", type=int, default=100, help="training problems at which kept plays eight times, for rft")
    p.add_argument("--steps", type=int, default=200, help="steps of fine-tuning")
    p.add_argument("--kept-steps", type=int, default=60, help="those of kept: fewer, so that the stages after it have something to gain")
    p.add_argument("--more-steps", type=int, default=40, help="steps of rft")
    p.add_argument("--rl-steps", type=int, default=30, help="steps of grpo")
    p.add_argument("--rl-longest", type=int, default=512, help="tokens of an attempt of grpo at most")
    p.add_argument("--at-once", type=int, default=2, help="students trained at the same time")
    f = p.parse_args()
    os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
    began = time.monotonic()
    for seed in range(f.seed, f.seed + f.seeds):
        loop = Loop(f.output.resolve() / f"seed-{seed}", str(Path(f.arena).resolve()), str(Path(f.policy).resolve()), f, seed)
        found = loop.run()
        print(f"\n## Seed {seed}\n\n{table(found, {name: loop.cost(name) for name in found['solved']})}\n")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{(time.monotonic() - began) / 60:.1f} minutes, {(used.ru_utime + used.ru_stime) / 60:.1f} of CPU, load {os.getloadavg()[1]:.1f}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
