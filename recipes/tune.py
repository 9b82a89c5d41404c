"""Trains a model on rows, with PyTorch alone: python tune.py MODEL ROWS OUT --objective sft|pref|steps [--rate R] [--tokens N].

ROWS is a file of JSON lines (messages, tools) or what a recipe wrote: sft, rft and teacher for sft, pref for pref, steps
for steps. The loss is on the model's own turns.

    sft    the likelihood of each turn
    pref   DPO: the chosen attempt's likelihood against the rejected one's, both measured against the model at the start
    steps  policy gradient on the student's own attempts: each turn counts by its reward to the attempt's end, less the
           mean of the problem's attempts

All weights are trained where the memory is enough for them and AdamW's two moments, and LoRA's where it is not. A
training that was killed goes on at its last checkpoint, OUT.work, with the same rows.
"""
import installed  # first: it says what is not installed
import argparse
import json
import os
import random
import shutil
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache

from rows import TURNS, as_text, rendered, shown, silent

GPU = torch.cuda.is_available()
DEVICE = "cuda" if GPU else "cpu"
BYTES = 16  # of memory for each weight that is trained: the weight, its gradient and two moments, 4 each
BETA = 0.1  # of DPO


def parsed(row: dict) -> dict:
    """The columns that corpora have as text, as values."""
    return {k: [json.loads(x) if isinstance(x, str) and k in ("messages", "tools") else x for x in v] if isinstance(v, list) else v for k, v in row.items()}


def read(rows: str, objective: str) -> list[dict]:
    """The training rows, each with messages and tools; those of pref have two lists of messages."""
    if rows.endswith(".jsonl"):
        with open(rows, encoding="utf-8") as lines:
            return list(map(json.loads, lines))
    from programs import table

    name = {"sft": "hf-json", "pref": "pref", "steps": "steps"}[objective]
    found = table(rows, f"data/{name}/train") or table(rows, f"data/{name.replace('hf-json', 'sft')}/train")
    return list(map(parsed, found))


class Words:
    """Turns rows into tokens, and marks which of them the model said, and in which turn."""

    def __init__(self, model: str, longest: int, example: Sequence[dict] = (), without: bool = False):
        self.tokenizer, self.longest, self.too_long = AutoTokenizer.from_pretrained(model), longest, 0
        self.example, self.said = example, silent if without else list

    def encoded(self, messages: list[dict], tools: list[dict]) -> tuple[list[int], list[int]] | None:
        """The tokens, and for each the number of its turn from 1, or 0 where nothing is learned. None for too long a row."""
        text = rendered(self.tokenizer, shown(as_text(self.said(messages), tools), self.example), [])
        given = self.tokenizer(text, return_offsets_mapping=True)
        ids, turns = given["input_ids"], [0] * len(given["input_ids"])
        if len(ids) > self.longest:
            self.too_long += 1
            return None
        of_example = sum(m["role"] == "assistant" for m in self.example)  # it is shown, not learned
        spans = [m.span(2) for m in TURNS.finditer(text)][of_example:]
        if not spans:
            raise SystemExit("the template does not write turns as <|im_start|>assistant: its turns cannot be marked")
        for i, (start, end) in enumerate(given["offset_mapping"]):
            for n, (first, last) in enumerate(spans, 1):
                if first <= start and end <= last and start < end:
                    turns[i] = n
        return ids, turns


def likelihoods(model, ids: list[int], turns: list[int]) -> torch.Tensor:
    """The logarithm of the likelihood of each token that the model said. Only their logits are computed: they are the greater part of the memory."""
    given, at = torch.tensor([ids], device=DEVICE), torch.tensor([i for i, turn in enumerate(turns) if turn > 0 and i > 0], device=DEVICE)
    logits = model(input_ids=given, logits_to_keep=at - 1).logits[0].float()
    return logits.log_softmax(-1).gather(1, given[0, at, None])[:, 0]


def sft(model, item: dict) -> torch.Tensor:
    return -likelihoods(model, *item["row"]).mean()


def sft_together(model, items: list[dict]) -> torch.Tensor:
    """The mean of the rows' losses of sft. What all rows begin with, such as the system's turn, is computed once, which changes nothing else."""
    rows = [item["row"] for item in items]
    n = beginning(rows)
    read = model(input_ids=torch.tensor([rows[0][0][:n]], device=DEVICE), use_cache=True, logits_to_keep=1).past_key_values
    layers, total = [(layer.keys, layer.values) for layer in read.layers], 0.0
    for ids, turns in rows:
        at = torch.tensor([i for i, turn in enumerate(turns) if turn > 0], device=DEVICE)
        logits = model(input_ids=torch.tensor([ids[n:]], device=DEVICE), past_key_values=DynamicCache(layers), use_cache=True, logits_to_keep=at - 1 - n).logits[0].float()
        total = total - logits.log_softmax(-1).gather(1, torch.tensor(ids, device=DEVICE)[at, None]).mean()
    return total / len(rows)


def beginning(rows: list[tuple[list[int], list[int]]]) -> int:
    """How many first tokens all rows share, none of which is learned or comes right before one that is."""
    n = 0
    while all(n + 1 < len(ids) and ids[n] == rows[0][0][n] and turns[n + 1] == 0 for ids, turns in rows):
        n += 1
    return n


def pref(model, item: dict) -> torch.Tensor:
    better = likelihoods(model, *item["chosen"]).sum() - likelihoods(model, *item["rejected"]).sum() - item["before"]
    return -torch.nn.functional.logsigmoid(BETA * better)


def steps(model, item: dict) -> torch.Tensor:
    ids, turns = item["row"]
    worth = torch.tensor([item["worth"].get(turn, 0.0) for turn in turns[1:] if turn > 0], device=DEVICE)
    return -(worth * likelihoods(model, ids, turns)).mean()


def returns(rewards: list[float]) -> list[float]:
    """What each step and those after it earned."""
    total, found = 0.0, []
    for reward in reversed(rewards):
        total += reward
        found.append(total)
    return found[::-1]


def items(rows: list[dict], words: Words, objective: str, model) -> list[dict]:
    if objective == "sft":
        return [{"row": row} for r in rows if (row := words.encoded(r["messages"], r["tools"]))]
    if objective == "pref":
        found = []
        for r in rows:
            chosen, rejected = (words.encoded(r["prompt"] + r[side], r.get("tools") or []) for side in ("chosen", "rejected"))
            if chosen and rejected:
                before = 0.0
                if model is not None:
                    with torch.no_grad():
                        before = float(likelihoods(model, *chosen).sum() - likelihoods(model, *rejected).sum())
                found.append({"row": (chosen[0] + rejected[0], []), "chosen": chosen, "rejected": rejected, "before": before})
        return found
    found, by_problem = [], defaultdict(list)
    for r in rows:
        if row := words.encoded(r["messages"], r.get("tools") or []):
            item = {"row": row, "returns": returns(list(r["step_rewards"])), "problem": r["problem_id"]}
            found.append(item)
            by_problem[item["problem"]].append(item["returns"][0])
    for item in found:
        mean = sum(by_problem[item["problem"]]) / len(by_problem[item["problem"]])
        item["worth"] = {turn: value - mean for turn, value in enumerate(item["returns"], 1)}  # turns without a label count nothing
    return found


def lora_needed(model) -> bool:
    need = BYTES * sum(p.numel() for p in model.parameters())
    free = torch.cuda.mem_get_info()[0] if GPU else os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 1.5 * need > free  # half as much again for activations


class Training:
    def __init__(self, a: argparse.Namespace):
        torch.manual_seed(a.seed)
        self.a, self.work = a, Path(a.out + ".work")
        self.words = Words(a.model, a.longest, json.loads(Path(a.example).read_text(encoding="utf-8")) if a.example else [], a.silent)
        self.model = AutoModelForCausalLM.from_pretrained(a.model, dtype=torch.float32).to(DEVICE)
        self.model.config.use_cache = False
        rows = read(a.rows, a.objective)
        self.rows = len(rows)
        self.items = items(rows, self.words, a.objective, self.model)
        random.Random(a.seed).shuffle(self.items)
        self.items = self.first(a.tokens) if a.tokens else self.items
        self.lora = a.lora == "yes" or a.lora == "auto" and lora_needed(self.model)
        if self.lora:
            from peft import LoraConfig, get_peft_model

            self.model = get_peft_model(self.model, LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"))
        if GPU:
            self.model.gradient_checkpointing_enable()
            self.model.enable_input_require_grads()
        self.trained = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(self.trained, lr=a.rate, weight_decay=0.0)
        self.done, self.losses, self.seconds = 0, [], 0.0

    def first(self, tokens: int) -> list[dict]:
        taken, total = [], 0
        for item in self.items:
            total += len(item["row"][0])
            if total > tokens:
                break
            taken.append(item)
        return taken

    def resume(self) -> None:
        saved = self.work / "checkpoint.pt"
        if not saved.exists():
            return
        state = torch.load(saved, map_location=DEVICE, weights_only=True)
        for p, old in zip(self.trained, state["weights"], strict=True):
            p.data.copy_(old)
        self.optimizer.load_state_dict(state["optimizer"])
        self.done, self.losses, self.seconds = state["done"], state["losses"], state["seconds"]

    def save(self) -> None:
        self.work.mkdir(parents=True, exist_ok=True)
        new = self.work / "checkpoint.new"
        torch.save({"weights": [p.data for p in self.trained], "optimizer": self.optimizer.state_dict(), "done": self.done, "losses": self.losses, "seconds": self.seconds}, new)
        new.rename(self.work / "checkpoint.pt")

    def run(self) -> None:
        a, loss_of = self.a, {"sft": sft, "pref": pref, "steps": steps}[self.a.objective]
        batches = [self.items[i : i + a.batch] for i in range(0, len(self.items), a.batch)] * a.epochs
        together = a.objective == "sft" and not GPU  # on a GPU, checkpoints of activations save its memory instead
        self.resume()
        self.model.train()
        saved = began = time.monotonic()
        before = self.seconds
        for n in range(self.done, len(batches)):
            share = (n + 1) / max(1, len(batches))
            self.optimizer.param_groups[0]["lr"] = a.rate * min(1, 10 * share, 5 * (1 - share) + 0.1)
            total = 0.0
            for part in [batches[n]] if together else [[item] for item in batches[n]]:
                with torch.autocast(DEVICE, torch.bfloat16, enabled=a.precision == "bfloat16"):
                    loss = sft_together(self.model, part) if together else loss_of(self.model, part[0]) / len(batches[n])
                loss.backward()
                total += float(loss.detach())
            torch.nn.utils.clip_grad_norm_(self.trained, 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.losses.append(round(total, 4))
            self.done = n + 1
            self.seconds = before + time.monotonic() - began
            if time.monotonic() - saved > a.save_every and self.done < len(batches):
                self.save()
                saved = time.monotonic()
        self.write()

    def write(self) -> None:
        a, out = self.a, Path(self.a.out + ".new")
        model = self.model.merge_and_unload() if self.lora else self.model
        model.config.use_cache = True
        model.save_pretrained(out)
        self.words.tokenizer.save_pretrained(out)
        told = {"objective": a.objective, "rows": len(self.items), "given": self.rows, "too_long": self.words.too_long, "tokens": a.epochs * sum(len(i["row"][0]) for i in self.items),
                "steps": self.done, "lora": self.lora, "rate": a.rate, "seed": a.seed, "precision": a.precision, "losses": self.losses, "seconds": round(self.seconds, 1), "device": torch.cuda.get_device_name() if GPU else "CPU"}
        (out / "stage.json").write_text(json.dumps(told) + "\n", encoding="utf-8")
        out.rename(a.out)
        shutil.rmtree(self.work, ignore_errors=True)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("rows")
    p.add_argument("out")
    p.add_argument("--objective", choices=("sft", "pref", "steps"), default="sft")
    p.add_argument("--rate", type=float, default=3e-4)
    p.add_argument("--batch", type=int, default=8, help="rows or pairs of a step")
    p.add_argument("--tokens", type=int, default=0, help="of the rows at most; all rows if 0")
    p.add_argument("--epochs", type=int, default=1)
    p.add_argument("--longest", type=int, default=8192, help="tokens of a row at most; longer ones are left out and counted")
    p.add_argument("--example", default="", help="file with the messages of a worked example, a JSON array, which stand before each row and are not learned")
    p.add_argument("--silent", action="store_true", help="train on rows without their reasoning")
    p.add_argument("--lora", choices=("auto", "yes", "no"), default="auto")
    p.add_argument("--precision", choices=("float32", "bfloat16"), default="bfloat16" if GPU else "float32", help="of the products of matrices; weights are float32")
    p.add_argument("--save-every", type=float, default=300, help="seconds between two checkpoints")
    p.add_argument("--seed", type=int, default=1)
    Training(p.parse_args()).run()


if __name__ == "__main__":
    main()
