@{template "head" .}@
from peft import LoraConfig
from transformers import AutoTokenizer
from trl import SFTConfig, SFTTrainer

@{template "names" .}@
tokenizer = AutoTokenizer.from_pretrained(MODEL)
# It keeps all reasoning, and serves too; for models with <|im_start|>. Others: arena export --preflight.
tokenizer.chat_template = open(CORPUS + "/chat_template.jinja", encoding="utf-8").read()
args = SFTConfig(
    output_dir="sft",
    assistant_only_loss=True,
@{template "sizes" .}@    learning_rate=2e-4 if LORA else 2e-5,
)
trainer = SFTTrainer(MODEL, args=args, train_dataset=rows, @{template "eval" .}@processing_class=tokenizer, peft_config=LORA)
@{template "train" .}@