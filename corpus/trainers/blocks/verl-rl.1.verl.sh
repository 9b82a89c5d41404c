# First: arena export --profile env, arena env serve, and ARENA_ENV set to its address. Run in this folder, on one GPU,
# with pip install 'verl[verl-core,vllm]'.
# @{.LengthReason}@; what is over max_prompt_length is left out without an error
# By default verl cuts each tool result to 256 characters, makes only the first call of a turn, and wants 1,024 rows a step
# on 8 GPUs. The server refuses eval's problems, so verl validates nothing: arena eval plays them.
# lora_rank=16 trains on a GPU of 24 GB, without it all weights on 80 GB.
PYTHONPATH=env python -m verl.trainer.main_ppo algorithm.adv_estimator=grpo trainer.n_gpus_per_node=1 trainer.logger=console \
  data.train_files="[$(ls data/@{.Config}@/train-*.parquet | paste -sd,)]" \
@{if .HasEval}@  data.val_files="[$(ls data/@{.Config}@/eval-*.parquet | paste -sd,)]" \
@{else}@  data.val_files="[$(ls data/@{.Config}@/train-*.parquet | paste -sd,)]" \
@{end}@  trainer.val_before_train=False trainer.test_freq=-1 \
  data.train_batch_size=@{.Batch}@ actor_rollout_ref.actor.ppo_mini_batch_size=@{.Batch}@ \
  actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \
  actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=1 actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=1 \
  data.max_prompt_length=@{.Length}@ data.max_response_length=@{.AttemptLength}@ \
  actor_rollout_ref.model.path=Qwen/Qwen3-0.6B actor_rollout_ref.model.lora_rank=16 actor_rollout_ref.model.lora_alpha=32 \
  actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.n=8 \
  actor_rollout_ref.rollout.load_format=safetensors actor_rollout_ref.rollout.tensor_model_parallel_size=1 \
  actor_rollout_ref.rollout.multi_turn.max_tool_response_length=1000000 \
  actor_rollout_ref.rollout.multi_turn.max_parallel_calls=100 \
  actor_rollout_ref.rollout.multi_turn.tool_config_path=env/verl_tools.yaml \
  actor_rollout_ref.rollout.agent.agent_loop_config_path=env/verl_agent.yaml \
  actor_rollout_ref.rollout.agent.default_agent_loop=arena
