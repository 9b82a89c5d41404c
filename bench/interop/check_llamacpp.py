"""Evaluates a model behind a real llama-server and holds the run against what was seen of it:
python check_llamacpp.py ARENA LLAMA_SERVER WORK. ARENA is the program, LLAMA_SERVER the
server, WORK a folder for model and runs. The model is made on the spot
(bench/callingmodel.py, bench/togguf.py).

The command of docs/serving.md is run as it stands there, but for the file's name."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from check_vllm import DAY, ROOT, documented, evaluate, evaluation, free, killed_and_restarted, summary


def main(arena, server, work):
    env, work = {**os.environ, "PATH": f"{Path(server).parent}:{os.environ['PATH']}"}, Path(work)
    shutil.rmtree(work, ignore_errors=True)
    model, file = work / "model", work / "model.gguf"
    for script, *words in (("callingmodel.py", model, DAY / "catalog.jsonl"), ("togguf.py", model, file)):
        subprocess.run([sys.executable, ROOT / "bench" / script, *words], check=True, env=env)
    port = free()
    # Threads that wait for each other lose most of their time beside other work.
    serve = documented("llama-server", file, port) + " --host 127.0.0.1 -c 96000 -np 8 -t 1"

    whole, few = work / "whole", ("-k", "2", "--concurrency", "8")
    began = time.monotonic()
    done = evaluate(arena, env, file, whole, *few, "--serve", serve, port=port)
    assert done.returncode == 0, done.stderr
    s = summary(whole)
    assert s["scored"] == s["samples"] == 36 and s["tool_calls"] > 0 and s["stops"].keys() >= {"terminated", "context_overflow"}, s
    account = json.loads((whole / "telemetry.json").read_text())
    told, usage = account["servers"][0], account["usage"]
    assert told["engine"] == "llamacpp" and told["version"] and told["path"] == str(file) and 12000 <= told["max_model_len"] < 12300, told
    assert usage["prefix_hit_rate"] > 0.5, usage
    print(f"the documented command: {s['samples']} rollouts, {s['tool_calls']} calls, {s['stops']}, {time.monotonic() - began:.0f} s, "
          f"llama.cpp {told['version']}, prefix hits {usage['prefix_hit_rate']:.3f}")
    killed_and_restarted(serve, env, work, whole, lambda run: evaluation(arena, file, run, port, *few))


main(*sys.argv[1:])
