# verl renders each turn alone: Qwen3's own template then loses all reasoning. This one keeps it.
python - <<'PY'
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen3-0.6B")
tokenizer.chat_template = open("chat_template.jinja", encoding="utf-8").read()
tokenizer.save_pretrained("tokenizer")
PY
# @{why}@; a longer row is an error
torchrun --standalone --nproc_per_node=1 -m verl.trainer.sft_trainer \
  model.path=Qwen/Qwen3-0.6B model.tokenizer_path=./tokenizer \
  data.train_files="[$(ls data/@{config}@/train-*.parquet | paste -sd,)]" \
  data.max_length=@{length}@ data.max_token_len_per_gpu=@{length}@
