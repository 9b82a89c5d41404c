# TRL draws rows by their weight; axolotl 0.21 takes the weights of turns alone, LLaMA-Factory 0.9.5 and verl 0.9.1 take neither.
@{template "head" .}@
from peft import LoraConfig
from torch import Generator
from torch.utils.data import WeightedRandomSampler
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer

@{template "names" .}@
tokenizer = AutoTokenizer.from_pretrained(MODEL)
# It keeps all reasoning, and learns from no turn of weight 0; for models with <|im_start|>.
tokenizer.chat_template = open(CORPUS + "/chat_template.jinja", encoding="utf-8").read()
args = SFTConfig(
    output_dir="sft",
    assistant_only_loss=True,
@{template "sizes" .}@    learning_rate=2e-4 if LORA else 2e-5,
)


class Weighted(SFTTrainer):
    def _get_train_sampler(self, dataset=None):  # a row is drawn as often as it weighs
        return WeightedRandomSampler(rows["weight"], len(rows), generator=Generator().manual_seed(args.seed))


trainer = Weighted(MODEL, args=args, train_dataset=rows, @{template "eval" .}@processing_class=tokenizer, peft_config=LORA)
@{template "train" .}@
