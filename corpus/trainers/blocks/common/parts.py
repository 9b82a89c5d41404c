@{define "head"}@import sys

import torch
from datasets import load_dataset@{end}@
@{define "names"}@CORPUS, MODEL = ".", "Qwen/Qwen3-0.6B"  # this folder, and the model to train: a name, or the folder of an earlier stage
LORA = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear")  # for a GPU of 24 GB; None trains all weights, for 80 GB
sys.path.insert(0, CORPUS)
from training_check import check

rows = load_dataset(CORPUS + "/data/@{.Config}@", split="train")@{if .HasEval}@
held_out = load_dataset(CORPUS + "/data/@{.Config}@", data_files={"eval": "eval-*"}, split="eval")@{end}@@{end}@
@{define "sizes"}@    max_length=@{.Length}@,  # @{.LengthReason}@
    per_device_train_batch_size=1,
    gradient_accumulation_steps=8,
    use_cpu=not torch.accelerator.is_available(),  # where a tiny model is tried@{if .HasEval}@
    per_device_eval_batch_size=1,
    eval_strategy="epoch",@{end}@
@{end}@
@{define "eval"}@@{if .HasEval}@eval_dataset=held_out, @{end}@@{end}@
@{define "train"}@check(trainer, rows)  # every row and every stop token is learned, or an error says what is not
trainer.train()
if LORA:
    trainer.model = trainer.model.merge_and_unload()
trainer.save_model()  # the folder is the MODEL of the next stage@{end}@
