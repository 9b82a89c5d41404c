"""A real student on a real day, by one command: python student.py --model MODEL --arena ARENA -o WORK [--day DAY] [--held-out FILE].

MODEL is a folder of transformers or a name of the Hub. DAY is a folder of traces with problems.jsonl and catalog.jsonl;
without one, a small shop and its day are made (market.py), and a program stands for the teacher (teacher.py). Stages,
each from the student before it, each followed by an evaluation on unseen problems:

    base     the model as it is
    sft      fine-tuned on the rows that a build kept
    rft      its own successes and as many rows of the corpus
    teacher  the successes of a stronger model
    pref     DPO on a success and a failure at one problem
    steps    policy gradient on its own attempts: the teacher's choice of tools and the environment's reward

A stage for which the rollouts give no rows leaves the student as it was, and the table says so. With --arms, arms at
equal tokens (arms.py) are trained instead, each from the model, and compared as docs/measured/evidence.md plans.

With --example N, the base model and all students see the same N kept attempts before each dialogue: a small base model
else writes no call. With --calls required, the server lets no reply be anything but one call. With --bank NAME=FOLDER all play a second set of problems (published.py), held out of the build.

The table has the time of each stage, with its rollouts, the tokens of these, and its cost: USD with --hour-usd, else the
seconds of all processors, and a question mark if a step was made without a note.

Every step leaves what it made: the same command goes on after a kill, a training at its last checkpoint.
"""
import installed  # first: it says what is not installed
import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import plot
from arms import MOST, chance
from loop import HERE, Loop, address, percent, took
from programs import message
from programs import table as rows_of
from rows import as_text, one_call, silent

STAGES = ["sft", "rft", "teacher", "pref", "steps"]
# Each arm and what it is compared with.
AGAINST = {"random": "base", "kept": "random", "scripted": "kept", "grade": "kept", "grade-shuffled": "grade", "top-half": "top-half-shuffled",
           "top-half-shuffled": "kept", "consistent": "random", "one-team": "kept", "no-thoughts": "kept", "scripted-no-thoughts": "scripted",
           "rewritten": "scripted", "leak": "kept"}
RESULT = "<tool_response"  # what results begin with: small models that see an example write it in place of a call
EMPTY = "no row is left to train on"


@dataclass(frozen=True)
class Student(Loop):
    empty: set = field(default_factory=set)

    @property
    def common(self) -> Path:
        return self.work

    def served(self, model: Path | str | None) -> list[object]:
        f, at = self.flags, address()
        if model is None and f.teacher:
            return ["--endpoint", f.teacher, "--model", f.teacher_model, "-q"]
        if model is None:
            command = f"'{sys.executable}' '{HERE / 'teacher.py'}' --listen {at}"
        else:
            command = f.serve.format(python=f"'{sys.executable}'", here=HERE, model=f"'{model}'", listen=at, port=at.split(":")[1], example=self.example or "")
        return ["--serve", command, "--endpoint", f"http://{at}/v1", "--model", f.served_name or "student", "-q", "--concurrency", f.concurrency]

    def prepare(self) -> None:
        w, f = self.work, self.flags
        w.mkdir(parents=True, exist_ok=True)
        if not f.day:
            self.step(w / "day", self.python("market.py", "{new}", self.arena, f.day_seed, f.shops))
        files = [*f.held_out, *(folder / "problems.jsonl" for folder in self.banks.values())]
        held = [x for file in files for x in ("--held-out", file)]
        shares = ["--set", "guard.shares.eval=0.2", "--set", "guard.shares.never_touch=0"]
        self.step(w / "corpus", [self.arena, "build", self.day, "--set", f"harness={f.harness}", *shares, *held, "-q", "-o", w / "corpus"])
        with open(self.day / "problems.jsonl", encoding="utf-8") as lines:
            tasks = {json.loads(line)["problem_id"]: line for line in lines}
        for name, config, most in (("unseen", "data/rl/eval", f.problems), ("seen", "data/sft/train", f.rollouts)):
            ids = sorted({r["problem_id"] for r in rows_of(str(w / "corpus"), config, "problem_id")} & tasks.keys())
            (w / f"{name}.jsonl").write_text("".join(tasks[i] for i in ids[:most]), encoding="utf-8")
        if self.example:
            self.example.write_text(json.dumps(self.worked()), encoding="utf-8")

    @property
    def example(self) -> Path | None:
        return self.work / "example.json" if self.flags.example else None

    def worked(self) -> list[dict]:
        """Kept attempts of the shorter half, by chance, which the base model and all students see before each dialogue, in training and in evaluations."""
        rows = sorted(rows_of(str(self.work / "corpus"), "data/sft/train", "session_id", "messages", "tools"), key=lambda r: (len("".join(r["messages"])), r["session_id"]))
        chosen = sorted(rows[: (len(rows) + 1) // 2], key=lambda r: chance(0, r["session_id"]))[: self.flags.example]
        said = silent if self.flags.calls == "required" else list
        texts = [as_text(said(list(map(json.loads, row["messages"]))), list(map(json.loads, row["tools"]))) for row in chosen]
        return [m for text in texts for m in text if m["role"] != "system"]

    @property
    def banks(self) -> dict[str, Path]:
        """Further problems, each bank with a catalogue of its own, that students play and nothing is trained on."""
        return {name: Path(folder) for name, folder in (pair.split("=", 1) for pair in self.flags.bank)}

    @property
    def day(self) -> Path:
        return Path(self.flags.day) if self.flags.day else self.work / "day"

    def evaluate(self, name: str, model: Path | str) -> None:
        for problems in ("unseen", *self.banks):
            self.play(name, model, problems)

    def play(self, name: str, model: Path | str | None, problems: str = "unseen", *how: object) -> Path:
        f, run = self.flags, self.work / "runs" / f"{name}-{problems}"
        folder = self.banks.get(problems)
        asked = folder / "problems.jsonl" if folder else self.work / f"{problems}.jsonl"
        shop = ["--problems", asked, "--catalog", (folder or self.day) / "catalog.jsonl", "--harness", f.harness, "--dialect", "text", "--max-steps", f.max_steps]
        body = ({"bad_words": [RESULT]} if f.example else {}) | ({"tools_once": True} if f.example and f.once else {})
        body |= {"structured_outputs": {"grammar": self.grammar()}} if f.calls == "required" else {}
        words = ["--extra-body", json.dumps(body)] if body else []
        self.step(run / "summary.json", [self.arena, "eval", *self.served(model), *shop, *(how or ("--temperature", 0)), *words, "--timeout", f.timeout, "--judge", "none", "-o", run])
        return run

    def grammar(self) -> str:
        """Of replies that are one call: the tools are those of the corpus."""
        tools = rows_of(str(self.work / "corpus"), "data/sft/train", "tools")[0]["tools"]
        return one_call(list(map(json.loads, tools)))

    def recipe(self, name: str, *more: object) -> Path | None:
        """The rows of a stage, or nothing where the rollouts gave none."""
        out = self.work / "rows" / name
        why = out.with_name(name + ".empty")
        if out.exists() or why.exists():
            return out if out.exists() else None
        self.say(f"rows of {name}")
        out.parent.mkdir(parents=True, exist_ok=True)
        command = [self.arena, "recipe", name, "--corpus", self.work / "corpus", *more, "-q", "-o", out]
        said = out.with_name(name + ".said")
        with open(said, "w", encoding="utf-8") as log:
            code = self.timed(f"rows/{name}", list(map(str, command)), stdout=log, stderr=log)
        if code == 0:
            return out
        text = said.read_text(encoding="utf-8")
        if EMPTY not in text:
            sys.exit(f"{' '.join(map(str, command))} failed: {text}")
        why.write_text(text, encoding="utf-8")
        return None

    def dialogues(self, rows: Path, run: Path) -> Path:
        """The rows of recipe steps with the whole attempts, results included."""
        at, said = self.work / "rows/steps.jsonl", self.work / "rows/steps.openai.jsonl"
        if at.exists():
            return at
        self.step(said, [self.arena, "convert", run, "--to", "openai", "-q", "-o", said])
        with open(said, encoding="utf-8") as lines:
            attempts = {f"{a['eval_run_id']}/{a['problem_id']}": a for a in map(json.loads, lines)}
        example = rows_of(str(self.work / "corpus"), "data/sft/train")[0]
        system, tools = json.loads(example["messages"][0]), list(map(json.loads, example["tools"]))
        found = []
        for r in rows_of(str(rows), "data/stepwise/train"):
            a = attempts[r["session_id"]]
            messages = [system, *map(message, a["messages"])]
            while messages[-1]["role"] != "assistant":
                messages.pop()
            found.append({"messages": messages, "tools": tools, "step_rewards": list(r["step_rewards"]), "problem_id": a["problem_id"]})
        at.write_text("".join(json.dumps(r) + "\n" for r in found), encoding="utf-8")
        return at

    def shown(self) -> list[object]:
        return [*(["--example", self.example] if self.example else []), *["--silent"] * (self.flags.calls == "required")]

    def tune(self, name: str, start: Path | str, rows: Path, objective: str, rate: float, *more: object) -> Path:
        f, model = self.flags, self.work / "students" / name
        self.step(model, self.python("tune.py", start, rows, model, "--objective", objective, "--rate", rate, "--batch", f.batch, "--longest", f.longest,
                                     "--lora", f.lora, "--seed", self.seed, *(["--precision", f.precision] if f.precision else []), *self.shown(), *more))
        return model

    def stages(self) -> list[str]:
        f, w = self.flags, self.work
        model: Path | str = f.model
        tokens = f.tokens or MOST
        self.evaluate("base", model)
        shop = ["--catalog", self.day / "catalog.jsonl"]
        sampled = ("-k", f.samples, "--temperature", 1)
        for name in f.stages:
            run: Path | None = None
            if name in ("rft", "pref", "steps"):  # on what the student of the stage before does
                run = self.play("before-" + name, model, "seen", *sampled)
            teacher = self.play("teacher-plays", None, "seen", "--temperature", 0) if name in ("teacher", "steps") else None
            match name:
                case "sft":
                    rows, kind, rate = self.recipe("sft"), "sft", f.rate
                case "rft":
                    rows, kind, rate = self.recipe("rft", *shop, "--run", run), "sft", f.rate / 3
                case "teacher":
                    rows, kind, rate = self.recipe("teacher", *shop, "--run", teacher), "sft", f.rate / 3
                case "pref":
                    rows, kind, rate = self.recipe("pref", *shop, "--run", run), "pref", f.rate / 30
                case "steps":
                    rows, kind, rate = self.recipe("steps", *shop, "--run", run, "--teacher", teacher), "steps", f.rate / 30
                    if rows:
                        rows = self.dialogues(rows, run)
            if rows is None:
                self.empty.add(name)
            else:
                model = self.tune(name, model, rows, kind, rate, "--tokens", tokens)
            self.evaluate(name, model)
        return ["base", *f.stages]

    def arms(self) -> list[str]:
        f, w = self.flags, self.work
        self.step(w / "day.openai.jsonl", [self.arena, "convert", self.day, "--to", "openai", "-q", "-o", w / "day.openai.jsonl"])
        self.step(w / "arms", self.python("arms.py", w / "corpus", w / "day.openai.jsonl", "{new}", "--tokens", f.tokens, "--tokenizer", f.model, "--longest", f.longest, "--seed", self.seed,
                                           "--arms", *f.arms, "--rows", *f.rows, *self.shown()))
        missing = self.not_made()
        names = [name for name in f.arms if name not in missing]
        if not names:
            sys.exit("\n".join(["no arm can be made", *(f"{name}: {why}" for name, why in missing.items())]))
        for name in names:
            self.evaluate(name, self.tune(name, f.model, w / "arms" / f"{name}.jsonl", "sft", f.rate))
            self.report(names[: names.index(name) + 1])  # what is there, should there be no next one
        self.evaluate("base", f.model)  # last: where the time is short, the arms are what is asked about
        return ["base", *names]

    def not_made(self) -> dict[str, str]:
        """The arms that were asked for and cannot be made of this day, and why."""
        if not self.flags.arms:
            return {}
        told = json.loads((self.work / "arms/arms.json").read_text())
        return {name: told["not_made"].get(name, "the day has no rows for it; --rows names rows of your own") for name in self.flags.arms if name not in told["arms"]}

    def cost(self, name: str) -> dict | None:
        """What a stage took: its rollouts, its training and its evaluations. Nothing is known of steps that were made without a note."""
        runs = [f"runs/before-{name}-seen", f"runs/{name}-unseen", *(f"runs/{name}-{bank}" for bank in self.banks)]
        runs += ["runs/teacher-plays-seen"] * (name == next((s for s in self.flags.stages if s in ("teacher", "steps")), "") and not self.flags.arms)
        runs = [run for run in runs if (self.work / run).exists()]
        told = [json.loads((self.work / run / "summary.json").read_text())["tokens"] for run in runs]
        spent = self.spent(*(f"{run}/summary.json" for run in runs), *([f"students/{name}"] if (self.work / "students" / name).exists() else []))
        return spent and spent | {"played": sum(t["prompt"] + t["completion"] for t in told)}

    def found(self, names: list[str], problems: str) -> list[dict]:
        found: list[dict] = []
        for before, name in zip(["", *names], names):
            summary = json.loads((self.work / "runs" / f"{name}-{problems}/summary.json").read_text())
            row = {"student": name, "problems": summary["problems"], "solved": summary["successes"], "wilson95": summary["wilson95_by_problem"], "coverage": summary["coverage"],
                   "cost": self.cost(name)}
            trained = self.work / "students" / name / "stage.json"
            if trained.exists():
                row["training"] = json.loads(trained.read_text())
            row["against"] = [self.compared(b, name, problems) for b in self.against(name, before) if b in names]
            found.append(row)
        return found

    def against(self, name: str, before: str) -> list[str]:
        """What a student is compared with: the stage before, or what the plan says of the arm, and with an example the base model, which then solves some."""
        if name == "base":
            return []
        first = AGAINST[name] if self.flags.arms else before
        return [first, *["base"] * (self.flags.example > 0 and first != "base")]

    def compared(self, other: str, name: str, problems: str) -> dict:
        pair = [self.work / "runs" / f"{n}-{problems}" for n in (other, name)]
        told = json.loads(subprocess.run([self.arena, "compare", *pair, "--json"], check=True, capture_output=True, text=True).stdout)
        return {"student": other} | {k: told[k] for k in ("problems", "difference", "ci95", "p", "mde80")}

    def report(self, names: list[str]) -> str:
        """The table of each set of problems, which is also written as figures.json and figures.md, and with the name of a bank."""
        texts = []
        for problems in ("unseen", *self.banks):
            found, name = self.found(names, problems), "figures" + f"-{problems}" * (problems != "unseen")
            (self.work / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
            text = "\n".join([table(found, self.empty, self.flags.hour_usd), *(f"\n{name} is not made: {why}" for name, why in self.not_made().items())])
            (self.work / f"{name}.md").write_text(text + "\n")
            (self.work / f"{name}.svg").write_text(plot.bars(found))
            texts.append(f"{problems}\n\n{text}" if self.banks else text)
        return "\n\n".join(texts)


def priced(cost: dict | None, hour_usd: float | None) -> list[str]:
    """The time, the tokens of rollouts and the cost of a stage. What is not known is a question mark."""
    if not cost:
        return ["?"] * 3
    money = took(cost, "cpu") if hour_usd is None else "at least " * cost["at_least"] + f"{cost['seconds'] / 3600 * hour_usd:.4f}"
    return [took(cost, "seconds"), str(cost["played"]), money]


def table(found: list[dict], empty: set, hour_usd: float | None) -> str:
    """One line for each comparison of a student. Without a price of an hour the cost is the seconds of all processors."""
    lines = [f"| student | rows | tokens | training, s | all, s | tokens played | {'CPU, s' if hour_usd is None else 'USD'} | solved | of | % (95 %) | compared with | points (95 %) | detects | |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---|---|---:|---|"]
    for r in found:
        t = r.get("training", {})
        low, high = (percent(x) for x in r["wilson95"])
        cells = [r["student"], t.get("rows", "none" if r["student"] in empty else ""), t.get("tokens", ""), t.get("seconds", ""), *priced(r["cost"], hour_usd),
                 r["solved"], r["problems"], f"{percent(r['solved'] / r['problems'])} ({low} to {high})"]
        for a in r["against"] or [None]:
            lines.append("| " + " | ".join(map(str, [*cells, *difference(a)])) + " |")
            cells = [r["student"]] + [""] * (len(cells) - 1)
    return "\n".join(lines)


def difference(a: dict | None) -> list[str]:
    if not a:
        return [""] * 4
    interval = a["ci95"]
    shown = interval and (interval[0] > 0 or interval[1] < 0)
    between = "no interval" if not interval else f"{percent(interval[0])} to {percent(interval[1])}"
    return [a["student"], f"{percent(a['difference'])} ({between})", percent(a["mde80"]), "shown" if shown else "not shown"]


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-o", "--output", type=Path, required=True)
    p.add_argument("--model", required=True, help="folder or name of the model")
    p.add_argument("--arena", required=True, help="the program")
    p.add_argument("--day", default="", help="folder with traces, problems.jsonl and catalog.jsonl")
    p.add_argument("--held-out", nargs="*", default=[], help="files of problems that nothing may be trained on")
    p.add_argument("--stages", nargs="*", default=STAGES, choices=STAGES)
    p.add_argument("--arms", nargs="*", default=[], choices=AGAINST, help="arms to train instead of the stages, in this order")
    p.add_argument("--rows", nargs="*", default=[], metavar="ARM=FILE", help="rows of another arm, as JSON lines with messages and tools")
    p.add_argument("--teacher", default="", help="address of a stronger model, ending in /v1; its key is in OPENAI_API_KEY")
    p.add_argument("--teacher-model", default="teacher")
    p.add_argument("--serve", default="{python} '{here}/serve.py' {model} --listen {listen} --longest 112 --precision float32 --example '{example}'",
                   help="command that serves a student; vllm serve {model} --port {port} is faster on a GPU. With --example it must show {example}, a file of messages")
    p.add_argument("--example", nargs="?", type=int, const=1, default=0, metavar="N", help="show the base model and all students the same N worked examples before each dialogue, in training too")
    p.add_argument("--once", action="store_true", help="with --example and serve.py, no reply may call a tool that its dialogue has called: a small model else repeats its search")
    p.add_argument("--calls", choices=("free", "required"), default="free", help="required: each reply is one call of a tool with arguments of its schema and any values, and nothing else, by structured_outputs "
                   "in the request, which serve.py and vLLM read; so does vLLM's tool_choice required. Rows and examples then have no reasoning")
    p.add_argument("--bank", nargs="*", default=[], metavar="NAME=FOLDER", help="folders of problems.jsonl and catalog.jsonl that all students play too, and that nothing is trained on")
    p.add_argument("--hour-usd", type=float, help="price of the machine for an hour; without one the table has the seconds of its processors")
    p.add_argument("--served-name", default="", help="the name by which the server knows its model, if it checks it")
    p.add_argument("--harness", default="", help="by default short for the day that is made, and 7-tool for another")
    p.add_argument("--shops", type=int, default=4, help="of the day that is made: 320 products each")
    p.add_argument("--problems", type=int, default=400, help="the most unseen problems to play")
    p.add_argument("--rollouts", type=int, default=100, help="training problems at which students play")
    p.add_argument("--samples", type=int, default=8, help="attempts at each")
    p.add_argument("--max-steps", type=int, default=6)
    p.add_argument("--concurrency", type=int, default=32)
    p.add_argument("--timeout", default="2h", help="for one reply: on a CPU, replies of one batch end together")
    p.add_argument("--tokens", type=int, default=0, help=f"of a stage at most, by default {MOST}; of each arm, by default as many as the smallest of --arms has, and at most {MOST}")
    p.add_argument("--rate", type=float, default=3e-4, help="of sft; rft and teacher take a third, pref and steps a thirtieth")
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--longest", type=int, default=8192)
    p.add_argument("--precision", choices=("float32", "bfloat16"), help="of training; by default bfloat16 on a GPU and float32 on a CPU")
    p.add_argument("--lora", choices=("auto", "yes", "no"), default="auto", help="auto: if the memory is not enough for all weights")
    p.add_argument("--day-seed", type=int, default=1, help="of the day that is made")
    p.add_argument("--seed", type=int, default=1, help="of the selection and the order of rows")
    f = p.parse_args()
    os.environ |= {"TOKENIZERS_PARALLELISM": "false"}
    if Path(f.model).is_dir():
        f.model = str(Path(f.model).resolve())
        os.environ["HF_HUB_OFFLINE"] = "1"
    if f.example and "{example}" not in f.serve:
        p.error("with --example, --serve needs {example}: serve.py --example '{example}' shows it")
    f.harness = f.harness or ("7-tool" if f.day else "short")
    began = time.monotonic()
    student = Student(f.output.resolve(), str(Path(f.arena).resolve()), "", f, f.seed)
    student.prepare()
    names = student.arms() if f.arms else student.stages()
    print(f"\n{student.report(names)}\n\n{(time.monotonic() - began) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
