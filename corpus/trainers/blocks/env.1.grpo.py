# First: arena env serve, and ARENA_ENV set to its address.
import sys

import torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

CORPUS, MODEL = ".", "Qwen/Qwen3-0.6B"  # this folder, and the model to train: a name, or the folder of an earlier stage
LORA = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear")  # for a GPU of 24 GB; None trains all weights, for 80 GB
sys.path[:0] = [CORPUS, CORPUS + "/env"]
from training_check import check
from trl_env import ShopEnv, prepared

rows = load_dataset("json", data_files=CORPUS + "/env/train.jsonl", split="train")
tokenizer = prepared(AutoTokenizer.from_pretrained(MODEL))  # tools are shown, and calls read, as in the rows of SFT
args = GRPOConfig(
    output_dir="grpo",
    max_tool_calling_iterations=25,  # the steps of an attempt
    max_completion_length=@{.Length}@,  # @{.LengthReason}@
    num_generations=8,
    num_train_epochs=1,
    per_device_train_batch_size=1,
    gradient_accumulation_steps=8,  # a step is one problem, played eight times
    use_cpu=not torch.accelerator.is_available(),  # where a tiny model is tried
    learning_rate=1e-5 if LORA else 1e-6,
)
trainer = GRPOTrainer(MODEL, args=args, train_dataset=rows, processing_class=tokenizer, environment_factory=ShopEnv, peft_config=LORA)
check(trainer, rows)
trainer.train()
if LORA:
    trainer.model = trainer.model.merge_and_unload()
trainer.save_model()  # the folder is the MODEL of the next stage; the server refuses eval's problems: arena eval plays them
