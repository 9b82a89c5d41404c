#!/usr/bin/env python3
"""Builds a corpus under Ray: `python deploy/ray_build.py PLAN WORK [ARENA]`, with RAY_ADDRESS where a cluster runs.

PLAN comes from `arena build … --plan PLAN --shards N`; PLAN, WORK and what the plan names lie where every node sees
them. Each task is one call of `arena stage` (docs/stages.md): what it has done, a retry does not do again."""
import ctypes
import json
import signal
import subprocess
import sys

try:
    import ray
except ModuleNotFoundError:
    sys.exit(f"ray_build needs Ray, which {sys.executable} lacks: {sys.executable} -m pip install ray")


def dies_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG: a killed worker leaves no process behind


@ray.remote(max_retries=5, retry_exceptions=[OSError], scheduling_strategy="SPREAD", num_cpus=1)
def stage(arena, step, plan, work, shard):
    call = [arena, "stage", step, "--plan", plan, "--work", work, "-q"]
    done = subprocess.run(call + ([] if shard is None else ["--shard", shard]), stderr=subprocess.PIPE, text=True, preexec_fn=dies_with_parent)
    if done.returncode in (2, 3):  # the call is wrong, or a limit was passed: nothing to run again
        raise ValueError(done.stderr)
    if done.returncode:
        raise OSError(done.stderr)


def build(plan, work, arena="arena"):
    n = json.load(open(plan))["shards"]
    shards = [f"{i}/{n}" for i in range(n)]
    for step, of in (("map", shards), ("group", [None] * n), ("write", shards)):  # those of group share its work
        ray.get([stage.remote(arena, step, plan, work, shard) for shard in of])


if __name__ == "__main__":
    ray.init()
    build(*sys.argv[1:])
