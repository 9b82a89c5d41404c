@{template "head" .}@
from peft import LoraConfig
from trl import DPOConfig, DPOTrainer

@{template "names" .}@
args = DPOConfig(
    output_dir="dpo",
@{template "sizes" .}@    learning_rate=1e-5 if LORA else 1e-6,
)
trainer = DPOTrainer(MODEL, args=args, train_dataset=rows, @{template "eval" .}@peft_config=LORA)
@{template "train" .}@
