@{template "head" .}@
from peft import LoraConfig
from transformers import AutoTokenizer
from trl import KTOConfig, KTOTrainer

@{template "names" .}@
args = KTOConfig(
    output_dir="kto",
    max_length=@{.Length}@,  # @{.LengthReason}@
    per_device_train_batch_size=2,  # the least: a batch of 1 has nothing to compare with
    gradient_accumulation_steps=4,
    use_cpu=not torch.accelerator.is_available(),  # where a tiny model is tried@{if .HasEval}@
    per_device_eval_batch_size=2,
    eval_strategy="epoch",@{end}@
    learning_rate=1e-5 if LORA else 1e-6,
)
trainer = KTOTrainer(MODEL, args=args, train_dataset=rows, @{template "eval" .}@processing_class=AutoTokenizer.from_pretrained(MODEL), peft_config=LORA)
@{template "train" .}@
