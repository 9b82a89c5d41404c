#!/usr/bin/env bash
# Builds a corpus under Slurm: deploy/slurm.sh PLAN WORK [sbatch options]
#
# PLAN comes from `arena build … --plan PLAN --shards N`; PLAN, WORK and what the plan names lie where every node sees
# them. Each task is one call of `arena stage` (docs/stages.md). A task that ends with 2 or 3 fails, and so does
# what waits for it; with any other than 0 it goes back into the queue, five times at most. Prints the last job's number.
set -euo pipefail
plan=$1 work=$2
shift 2
n=$(sed -n 's/^ "shards": \([0-9]*\),$/\1/p' "$plan")
mkdir -p "$work/logs"

submit() { # step, then options
  local step=$1
  shift
  sbatch --parsable --requeue --open-mode=append --kill-on-invalid-dep=yes --job-name="arena-$step" --output="$work/logs/%x-%A-%a.log" \
    --export=ALL,ARENA_STEP="$step",ARENA_PLAN="$plan",ARENA_WORK="$work",ARENA_SHARDS="$n" --array="0-$((n - 1))" "$@" <<'JOB'
#!/usr/bin/env bash
# the tasks of group have no shard: they share the work
shard=(); [ "$ARENA_STEP" = group ] || shard=(--shard "$SLURM_ARRAY_TASK_ID/$ARENA_SHARDS")
"${ARENA:-arena}" stage "$ARENA_STEP" --plan "$ARENA_PLAN" --work "$ARENA_WORK" -q "${shard[@]}"
code=$?
case $code in
  0 | 2 | 3) ;;
  *) [ "${SLURM_RESTART_COUNT:-0}" -ge 5 ] || { scontrol requeue "$SLURM_JOB_ID" && sleep 60; } ;;
esac
exit $code
JOB
}

map=$(submit map "$@")
group=$(submit group --dependency="afterok:$map" "$@")
submit write --dependency="afterok:$group" "$@"
