"""Checks recipes/unseen.py on attempts and a model that are made here: python check_unseen.py ARENA WORK.

Solved attempts end with one word and failed ones with another, so a student that was trained on solved attempts must have
a lower loss on solved attempts at unseen tasks. Also checked are equal tokens, the outcomes in each arm, that tasks of one
customer stay together, the loss of a model that knows nothing, and the same results after a kill.
"""
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
sys.path.insert(0, str(RECIPES))

from unseen import attempts, interval, unseen  # noqa: E402

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
THINGS = "kettle ladder violin tent globe saddle anvil canoe lantern compass easel harp sledge trowel hammock loom mortar kite bellows spindle sextant rope drum oven".split()


def write_attempts(file: Path) -> None:
    """Four attempts at each task, two of them solved. Two tasks have one customer."""
    with open(file, "w", encoding="utf-8") as out:
        for task, thing in enumerate(THINGS):
            for trial in range(4):
                ending = "It goes back today, and the money too." if trial % 2 else "No."
                turns = [("system", "Help the customers."), ("user", f"I am ann_lee_{1000 + task // 2}. My {thing} is broken."), ("assistant", f"Where is the {thing} from?"), ("user", f"Order {task}{trial}."), ("assistant", ending)]
                traj = [{"role": role, "content": content} for role, content in turns]
                out.write(json.dumps({"task_id": task, "trial": trial, "reward": float(trial % 2), "info": {"task": {"instruction": f"Your {thing} is broken."}}, "traj": traj}) + "\n")


def make_model(folder: Path, text: str) -> int:
    """A model of random weights with a tokenizer of single bytes, and how many tokens it has."""
    torch.manual_seed(1)
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer, raw.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    raw.train_from_iterator([text], trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    words = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token=SPECIAL[2], pad_token=SPECIAL[0], chat_template=TEMPLATE)
    LlamaForCausalLM(LlamaConfig(vocab_size=len(words), hidden_size=64, intermediate_size=128, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=8192)).save_pretrained(folder)
    words.save_pretrained(folder)
    return len(words)


def main(arena: str, work: Path) -> None:
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    write_attempts(work / "attempts.jsonl")
    size = make_model(work / "model", (work / "attempts.jsonl").read_text(encoding="utf-8"))
    command = [sys.executable, RECIPES / "unseen.py", work / "attempts.jsonl", "--model", work / "model", "--arena", arena, "-o", work / "out", "--domain", "service",
               "--apart", r"ann_lee_\d+", "--tokens", "500", "--batch", "1", "--epochs", "6", "--rate", "3e-3", "--lora", "no", "--seeds", "2"]
    subprocess.run(command, check=True)
    told = json.loads((work / "out/arms-1.json").read_text())
    arms, away = told["arms"], set(map(int, told["unseen_tasks"]))
    assert 2 <= len(away) < len(THINGS), away
    rows = attempts(work / "out/corpus", True)
    known = {int(row.problem) for row in rows} - away
    assert not any(task ^ 1 in known for task in away), f"two tasks of one customer are apart: {away}"
    alone = set(map(int, unseen(rows, 0.5, "")))
    assert any(task ^ 1 in known | away and task ^ 1 not in alone for task in alone), f"without --apart, tasks stay together: {alone}"
    assert len(told["measured"]) == len(away)
    for name, arm in arms.items():
        assert 400 < arm["tokens"] <= 500, f"{name}: {arm}"
        assert arm["solved"] == {"solved": arm["rows"], "failed": 0}.get(name, arm["solved"]), f"{name}: {arm}"
        taken = (work / f"out/{name}-1.jsonl").read_text(encoding="utf-8")
        assert not any(f"My {THINGS[task]} is" in taken for task in away), f"{name} has an unseen task"

    loss = {file.stem: [row["loss"] for row in json.loads(file.read_text())] for file in sorted((work / "out/losses").glob("*.json"))}
    assert len(loss) == 7, sorted(loss)
    assert all(abs(value - math.log(size)) < 0.3 for value in loss["base"]), f"random weights: {loss['base']} of ln {size} = {math.log(size):.2f}"
    for seed in "12":
        assert all(a < b for a, b in zip(loss[f"solved-{seed}"], loss[f"failed-{seed}"], strict=True)), f"seed {seed}: solved attempts teach no more of solved ones: {loss}"
    table = (work / "out/losses.md").read_text()
    assert "| solved less failed | all |" in table and table.count("| shown |") >= 3, table
    low, high = interval([0.0, 1.0] * 50)
    assert 0.38 < low < 0.42 and 0.58 < high < 0.62, (low, high)

    first = (work / "out/losses.tsv").read_bytes()
    for name in ("students/failed-2", "losses/failed-2.json"):  # as a kill leaves it
        at = work / "out" / name
        shutil.rmtree(at) if at.is_dir() else at.unlink()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert (work / "out/losses.tsv").read_bytes() == first, "other losses after a kill"
    print(table)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
