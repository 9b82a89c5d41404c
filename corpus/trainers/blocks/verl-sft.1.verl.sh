# verl renders each turn alone: Qwen3's own template then loses all reasoning. This one keeps it.
python - <<'PY'
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen3-0.6B")
tokenizer.chat_template = open("chat_template.jinja", encoding="utf-8").read()
tokenizer.save_pretrained("tokenizer")
PY
# @{.LengthReason}@; a longer row is an error. model.lora_rank=16 trains on a GPU of 24 GB, without it all weights on 80 GB.
torchrun --standalone --nproc_per_node=1 -m verl.trainer.sft_trainer \
  model.path=Qwen/Qwen3-0.6B model.tokenizer_path=./tokenizer model.lora_rank=16 model.lora_alpha=32 \
  data.train_files="[$(ls data/@{.Config}@/train-*.parquet | paste -sd,)]" \
@{if .HasEval}@  data.val_files="[$(ls data/@{.Config}@/eval-*.parquet | paste -sd,)]" trainer.test_freq=after_each_epoch \
@{end}@  data.train_batch_size=@{.Batch}@ data.micro_batch_size_per_gpu=1 \
  data.max_length=@{.Length}@ data.max_token_len_per_gpu=@{.Length}@ \
  trainer.total_epochs=1 trainer.logger=console trainer.default_local_dir=sft
