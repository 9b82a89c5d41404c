"""Supervised fine-tuning over TRL: python sft.py MODEL ROWS OUT --steps N --rate R [--tokens-of CORPUS].

ROWS is what a recipe wrote (its config hf-json: sft, rft, rewrite) or a file of JSON lines with messages and tools. The
loss is on the assistant's turns alone. With --tokens-of so many rows are taken, in their order, as have no more tokens
than the rows of CORPUS.
"""
import installed  # first: it says what is not installed
import itertools

from datasets import Dataset, load_dataset
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer

from stage import flags, settings, train


def read(rows: str) -> Dataset:
    if rows.endswith(".jsonl"):
        return load_dataset("json", data_files=rows, split="train")
    return load_dataset(rows, "hf-json", split="train").select_columns(["messages", "tools"])


def tokens(rows: Dataset, tokenizer: AutoTokenizer) -> list[int]:
    texts = [tokenizer.apply_chat_template(r["messages"], tools=r["tools"], tokenize=False) for r in rows]
    return [len(ids) for ids in tokenizer(texts)["input_ids"]]


def main() -> None:
    p = flags(__doc__, batch=16)
    p.add_argument("--tokens-of", default="")
    a = p.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(a.model)
    rows = read(a.rows)
    if a.tokens_of:
        most, sums = sum(tokens(read(a.tokens_of), tokenizer)), itertools.accumulate(tokens(rows, tokenizer))
        rows = rows.select(range(sum(total <= most for total in sums)))
    args = SFTConfig(assistant_only_loss=True, max_length=None, **settings(a))
    trainer = SFTTrainer(a.model, args=args, train_dataset=rows, processing_class=tokenizer)
    train(trainer, a, rows, tokens=sum(tokens(rows, tokenizer)))


if __name__ == "__main__":
    main()
