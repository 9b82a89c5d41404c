"""Evaluates a model behind a real vLLM and holds the run against what was seen of it:
python check_vllm.py ARENA VLLM WORK. ARENA is the program, VLLM the vllm command, WORK a
folder for model and runs. The model is made on the spot (bench/callingmodel.py). On a
machine with a GPU vLLM uses it, and the figures printed are that GPU's.

The command of docs/serving.md is run as it stands there, but for the model's name."""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DAY = ROOT / "testdata/day"
# CPU keeps a small cache; a prompt in pieces breaks vLLM's seeds there.
CPU = {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1"}
QUIET = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "TOKENIZERS_PARALLELISM": "false"}


def environment(vllm):
    gpu = shutil.which("nvidia-smi") is not None
    return {**os.environ, **QUIET, **({} if gpu else CPU), "PATH": f"{Path(vllm).parent}:{os.environ['PATH']}"}


def documented(program, model, port):
    """The command of docs/serving.md that starts program, for this model and port."""
    page = (ROOT / "docs/serving.md").read_text()
    command = re.search(f"['`]({program} [^'`]+)['`]", page)[1]
    return re.sub("MODEL|FILE", shlex.quote(str(model)), command).replace("8000", str(port))


def free():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def evaluation(arena, model, run, port, *more):
    command = [arena, "eval", "--endpoint", f"http://127.0.0.1:{port}/v1", "--model", model, "--problems", DAY / "problems.jsonl"]
    command += ["--catalog", DAY / "catalog.jsonl", "-k", "4", "--temperature", "1", "-q", "-o", run, *more]
    return [str(c) for c in command]


def evaluate(arena, env, model, run, *more, port):
    return subprocess.run(evaluation(arena, model, run, port, *more), env=env, capture_output=True, text=True)


def summary(run):
    return json.loads((run / "summary.json").read_text())


def main(arena, vllm, work):
    env, work = environment(vllm), Path(work)
    shutil.rmtree(work, ignore_errors=True)
    model = work / "model"
    subprocess.run([Path(vllm).parent / "python", ROOT / "bench/callingmodel.py", model, DAY / "catalog.jsonl"], check=True, env=env)
    flags = " --host 127.0.0.1 --max-model-len 12000 --max-num-batched-tokens 12000 --max-num-seqs 16 --dtype float32 --enforce-eager"
    port = free()
    serve = documented("vllm serve", model, port)

    whole = work / "whole"
    began = time.monotonic()
    done = evaluate(arena, env, model, whole, "--serve", serve + flags + " --reasoning-parser qwen3", port=port)
    assert done.returncode == 0, done.stderr
    s = summary(whole)
    assert s["scored"] == s["samples"] == 72 and s["tool_calls"] > 0 and s["stops"].keys() >= {"terminated", "context_overflow"}, s
    account = json.loads((whole / "telemetry.json").read_text())
    assert account["servers"][0]["engine"] == "vllm" and account["servers"][0]["max_model_len"] == 12000, account["servers"]
    assert account["usage"]["kv_cache_use_peak"] is not None and account["usage"]["prefix_hit_rate"] > 0.5, account["usage"]
    print(f"the documented command: {s['samples']} rollouts, {s['tool_calls']} calls, {s['stops']}, {time.monotonic() - began:.0f} s, "
          f"{account['rollouts_per_second']:.2f} rollouts/s, prefix hits {account['usage']['prefix_hit_rate']:.3f}, "
          f"KV use {account['usage']['kv_cache_use_peak']:.3f}, GPU seconds {account['usage']['gpu_seconds']}")

    bare = evaluate(arena, env, model, work / "bare", "--serve", f"vllm serve {model} --port {port}" + flags, port=port)
    assert bare.returncode == 1 and "--enable-auto-tool-choice" in bare.stderr and "--dialect hermes" in bare.stderr, bare.stderr
    assert not (work / "bare/summary.json").exists()
    print("without its flags:", bare.stderr.strip().splitlines()[0])

    killed_and_restarted(serve + flags + " --reasoning-parser qwen3", env, work, whole, lambda run: evaluation(arena, model, run, port))


def killed_and_restarted(serve, env, work, whole, command):
    """Kills the server in the middle of a run, starts it again, and holds the run against the whole one."""
    killed = work / "killed"
    server = start(serve, env, work)
    run = subprocess.Popen(command(killed), env=env, stderr=subprocess.PIPE, text=True)
    while not (killed / "turns.journal").exists() or (killed / "turns.journal").stat().st_size < 20_000:
        time.sleep(0.2)
    os.killpg(server.pid, signal.SIGKILL)
    server.wait()  # or its port may still be taken
    server = start(serve, env, work)
    _, words = run.communicate()
    os.killpg(server.pid, signal.SIGKILL)
    assert run.returncode == 0, words
    for name in ("summary.json", "results.jsonl"):
        if (killed / name).read_bytes() != (whole / name).read_bytes():
            print(f"killed and restarted: {name} differs")
            break
    else:
        print("killed and restarted: the same bytes")
    assert summary(killed)["infra_errors"] == 0


def start(command, env, work):
    with open(work / "server.log", "a") as log:
        return subprocess.Popen(["sh", "-c", "exec " + command], env=env, stdout=log, stderr=log, start_new_session=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
