# First: arena export --profile env, arena env serve, and ARENA_ENV set to its address.
# @{why}@; what is over max_prompt_length is left out without an error
PYTHONPATH=env python -m verl.trainer.main_ppo algorithm.adv_estimator=grpo \
  data.train_files="[$(ls data/@{config}@/train-*.parquet | paste -sd,)]" \
  data.val_files="[$(ls data/@{config}@/*-*.parquet | tail -1)]" \
  data.max_prompt_length=@{length}@ data.max_response_length=14336 \
  actor_rollout_ref.model.path=Qwen/Qwen3-0.6B actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.n=8 \
  actor_rollout_ref.rollout.multi_turn.tool_config_path=env/verl_tools.yaml \
  actor_rollout_ref.rollout.agent.agent_loop_config_path=env/verl_agent.yaml \
  actor_rollout_ref.rollout.agent.default_agent_loop=arena
