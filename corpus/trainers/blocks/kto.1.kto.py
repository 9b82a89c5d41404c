import sys

from datasets import load_dataset
from trl import KTOConfig, KTOTrainer

CORPUS, MODEL = ".", "Qwen/Qwen3-0.6B"  # this folder, and the model to train
sys.path.insert(0, CORPUS)
from training_check import check

rows = load_dataset(CORPUS + "/data/@{config}@", split="train")
args = KTOConfig(
    output_dir="kto",
    per_device_train_batch_size=2,  # the least: a batch of 1 has nothing to compare with
    max_length=@{length}@,  # @{why}@
)
trainer = KTOTrainer(MODEL, args=args, train_dataset=rows)
check(trainer, rows)  # every row and every stop token is learned, or an error says what is not
trainer.train()
