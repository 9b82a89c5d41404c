"""Evaluates a model behind LiteLLM's proxy, which asks a real vLLM, and holds the run against what was seen of both:
python check_litellm.py ARENA VLLM LITELLM WORK. ARENA is the program, VLLM and LITELLM the commands, WORK a folder for
model and runs. The model is made on the spot (bench/callingmodel.py)."""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from check_vllm import DAY, ROOT, environment, evaluation, free, start, summary

CONFIG = """model_list:
  - model_name: student
    litellm_params: {{model: hosted_vllm/{model}, api_base: "http://127.0.0.1:{port}/v1", api_key: none}}
general_settings: {{dangerously_permit_weak_or_unset_master_key: true}}
"""


def main(arena, vllm, litellm, work):
    env, work = environment(vllm), Path(work)
    shutil.rmtree(work, ignore_errors=True)
    model, behind, front = work / "model", free(), free()
    subprocess.run([Path(vllm).parent / "python", ROOT / "bench/callingmodel.py", model, DAY / "catalog.jsonl"], check=True, env=env)
    (work / "litellm.yaml").write_text(CONFIG.format(model=model, port=behind))
    serve = f"vllm serve {model} --host 127.0.0.1 --port {behind} --max-model-len 12000 --max-num-batched-tokens 12000 --max-num-seqs 16"
    serve += " --dtype float32 --enforce-eager --enable-auto-tool-choice --reasoning-parser qwen3 --tool-call-parser "
    proxied = {**env, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    proxy = start(f"{litellm} --config {work}/litellm.yaml --host 127.0.0.1 --port {front}", proxied, work)
    server = start(serve + "hermes", env, work)
    try:
        ready(behind, front)
        direct, through, killed, left = (work / name for name in ("direct", "through", "killed", "left"))
        few = ("-k", "2", "--concurrency", "8", "--wait-for-server", "10m")
        run(evaluation(arena, model, direct, behind, *few), env, 0)
        run(evaluation(arena, "student", through, front, *few), env, 0)
        assert summary(through) == summary(direct), "LiteLLM changes the results"
        s = summary(through)
        assert s["scored"] == s["samples"] == 36 and s["stops"].keys() >= {"context_overflow"} and s["tool_calls"] > 0, s
        print(f"through LiteLLM as direct: {s['samples']} rollouts, {s['tool_calls']} calls, {s['stops']}")

        going = subprocess.Popen(evaluation(arena, "student", killed, front, *few), env=env, stderr=subprocess.PIPE, text=True)
        while not (killed / "turns.journal").exists() or (killed / "turns.journal").stat().st_size < 20_000:
            time.sleep(0.2)
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        server = start(serve + "pythonic", env, work)  # hermes calls stay in the text, where --dialect auto reads them
        _, words = going.communicate()
        assert going.returncode == 0 and summary(killed)["infra_errors"] == 0, words
        print("vLLM killed and restarted behind LiteLLM: no rollout lost")

        words = run(evaluation(arena, "student", left, front, *few, "--dialect", "native", "--max-steps", "4"), env, 3)
        assert "rollouts hold calls that nobody parsed" in words, words
        print("with another tool parser:", words.strip().splitlines()[0])
    finally:
        for process in (server, proxy):
            os.killpg(process.pid, signal.SIGKILL)


def run(command, env, want):
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == want, done.stderr
    return done.stderr


def ready(*ports):
    deadline = time.monotonic() + 900
    for port in ports:
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5).close()
                break
            except OSError:
                assert time.monotonic() < deadline, f"no server at {port}"
                time.sleep(1)


main(*sys.argv[1:])
