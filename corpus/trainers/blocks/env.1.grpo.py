# First: arena env serve, and ARENA_ENV set to its address.
import sys

from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

CORPUS, MODEL = ".", "Qwen/Qwen3-0.6B"  # this folder, and the model to train
sys.path[:0] = [CORPUS, CORPUS + "/env"]
from training_check import check
from trl_env import ShopEnv

rows = load_dataset("json", data_files=CORPUS + "/env/train.jsonl", split="train")
args = GRPOConfig(
    output_dir="grpo",
    max_tool_calling_iterations=25,  # the steps of an attempt
    max_completion_length=@{length}@,  # @{why}@
)
trainer = GRPOTrainer(MODEL, args=args, train_dataset=rows, environment_factory=ShopEnv)
check(trainer, rows)
trainer.train()
