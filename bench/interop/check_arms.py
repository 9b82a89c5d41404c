"""Makes arms of two days by recipes/arms.py and checks what they promise: python check_arms.py ARENA DAY WORK.

DAY is a folder of traces; the second day is made by recipes/world.py. Checked are equal tokens, equal bytes for any order
of the attempts, the rule of each arm, that no arm but leak asks for an evaluation problem, and that rows become the
text that profile text has. Then the cost of steps, the bank of published problems,
and what the grammar of a required call lets through.
"""
import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

from llguidance import LLTokenizer

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
sys.path.insert(0, str(RECIPES))

from held import Held  # noqa: E402
from loop import Loop  # noqa: E402
from programs import table  # noqa: E402
from rows import as_text, one_call, text  # noqa: E402
from student import priced  # noqa: E402

LONGEST = 8192
ALWAYS = {"random", "kept", "scripted", "consistent", "no-thoughts", "scripted-no-thoughts"}
GRADED = {"grade", "grade-shuffled", "top-half", "top-half-shuffled"}


def arms(corpus: Path, day: Path, out: Path, *flags: str) -> dict:
    subprocess.run([sys.executable, RECIPES / "arms.py", corpus, day, out, *flags], check=True, stdout=subprocess.DEVNULL)
    return json.loads((out / "arms.json").read_text())


def rows(out: Path, name: str) -> list[dict]:
    with open(out / f"{name}.jsonl", encoding="utf-8") as lines:
        return list(map(json.loads, lines))


def size(row: dict) -> int:
    return len(text(row["messages"], row["tools"]).encode()) // 4


def request(row: dict) -> str:
    return next(m["content"] for m in row["messages"] if m["role"] == "user")


def is_text(corpus: Path, export: Path) -> int:
    """Checks that rows become the text of profile text, and returns how many there are."""
    want = {r["session_id"]: r["messages"] for r in table(str(export), "data/text/")}
    got = {r["session_id"]: as_text(list(map(json.loads, r["messages"])), list(map(json.loads, r["tools"]))) for r in table(str(corpus), "data/sft/")}
    assert got == want, "rows.py writes other text than profile text"
    return len(got)


def check(arena: str, day: Path, harness: str, work: Path) -> dict:
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    subprocess.run([arena, "build", day, "--set", f"harness={harness}", "--set", "guard.shares.eval=0.2", "--set", "guard.shares.never_touch=0", "-q", "-o", work / "corpus"], check=True)
    subprocess.run([arena, "export", work / "corpus", "--profile", "text", "-q", "-o", work / "text"], check=True)
    subprocess.run([arena, "convert", day, "--to", "openai", "-q", "-o", work / "day.jsonl"], check=True)
    backwards = (work / "day.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)[::-1]
    (work / "backwards.jsonl").write_text("".join(backwards), encoding="utf-8")

    count = is_text(work / "corpus", work / "text")
    told = arms(work / "corpus", work / "day.jsonl", work / "arms")
    arms(work / "corpus", work / "backwards.jsonl", work / "again")
    for file in sorted((work / "arms").iterdir()):
        assert file.read_bytes() == (work / "again" / file.name).read_bytes(), f"{file.name}: other bytes for another order"
    other = arms(work / "corpus", work / "day.jsonl", work / "other", "--seed", "2")
    assert other["arms"]["kept"]["sha256"] != told["arms"]["kept"]["sha256"] or other["arms"]["kept"]["rows"] == len(table(str(work / "corpus"), "data/sft/train"))

    two = arms(work / "corpus", work / "day.jsonl", work / "two", "--arms", "kept", "random")
    assert {"kept", "random"} <= two["arms"].keys(), two["not_made"]
    assert two["tokens"] in {two["arms"][name]["tokens"] for name in ("kept", "random")} and two["tokens"] >= told["tokens"], "not as many tokens as the smaller of two arms"

    none = arms(work / "corpus", work / "day.jsonl", work / "none", "--tokens", "400000000")
    assert not none["arms"] and none["not_made"].keys() == told["arms"].keys() | told["not_made"].keys(), f"made of too few tokens: {none['arms'].keys()}"

    made = {name: rows(work / "arms", name) for name in told["arms"]}
    assert ALWAYS <= made.keys(), f"not made: {ALWAYS - made.keys()}"
    assert not made.keys() & told["not_made"].keys()
    unseen = {r["prompt"][-1]["content"] for r in table(str(work / "corpus"), "data/rl/eval", "prompt")}
    kept = {json.dumps(list(map(json.loads, r["messages"]))) for r in table(str(work / "corpus"), "data/sft/train", "messages")}
    for name, found in made.items():
        total = sum(map(size, found))
        assert total == told["arms"][name]["tokens"] <= told["tokens"], f"{name}: {total} tokens"
        largest = max(map(size, found))
        assert told["tokens"] - total <= max(largest, LONGEST if len(found) < 20 else 0), f"{name}: {told['tokens'] - total} tokens are missing"
        leaked = [row for row in found if request(row) in unseen]
        assert bool(leaked) == (name == "leak"), f"{name}: {len(leaked)} rows ask for an evaluation problem"
        assert any(m.get("reasoning_content") for row in found for m in row["messages"]) != name.endswith("no-thoughts"), f"{name}: reasoning"
        if name in {"kept", "one-team"} | GRADED:
            assert all(json.dumps(row["messages"]) in kept for row in found), f"{name}: rows that are not the corpus's"
    if "leak" in made:
        share = sum(size(row) for row in made["leak"] if request(row) in unseen) / told["tokens"]
        assert 0 < share <= 0.0101, f"leak: {share:.2%}"
    return {"rows": count, "made": sorted(made), "not_made": told["not_made"], "tokens": {name: arm["tokens"] for name, arm in told["arms"].items()}}


def check_cost(work: Path) -> None:
    """The time of a step is noted, that of a killed one is a lower bound, and without a note nothing is known, which is no 0."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    loop = Loop(work, "", "", argparse.Namespace(), 1)
    assert loop.timed("one", [sys.executable, "-c", "sum(range(10_000_000))"]) == 0
    spent = loop.spent("one")
    assert spent and spent["cpu"] > 0 and spent["seconds"] > 0 and not spent["at_least"], spent
    assert loop.spent("one", "never made") is None
    loop.note({"made": "one", "begun": 1})  # a kill leaves no end
    assert loop.spent("one")["at_least"]
    known = {"seconds": 1800.0, "cpu": 60.0, "played": 5, "at_least": False}
    assert priced(None, 2.0) == priced(None, None) == ["?"] * 3
    assert priced(known, None) == ["1800", "5", "60"]
    assert priced(known, 2.0) == ["1800", "5", "1.0000"]
    assert priced(known | {"at_least": True}, 2.0) == ["at least 1800", "5", "at least 1.0000"]


def check_bank(work: Path) -> None:
    """A bank has each problem's product, and a twin that costs too much or too little for it."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    published = [{"query": "a lamp from 5 to 9", "reward": {"product_id": "1", "title": ["lamp"], "price": [{"between": [5, 9]}]}},
                 {"query": "a mug above 30", "reward": {"product_id": "2", "title": ["mug"], "price": [{"greater than": [30, None]}]}},
                 {"query": "any chair", "reward": {"product_id": "3", "title": ["chair"]}}]
    real = {"product_id": "4", "shop_id": "7", "title": "Green Tea Pot With Lid", "price": 20.0, "service": ["COD"], "attributes": {"brand": ["oem"]}, "sku_options": {}}
    for name, rows_ in (("published", published), ("real", [real])):
        (work / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows_))
    subprocess.run([sys.executable, RECIPES / "published.py", work / "bank", work / "published.jsonl", "--products", work / "real.jsonl"], check=True, stdout=subprocess.DEVNULL)
    problems, catalog = ([json.loads(line) for line in (work / "bank" / f"{name}.jsonl").read_text().splitlines()] for name in ("problems", "catalog"))
    assert {p["reward"]["product_id"] for p in problems} == {"1", "2", "4"}, problems
    for p in problems:
        (_, (low, high)), = p["reward"]["price"][0].items()
        twins = [d for d in catalog if d["title"] == p["reward"]["title"][0]]
        fits = {d["product_id"] for d in twins if (low or 0) <= d["price"] <= (high or d["price"])}
        assert len(twins) == 2 and fits == {p["reward"]["product_id"]}, twins
    assert real in catalog


def held(grammar: str, reply: str) -> str:
    """How much of a reply the grammar lets through, and "." where the reply may end there."""
    tokenizer = LLTokenizer("byte")
    to, said = Held(tokenizer, grammar), ""
    for token in tokenizer.tokenize_str(reply):
        if not to.allowed()[token]:
            return said
        to.took(token)
        said += tokenizer.decode_str([token])
    allowed = to.allowed()
    return said + "." * (allowed[tokenizer.eos_token] > 0 and sum(map(bool, allowed)) == 1)


def check_calls() -> None:
    """A reply is one call of a known tool with arguments of its schema. What a value says stays free."""
    words = {"type": "object", "properties": {"q": {"type": "string"}, "most": {"type": "integer"}}, "required": ["q"]}
    grammar = one_call([{"type": "function", "function": {"name": name, "parameters": parameters}} for name, parameters in (("find", words), ("end", {"type": "object", "properties": {}}))])

    def call(body: str) -> str:
        return f"<tool_call>\n{body}\n</tool_call>"

    for body in ('{"name":"find","arguments":{"q":"a \\"lamp\\" nobody sells"}}', '{"name":"find","arguments":{"q":"","most":12}}', '{"name":"end","arguments":{}}'):
        assert held(grammar, call(body)) == call(body) + ".", body
        again = as_text([{"role": "assistant", "tool_calls": [{"function": json.loads(body)}]}], [{}])[0]["content"]
        assert again == call(body), f"rows have {again}"
    for body, most in (('{"name":"buy","arguments":{}}', '{"name":"'), ('{"name":"find","arguments":{}}', '{"name":"find","arguments":{'), ('{"name":"end","arguments":{"q":1}}', '{"name":"end","arguments":{'),
                       ('{"name":"find","arguments":{"q":"a","most":"b"}}', '{"name":"find","arguments":{"q":"a","most":'), ("not a call", "")):
        assert held(grammar, call(body)) == "<tool_call>\n" + most, body
    assert held(grammar, "I think") == held(grammar, " <tool_call>") == ""
    assert held(grammar, call('{"name":"end","arguments":{}}') + "<tool_call>") == call('{"name":"end","arguments":{}}')


def main(arena: str, day: str, work: str) -> None:
    at = Path(work)
    check_cost(at / "cost")
    check_bank(at / "bank")
    check_calls()
    shutil.rmtree(at / "world", ignore_errors=True)
    subprocess.run([sys.executable, RECIPES / "world.py", at / "world", arena, "1", "4"], check=True)
    graded = check(arena, Path(day), "7-tool", at / "graded")
    assert GRADED <= set(graded["made"]), f"no arms by grade: {graded['not_made']}"
    alike = check(arena, at / "world", "short", at / "alike")
    assert GRADED <= alike["not_made"].keys(), "arms by grade of one grade"
    assert "leak" in alike["made"], alike["not_made"]
    for name, found in (("graded", graded), ("one grade", alike)):
        print(f"{name}: {found['rows']} rows as profile text has them; {len(found['made'])} arms of {min(found['tokens'].values())} to {max(found['tokens'].values())} tokens; not made: {', '.join(found['not_made']) or 'none'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
