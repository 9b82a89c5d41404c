import sys

from datasets import load_dataset
from trl import RewardConfig, RewardTrainer

CORPUS, MODEL = ".", "Qwen/Qwen3-0.6B"  # this folder, and the model to train
sys.path.insert(0, CORPUS)
from training_check import check

rows = load_dataset(CORPUS + "/data/@{config}@", split="train")
args = RewardConfig(
    output_dir="reward",
    max_length=@{length}@,  # @{why}@
)
trainer = RewardTrainer(MODEL, args=args, train_dataset=rows)
check(trainer, rows)  # every row and every stop token is learned, or an error says what is not
trainer.train()
