# First: arena export --profile env, arena env serve, and ARENA_ENV set to its address. Run in this folder, on one GPU.
# @{why}@; what is over max_prompt_length is left out without an error
# By default verl cuts each tool result to 256 characters, makes only the first call of a turn, and wants 1,024 rows a step
# on 8 GPUs. train_batch_size is at most the number of rows in train.
PYTHONPATH=env python -m verl.trainer.main_ppo algorithm.adv_estimator=grpo trainer.n_gpus_per_node=1 \
  data.train_files="[$(ls data/@{config}@/train-*.parquet | paste -sd,)]" \
  data.val_files="[$( (ls data/@{config}@/eval-*.parquet || ls data/@{config}@/train-*.parquet) 2>/dev/null | paste -sd,)]" \
  data.train_batch_size=8 actor_rollout_ref.actor.ppo_mini_batch_size=8 \
  actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \
  actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=1 actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=1 \
  data.max_prompt_length=@{length}@ data.max_response_length=14336 \
  actor_rollout_ref.model.path=Qwen/Qwen3-0.6B actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.n=8 \
  actor_rollout_ref.rollout.tensor_model_parallel_size=1 \
  actor_rollout_ref.rollout.multi_turn.max_tool_response_length=1000000 \
  actor_rollout_ref.rollout.multi_turn.max_parallel_calls=100 \
  actor_rollout_ref.rollout.multi_turn.tool_config_path=env/verl_tools.yaml \
  actor_rollout_ref.rollout.agent.agent_loop_config_path=env/verl_agent.yaml \
  actor_rollout_ref.rollout.agent.default_agent_loop=arena
