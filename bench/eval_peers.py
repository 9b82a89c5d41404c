"""Rollouts a second and CPU a request of arena, inspect_ai and verifiers on one
task and one server, alternately.

    python3 bench/eval_peers.py --inspect PYTHON --verifiers PYTHON [--rounds 5]

PYTHON has the peer installed (bench/peers/requirements-*.txt). The scripted
server answers at once unless --latency says otherwise; a rollout is five
requests. The peers' tools give canned answers; arena searches its catalogue,
scores, judges, and keeps every reply, trace, table, log and page. arena's time
is that of the whole process; the peers' is that of their evaluation without
the start of Python and their imports."""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
REQUESTS = 5


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--inspect", help="Python with inspect_ai")
    p.add_argument("--verifiers", help="Python with verifiers")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--at-once", type=int, nargs="+", default=[1, 32, 128, 512])
    p.add_argument("--latency", default="0s")
    p.add_argument("--rollouts", type=int, default=2000, help="of arena")
    p.add_argument("--peer-rollouts", type=int, default=60)
    p.add_argument("--port", type=int, default=18780)
    return p.parse_args()


def arena(work, url, at_once, rollouts):
    folder = work / f"run-{time.time_ns()}"
    began = time.time()
    process = subprocess.Popen([
        work / "arena", "eval", "--endpoint", url, "--model", "scripted", "--problems", work / "problems.jsonl", "--catalog", work / "catalog.jsonl",
        "-k", str(rollouts // 100), "--concurrency", str(at_once), "-q", "-o", folder,
    ])
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["successes"] == summary["samples"] == rollouts, summary
    return {"seconds": time.time() - began, "cpu": usage.ru_utime + usage.ru_stime, "rss_mb": usage.ru_maxrss / 1024}


def peer(python, script, work, url, at_once, rollouts):
    out = subprocess.run(
        [python, HERE / "peers" / script, url, work / "problems.jsonl", str(rollouts), str(at_once)],
        capture_output=True, text=True, check=True,
    )
    return json.loads(out.stdout.strip().splitlines()[-1])


def row(name, at_once, rollouts, rounds):
    rate = [rollouts / r["seconds"] for r in rounds]
    cpu = [1000 * r["cpu"] / rollouts / REQUESTS for r in rounds]
    rss = max(r["rss_mb"] for r in rounds)
    return (f"| {name} | {at_once} | {statistics.median(rate):,.0f} ({min(rate):,.0f} to {max(rate):,.0f}) | "
            f"{statistics.median(cpu):.2f} ({min(cpu):.2f} to {max(cpu):.2f}) | {rss:,.0f} |")


def main():
    o = options()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for tool, package in (("arena", "./cmd/arena"), ("modelserver", "./bench/modelserver")):
            subprocess.run(["go", "build", "-tags", "grpcnotrace", "-o", work / tool, package], cwd=HERE.parent, check=True)
        subprocess.run([work / "modelserver", "-task", work, "-problems", "100"], check=True)
        server = subprocess.Popen([work / "modelserver", "-listen", f"127.0.0.1:{o.port}", "-latency", o.latency], stdout=subprocess.DEVNULL)
        try:
            url = f"http://127.0.0.1:{o.port}/v1"
            for _ in range(100):
                try:
                    urllib.request.urlopen(url + "/models").close()
                    break
                except OSError:
                    time.sleep(0.1)
            print("| | at once | rollouts a second | ms of CPU a request | peak MB |\n|---|---:|---:|---:|---:|", flush=True)
            for at_once in o.at_once:
                measure(o, work, url, at_once)
        finally:
            server.terminate()
            server.wait()


def measure(o, work, url, at_once):
    ours = o.rollouts if at_once > 1 else max(100, o.rollouts // 10)
    names = {"arena": (ours, lambda: arena(work, url, at_once, ours))}
    for name, python in (("inspect_ai", o.inspect), ("verifiers", o.verifiers)):
        if python:
            script = name.split("_")[0] + "_peer.py"
            names[name] = (o.peer_rollouts, lambda python=python, script=script: peer(python, script, work, url, at_once, o.peer_rollouts))
    found = {name: [] for name in names}
    for _ in range(o.rounds):
        for name, (_, run) in names.items():
            found[name].append(run())
    for name, (rollouts, _) in names.items():
        print(row(name, at_once, rollouts, found[name]), flush=True)


if __name__ == "__main__":
    main()
