"""Supervised fine-tuning over TRL: python sft.py MODEL ROWS OUT --steps N [--batch N] [--rate R] [--seed N] [--tokens-of CORPUS].

ROWS is what a recipe wrote (its config hf-json) or a file of JSON lines with messages and tools. The loss is on the assistant's
turns alone. With --tokens-of so many rows are taken, in their order, as have no more tokens than CORPUS has.
"""
import argparse
import itertools
import json
import os
import sys

import torch
from datasets import Dataset, load_dataset
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer

GPU = torch.cuda.is_available()


def read(rows: str) -> Dataset:
    if rows.endswith(".jsonl"):
        return load_dataset("json", data_files=rows, split="train")
    return load_dataset(rows, "hf-json", split="train").select_columns(["messages", "tools"])


def tokens(rows: Dataset, tokenizer: AutoTokenizer) -> list[int]:
    texts = [tokenizer.apply_chat_template(r["messages"], tools=r["tools"], tokenize=False) for r in rows]
    return [len(ids) for ids in tokenizer(texts)["input_ids"]]


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("rows")
    p.add_argument("out")
    p.add_argument("--steps", type=int, required=True)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--rate", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--tokens-of", default="")
    a = p.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(a.model)
    rows = read(a.rows)
    if a.tokens_of:
        most, sums = sum(tokens(read(a.tokens_of), tokenizer)), itertools.accumulate(tokens(rows, tokenizer))
        rows = rows.select(range(sum(total <= most for total in sums)))
    args = SFTConfig(
        output_dir=a.out + ".work", max_steps=a.steps, per_device_train_batch_size=a.batch, learning_rate=a.rate, warmup_steps=30,
        lr_scheduler_type="warmup_stable_decay", lr_scheduler_kwargs={"num_decay_steps": max(1, a.steps // 5)}, assistant_only_loss=True, max_length=None, seed=a.seed, save_strategy="no", report_to="none",
        use_cpu=not GPU, bf16=GPU, gradient_checkpointing=GPU,
        logging_steps=max(1, a.steps // 20), disable_tqdm=True)
    trainer = SFTTrainer(a.model, args=args, train_dataset=rows, processing_class=tokenizer)
    if os.path.isdir(a.rows):
        sys.path.insert(0, a.rows)
        from training_check import check
        check(trainer, rows)  # every row and every stop token is learned, or an error says what is not
    trainer.train()
    trainer.save_model(a.out)
    with open(os.path.join(a.out, "rows.json"), "w", encoding="utf-8") as file:
        json.dump({"rows": len(rows), "tokens": sum(tokens(rows, tokenizer))}, file)


if __name__ == "__main__":
    main()
