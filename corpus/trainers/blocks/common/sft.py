import sys

from datasets import load_dataset
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer

CORPUS, MODEL = ".", "Qwen/Qwen3-0.6B"  # this folder, and the model to train
sys.path.insert(0, CORPUS)
from training_check import check

rows = load_dataset(CORPUS + "/data/@{config}@", split="train")
tokenizer = AutoTokenizer.from_pretrained(MODEL)
# It keeps all reasoning, and serves too; for models with <|im_start|>. Others: arena export --preflight.
tokenizer.chat_template = open(CORPUS + "/chat_template.jinja", encoding="utf-8").read()
args = SFTConfig(
    output_dir="sft",
    assistant_only_loss=True,
    max_length=@{length}@,  # @{why}@
)
trainer = SFTTrainer(MODEL, args=args, train_dataset=rows, processing_class=tokenizer)
check(trainer, rows)  # every row and every stop token is learned, or an error says what is not
trainer.train()
