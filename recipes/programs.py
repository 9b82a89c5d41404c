"""The rows of the control: python programs.py DAY.jsonl CORPUS OUT.

DAY.jsonl is what `arena convert DAY --to openai` wrote. Taken are attempts that the corpus's ledger calls scripted and
solved, at its training problems: what the filter left out. They are rendered as the corpus's own rows are.
"""
import installed  # first: it says what is not installed
import json
import sys
from pathlib import Path

import pyarrow.parquet as parquet


def table(corpus: str, name: str, *columns: str) -> list[dict]:
    """The rows of tables/NAME.parquet, or of all shards of data/NAME."""
    files = sorted(Path(corpus).glob(name + "*.parquet"))
    return [row for file in files for row in parquet.read_table(file, columns=list(columns) or None).to_pylist()]


def message(m: dict) -> dict:
    if m["role"] == "tool":
        return {"role": "tool", "tool_call_id": m["tool_call_id"], "content": compact(m["content"])}
    if m["role"] != "assistant":
        return {"role": m["role"], "content": m["content"]}
    calls = [{**c, "function": {**c["function"], "arguments": json.loads(c["function"]["arguments"])}} for c in m.get("tool_calls") or []]
    thought = m.get("reasoning_content") or ""
    text = "" if thought or calls else m["content"]  # otherwise the content repeats thought and calls as tags
    return {"role": "assistant", "content": text, "reasoning_content": thought, "tool_calls": calls}


def compact(text: str) -> str:
    """JSON without blanks, as corpora have results; other text as it is."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    except ValueError:
        return text


def main(day: str, corpus: str, out: str) -> None:
    example = table(corpus, "data/sft/train")[0]
    system, tools = json.loads(example["messages"][0]), [json.loads(t) for t in example["tools"]]
    train = {r["problem_id"] for r in table(corpus, "data/rl/train", "problem_id")}
    scripted = {r["trace_id"] for r in table(corpus, "tables/verdicts", "trace_id", "axis") if r["axis"] == "scripted"}
    solved = {r["trace_id"] for r in table(corpus, "tables/outcomes", "trace_id", "success") if r["success"]}
    with open(day, encoding="utf-8") as lines, open(out, "w", encoding="utf-8") as rows:
        for attempt in map(json.loads, lines):
            if attempt["problem_id"] in train and f"{attempt['eval_run_id']}/{attempt['problem_id']}" in scripted & solved:
                messages = [system, *map(message, attempt["messages"])]
                while messages[-1]["role"] == "tool":  # corpora end with the last turn
                    messages.pop()
                row = {"messages": messages, "tools": tools}
                rows.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
