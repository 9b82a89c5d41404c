# TRL draws rows by their weight; axolotl 0.19 takes the weights of turns alone, LLaMA-Factory 0.9.5 and verl 0.9.1 take neither.
import sys

from datasets import load_dataset
from torch import Generator
from torch.utils.data import WeightedRandomSampler
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer

CORPUS, MODEL = ".", "Qwen/Qwen3-0.6B"  # this folder, and the model to train
sys.path.insert(0, CORPUS)
from training_check import check

rows = load_dataset(CORPUS + "/data/@{config}@", split="train")
tokenizer = AutoTokenizer.from_pretrained(MODEL)
# It keeps all reasoning, and learns from no turn of weight 0; for models with <|im_start|>.
tokenizer.chat_template = open(CORPUS + "/chat_template.jinja", encoding="utf-8").read()
args = SFTConfig(
    output_dir="sft",
    assistant_only_loss=True,
    max_length=@{length}@,  # @{why}@
)


class Weighted(SFTTrainer):
    def _get_train_sampler(self, dataset=None):  # a row is drawn as often as it weighs
        return WeightedRandomSampler(rows["weight"], len(rows), generator=Generator().manual_seed(args.seed))


trainer = Weighted(MODEL, args=args, train_dataset=rows, processing_class=tokenizer)
check(trainer, rows)  # every row and every stop token is learned, or an error says what is not
trainer.train()
