"""Rollouts a second and CPU a request of arena, inspect_ai and verifiers on one
task and one server, alternately.

    python3 bench/eval_peers.py --inspect PYTHON --verifiers PYTHON [--rounds 5]

PYTHON has the peer installed (bench/peers/requirements-*.txt). The scripted
server answers at once unless --latency says otherwise; a rollout is five
requests. The peers' tools give canned answers; arena searches its catalogue,
scores, judges, and keeps every reply, trace, table, log and page. arena's time
is that of the whole process; the peers' is that of their evaluation without
the start of Python and their imports. All play as many rollouts; how many
requests were in flight is the server's own count."""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from peers import task

HERE = Path(__file__).resolve().parent
REQUESTS = 5


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--inspect", help="Python with inspect_ai")
    p.add_argument("--verifiers", help="Python with verifiers")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--at-once", type=int, nargs="+", default=[32, 512])
    p.add_argument("--latency", default="0s")
    p.add_argument("--rollouts", type=int, default=600, help="of each tool, a multiple of 100")
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


def peer(python, script, work, url, at_once, rollouts, *more):
    out = subprocess.run(
        [python, HERE / "peers" / script, url, work / "problems.jsonl", str(rollouts), str(at_once), *more],
        capture_output=True, text=True, check=True,
    )
    return json.loads(out.stdout.strip().splitlines()[-1])


def row(name, at_once, rollouts, rounds):
    rate = [rollouts / r["seconds"] for r in rounds]
    cpu = [1000 * r["cpu"] / rollouts / REQUESTS for r in rounds]
    rss, most = max(r["rss_mb"] for r in rounds), max(r["most"] for r in rounds)
    return (f"| {name} | {at_once} | {most} | {statistics.median(rate):,.0f} ({min(rate):,.0f} to {max(rate):,.0f}) | "
            f"{statistics.median(cpu):.2f} ({min(cpu):.2f} to {max(cpu):.2f}) | {rss:,.0f} |")


def main():
    o = options()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for tool, package in (("arena", "./cmd/arena"), ("modelserver", "./bench/modelserver")):
            subprocess.run(["go", "build", "-o", work / tool, package], cwd=HERE.parent, check=True)
        task.write(work, 100)
        server = subprocess.Popen([work / "modelserver", "-listen", f"127.0.0.1:{o.port}", "-latency", o.latency], stdout=subprocess.DEVNULL)
        try:
            url = f"http://127.0.0.1:{o.port}/v1"
            for _ in range(100):
                try:
                    urllib.request.urlopen(url + "/models").close()
                    break
                except OSError:
                    time.sleep(0.1)
            print("| | at once | in flight | rollouts a second | ms of CPU a request | peak MB |\n|---|---:|---:|---:|---:|---:|", flush=True)
            for at_once in o.at_once:
                measure(o, work, url, at_once)
        finally:
            server.terminate()
            server.wait()


def measure(o, work, url, at_once):
    tools = {"arena": lambda: arena(work, url, at_once, o.rollouts)}

    def add(name, python, script, *more):
        if python:
            tools[name] = lambda: peer(python, script, work, url, at_once, o.rollouts, *more)

    add("inspect_ai", o.inspect, "inspect_peer.py")
    add("inspect_ai, no log while it runs", o.inspect, "inspect_peer.py", "quiet")
    add("verifiers", o.verifiers, "verifiers_peer.py")
    found = {name: [] for name in tools}
    most = url.replace("/v1", "/most")
    for _ in range(o.rounds):
        for name, run in tools.items():
            urllib.request.urlopen(most).close()
            spent = run()
            with urllib.request.urlopen(most) as said:
                found[name].append({**spent, "most": int(said.read())})
    for name, rounds in found.items():
        print(row(name, at_once, o.rollouts, rounds), flush=True)


if __name__ == "__main__":
    main()
