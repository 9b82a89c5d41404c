"""Arms of training rows at equal tokens, of any corpus and its day: python arms.py CORPUS DAY.jsonl OUT [--tokens N] [--seed S].

CORPUS is what `arena build DAY` wrote, and DAY.jsonl what `arena convert DAY --to openai` wrote. All rows but those of
leak are of the corpus's training problems. A row has one place in the order of all arms, by the hash of its attempt and
the seed, so that two arms differ by their rule and not by their dice. Attempts that the corpus has no row of are not
redacted.

    random                successes, without filter and judge
    kept                  rows of the corpus
    scripted              successes that the filter calls scripted
    grade                 kept, drawn with the grade as weight
    grade-shuffled        the same, grades permuted among the rows
    top-half              the half of kept with the higher grades
    top-half-shuffled     the same, grades permuted
    consistent            attempts that end as most attempts at the problem do, whatever their outcome
    one-team              kept of the agent that has the most tokens
    no-thoughts           kept without reasoning
    scripted-no-thoughts  scripted without reasoning
    leak                  kept, with attempts at evaluation problems for 1 % of the tokens

OUT/ARM.jsonl has the rows, with messages and tools. OUT/arms.json has their numbers, and why an arm was not made.
"""
import installed  # first: it says what is not installed
import argparse
import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from programs import message, table
from rows import as_text, shown, silent, text

LEAK = 0.01  # share of the tokens
MOST = 400_000  # tokens of an arm, if none are asked for: as many as docs/measured/evidence.md plans


@dataclass(frozen=True)
class Row:
    id: str
    problem: str
    agent: str
    messages: list
    tools: list
    grade: float | None = None

    def line(self) -> str:
        return json.dumps({"messages": self.messages, "tools": self.tools}, ensure_ascii=False) + "\n"


def chance(seed: int, what: str) -> float:
    """A number above 0 and below 1, the same in every arm."""
    digest = hashlib.sha256(f"{seed}/{what}".encode()).digest()
    return (int.from_bytes(digest[:6], "big") + 0.5) / 2**48


class Day:
    """The rows that arms are made of."""

    def __init__(self, corpus: str, day: str):
        self.agents = {r["trace_id"]: r["agent_version"] or r["agent_hotkey"] or r["eval_run_id"]
                       for r in table(corpus, "tables/attempts", "trace_id", "agent_version", "agent_hotkey", "eval_run_id")}
        self.kept = self.of_corpus(corpus, "train")
        self.unseen = self.of_corpus(corpus, "eval")
        if not self.kept:
            raise SystemExit(f"{corpus} has no training rows")
        train = {r["problem_id"] for r in table(corpus, "data/rl/train", "problem_id")}
        self.scripted_ids = {r["trace_id"] for r in table(corpus, "tables/verdicts", "trace_id", "axis") if r["axis"] == "scripted"}
        self.solved = {r["trace_id"] for r in table(corpus, "tables/outcomes", "trace_id", "success") if r["success"]}
        with open(day, encoding="utf-8") as lines:
            attempts = (self.attempt(json.loads(line)) for line in lines)
            rows = {row.id: row for row in self.kept}
            self.all = [rows.get(row.id, row) for row in attempts if row.problem in train and row.messages]  # without a reply, no message is left

    def of_corpus(self, corpus: str, split: str) -> list[Row]:
        columns = "session_id", "problem_id", "messages", "tools", "judge_score"
        return [Row(r["session_id"], r["problem_id"], self.agents.get(r["session_id"], ""), list(map(json.loads, r["messages"])), list(map(json.loads, r["tools"])), r["judge_score"])
                for r in table(corpus, f"data/sft/{split}", *columns)]

    def attempt(self, a: dict) -> Row:
        system = [m for m in self.kept[0].messages[:1] if m["role"] == "system"]
        messages = system + [message(m) for m in a["messages"] if m["role"] != "system"]
        while messages and messages[-1]["role"] != "assistant":
            messages.pop()
        id = f"{a['eval_run_id']}/{a['problem_id']}"
        return Row(id, a["problem_id"], self.agents.get(id, ""), messages, self.kept[0].tools)


def ending(row: Row) -> str:
    """The last call but the one that ends the attempt."""
    calls = [c["function"] for m in row.messages for c in m.get("tool_calls") or []]
    calls = [c for c in calls if c["name"] != "terminate"]
    return json.dumps(calls[-1], sort_keys=True) if calls else ""


def consistent(rows: list[Row]) -> list[Row]:
    endings: dict[str, Counter] = defaultdict(Counter)
    for row in rows:
        if end := ending(row):
            endings[row.problem][end] += 1
    most = {problem: count.most_common(1)[0] for problem, count in endings.items()}
    return [row for row in rows if row.problem in most and ending(row) == most[row.problem][0] and 2 * most[row.problem][1] > endings[row.problem].total()]


def unthought(rows: Iterable[Row]) -> list[Row]:
    return [replace(row, messages=silent(row.messages)) for row in rows]


class Arms:
    def __init__(self, day: Day, seed: int, tokens: Callable[[Row], int]):
        self.day, self.seed, self.tokens = day, seed, tokens
        self.why: dict[str, str] = {}

    def drawn(self, rows: Iterable[Row], weight: Callable[[Row], float] = lambda row: 1) -> list[Row]:
        """The rows in the order in which they are taken: one of twice the weight is first twice as often."""
        return sorted(rows, key=lambda row: (-math.log(chance(self.seed, row.id)) / weight(row), row.id))

    def one_team(self) -> list[Row]:
        size: Counter = Counter()
        for row in self.day.kept:
            size[row.agent] += self.tokens(row)
        if len(size) < 2:
            return []
        team = max(sorted(size), key=lambda agent: size[agent])
        return [row for row in self.day.kept if row.agent == team]

    def graded(self) -> dict[str, list[Row]]:
        rows = [row for row in self.day.kept if row.grade is not None and row.grade > 0]
        if len({row.grade for row in rows}) < 2:
            return {}
        grades = [row.grade for row in sorted(rows, key=lambda row: chance(self.seed, "grade of " + row.id))]
        shuffled = {row.id: grade for row, grade in zip(sorted(rows, key=lambda row: row.id), grades)}
        by = {"": lambda row: row.grade, "-shuffled": lambda row: shuffled[row.id]}
        found = {"grade" + name: self.drawn(rows, grade) for name, grade in by.items()}
        for name, grade in by.items():
            half = sorted(rows, key=lambda row: (-grade(row), chance(self.seed, row.id)))[: len(rows) // 2]
            found["top-half" + name] = self.drawn(half)
        return found

    def pools(self) -> dict[str, list[Row]]:
        """The rows of each arm, in the order in which they are taken. An arm without rows is not made."""
        d = self.day
        scripted = self.drawn(row for row in d.all if row.id in d.solved & d.scripted_ids)
        found = {
            "random": self.drawn(row for row in d.all if row.id in d.solved),
            "kept": self.drawn(d.kept),
            "scripted": scripted,
            "consistent": self.drawn(consistent(d.all)),
            "one-team": self.drawn(self.one_team()),
            "no-thoughts": unthought(self.drawn(d.kept)),
            "scripted-no-thoughts": unthought(scripted),
            **self.graded(),
        }
        self.why |= {name: "the kept rows have fewer than two grades above 0" for name in ("grade", "grade-shuffled", "top-half", "top-half-shuffled")}
        self.why |= {"one-team": "one agent has all kept rows"}
        return {name: rows for name, rows in found.items() if rows}

    def take(self, rows: list[Row], most: int) -> list[Row]:
        """The rows, in their order, that still fit into so many tokens."""
        taken, total = [], 0
        for row in rows:
            if total + self.tokens(row) <= most:
                total += self.tokens(row)
                taken.append(row)
        return taken

    def leak(self, most: int) -> list[Row]:
        planted = self.take(self.drawn(self.day.unseen), round(LEAK * most))
        if not planted:
            return []
        rest = self.take(self.drawn(self.day.kept), most - sum(map(self.tokens, planted)))
        return self.drawn([*planted, *rest])


def counter(tokenizer: str, example: Sequence[dict] = ()) -> Callable[[Row], int]:
    """The tokens of a row and of the example before it: the model's, or a quarter of the bytes of its text."""
    def given(row: Row) -> list[dict]:
        return shown(as_text(row.messages, row.tools), example)

    if not tokenizer:
        return lambda row: len(text(given(row), []).encode()) // 4
    from transformers import AutoTokenizer

    from rows import rendered

    words = AutoTokenizer.from_pretrained(tokenizer)
    return lambda row: len(words(rendered(words, given(row), []))["input_ids"])


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("corpus")
    p.add_argument("day")
    p.add_argument("out", type=Path)
    p.add_argument("--tokens", type=int, default=0, help=f"of each arm; if 0, as many as the smallest of --arms has, and at most {MOST}")
    p.add_argument("--arms", nargs="*", default=[], metavar="ARM", help="the arms that are asked for, by default all; others are made where they have as many tokens")
    p.add_argument("--tokenizer", default="", help="the model that counts tokens; without it a quarter of the bytes counts")
    p.add_argument("--longest", type=int, default=8192, help="tokens of a row at most")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--example", default="", help="file with the messages of a worked example, a JSON array, which stand before each row")
    p.add_argument("--silent", action="store_true", help="rows without reasoning, in all arms")
    p.add_argument("--rows", nargs="*", default=[], metavar="ARM=FILE", help="rows of another arm, as JSON lines with messages and tools")
    a = p.parse_args()
    count, sizes = counter(a.tokenizer, json.loads(Path(a.example).read_text(encoding="utf-8")) if a.example else []), {}

    def tokens(row: Row) -> int:
        if id(row) not in sizes:
            sizes[id(row)] = row, count(row)  # the row is held, so that its id stays its own
        return sizes[id(row)][1]

    def fit(rows: list[Row]) -> list[Row]:
        short = [row for row in rows if tokens(row) <= a.longest]
        told["too_long"] += len(rows) - len(short)
        return short

    told: dict = {"seed": a.seed, "tokenizer": Path(a.tokenizer).name or "bytes / 4", "too_long": 0}
    day = Day(a.corpus, a.day)
    if a.silent:
        day.kept, day.unseen, day.all = map(unthought, (day.kept, day.unseen, day.all))
    day.kept, day.unseen, day.all = fit(day.kept), fit(day.unseen), fit(day.all)
    arms = Arms(day, a.seed, tokens)
    pools = arms.pools()
    if not pools:
        raise SystemExit(f"every row has more than {a.longest} tokens")
    for name, file in (pair.split("=", 1) for pair in a.rows):
        with open(file, encoding="utf-8") as lines:
            given = [json.loads(line) for line in lines]
        made_rows = [Row(f"{name}/{n}", "", "", r["messages"], r["tools"]) for n, r in enumerate(given)]
        pools[name] = arms.drawn(fit(unthought(made_rows) if a.silent else made_rows))
    have = {name: sum(map(tokens, rows)) for name, rows in pools.items()}
    asked = [have[name] for name in a.arms if name in have] or have.values()
    most = a.tokens or min(MOST, *asked)
    for name in have:
        if have[name] < most:
            arms.why[name] = f"it has {have[name]} tokens, and an arm has {most}"
    made = {name: arms.take(rows, most) for name, rows in pools.items() if have[name] >= most}
    if have.get("kept", 0) < most:
        arms.why["leak"] = f"kept has {have.get('kept', 0)} tokens, and an arm has {most}"
    elif leak := arms.leak(most):
        made["leak"] = leak
    else:
        arms.why["leak"] = f"{LEAK:.0%} of {most} tokens is less than the first row of the evaluation split"
    a.out.mkdir(parents=True, exist_ok=True)
    for name, rows in made.items():
        (a.out / f"{name}.jsonl").write_text("".join(map(Row.line, rows)), encoding="utf-8")
    def shared(rows: list[Row], other: str) -> int:
        """How many rows another arm has too: arms of nearly the same rows cannot differ."""
        return len(set(map(Row.line, rows)) & set(map(Row.line, made.get(other, []))))

    told |= {
        "tokens": most,
        "arms": {name: {"rows": len(rows), "tokens": sum(map(tokens, rows)), "problems": len({row.problem for row in rows}), "agents": len({row.agent for row in rows}),
                        "in_kept": shared(rows, "kept"), "in_random": shared(rows, "random"),
                        "sha256": hashlib.sha256((a.out / f"{name}.jsonl").read_bytes()).hexdigest()} for name, rows in sorted(made.items())},
        "not_made": {name: why for name, why in sorted(arms.why.items()) if name not in made},
    }
    (a.out / "arms.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    for name, arm in told["arms"].items():
        print(f"{name}: {arm['rows']} rows, {arm['tokens']} tokens; {arm['in_kept']} rows are in kept, {arm['in_random']} in random")
    for name, why in told["not_made"].items():
        print(f"{name}: not made: {why}")


if __name__ == "__main__":
    main()
