# Run in this folder. ms-swift drops the reasoning of config hf-json without a word: it keeps that of text.
# --tuner_type lora is for a GPU of 24 GB; full trains all weights, with --learning_rate 1e-5, for 80 GB.
swift sft --use_hf true --model Qwen/Qwen3-0.6B --model_type qwen3 --template chatml --tuner_type lora --learning_rate 2e-4 \
  --dataset $(ls data/@{.Config}@/train-*.parquet) --split_dataset_ratio 0 \
@{if .HasEval}@  --val_dataset $(ls data/@{.Config}@/eval-*.parquet) --eval_strategy epoch --per_device_eval_batch_size 1 \
@{end}@  --max_length @{.Length}@ --truncation_strategy right `# @{.LengthReason}@; what is over is cut` \
  --per_device_train_batch_size 1 --gradient_accumulation_steps 8 --num_train_epochs 1 --report_to none --output_dir sft
# sft/merged is the model of the next stage; without lora it is last-checkpoint
swift export --adapters $(ls -td sft/*/last-checkpoint | head -1) --merge_lora true --output_dir sft/merged
