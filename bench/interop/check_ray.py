"""Runs deploy/ray_build.py on two raylets of one machine.

    python check_ray.py ARENA DAY [SAMPLES]     needs ray

First undisturbed, with a shard for each processor, in turn with the same steps started by this program and with `arena build`: the
ratios of the times, plan and all. Then two more join, and in each step the raylet that runs a shard is killed with -9, with
all its processes: every file has the hash of the local build, and no shard runs twice but those that were lost.
"""

import collections
import hashlib
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

DEPLOY = str(Path(__file__).parents[2] / "deploy")
os.environ["PYTHONPATH"] = DEPLOY  # workers import what their tasks are in
sys.path.insert(0, DEPLOY)
from ray_build import build  # noqa: E402

ARENA, DAY = (os.path.abspath(a) for a in sys.argv[1:3])
SAMPLES = int(sys.argv[3]) if len(sys.argv) > 3 else 5
RAYLETS, SHARDS = 2, 4  # as many shards as processors where nothing is killed


def hashes(corpus):
    return {str(p.relative_to(corpus)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(corpus.rglob("*")) if p.is_file()}


def timed(do):
    began = time.monotonic()
    do()
    return time.monotonic() - began


def local(at):
    subprocess.run([ARENA, "build", DAY, "-o", at / "out", "-q"], check=True)


def plan(at, shards=RAYLETS):
    subprocess.run([ARENA, "build", DAY, "-o", at / "out", "-q", "--plan", at / "plan", "--shards", str(shards)], check=True)


def planned(at, arena=ARENA, shards=RAYLETS):
    plan(at, shards)
    build(str(at / "plan"), str(at / "work"), arena)


def by_hand(at):
    """The steps without an engine: each one's shards side by side."""
    plan(at)
    shards = [["--shard", f"{i}/{RAYLETS}"] for i in range(RAYLETS)]
    for step, of in (("map", shards), ("group", [[]] * RAYLETS), ("write", shards)):
        started = [subprocess.Popen([ARENA, "stage", step, "--plan", at / "plan", "--work", at / "work", "-q", *shard]) for shard in of]
        assert not any([p.wait() for p in started]), step


def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def tree(root):
    """The process and all that it started: a node that loses its power."""
    parents = {int(p.name): parent(int(p.name)) for p in Path("/proc").glob("[0-9]*")}
    found = [root]
    for pid in found:
        found += [child for child, of in parents.items() if of == pid]
    return found


class Killer(threading.Thread):
    """Kills, once in each step, the raylet of the first shard that starts."""

    def __init__(self, log):
        super().__init__(daemon=True)
        self.log, self.killed = log, {}

    def run(self):
        while len(self.killed) < 3:
            time.sleep(0.01)
            for line in self.log.read_text().splitlines():
                pid, step, shard = line.split()
                if step not in self.killed:
                    try:
                        self.kill(parent(parent(int(pid))), step, shard)
                    except (FileNotFoundError, ProcessLookupError):
                        continue  # it has ended already

    def kill(self, raylet, step, shard):
        if "raylet" not in Path(f"/proc/{raylet}/cmdline").read_text():
            return
        for pid in tree(raylet):
            os.kill(pid, signal.SIGKILL)
        self.killed[step] = shard


def disturbed(at, want):
    log = at / "log"
    log.touch()
    wrapper = at / "arena"
    wrapper.write_text(f'#!/bin/sh\ns=-; for a; do case $a in */{SHARDS}) s=$a;; esac; done\necho $$ $2 $s >>{log}\nexec {ARENA} "$@"\n')
    wrapper.chmod(0o755)
    killer = Killer(log)
    killer.start()
    planned(at, str(wrapper), SHARDS)
    starts = collections.Counter(tuple(line.split()[1:]) for line in log.read_text().splitlines())
    again = {k: n for k, n in starts.items() if n > 1}
    print("raylets killed in", killer.killed, "- ran again:", again)
    assert hashes(at / "out") == want, "the files differ"
    assert set(killer.killed) == {"map", "group", "write"}, killer.killed
    assert set(again) <= set(killer.killed.items()), "a shard ran twice that was not lost"


def main():
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(RAYLETS):
        cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    times = {local: [], by_hand: [], planned: []}
    with tempfile.TemporaryDirectory() as temp:
        for i in range(SAMPLES + 1):  # the first starts the workers and fills the page cache
            for how in times:
                at = Path(temp) / f"{how.__name__}{i}"
                at.mkdir()
                times[how].append(timed(lambda: how(at)))
                want = hashes(Path(temp) / "local0" / "out")
                assert hashes(at / "out") == want, f"{at}: the files differ"
        for what, peer in (("arena build", local), ("the steps without an engine", by_hand)):
            ratios = [engine / plain for engine, plain in zip(times[planned][1:], times[peer][1:])]
            print(f"n={SAMPLES} Ray takes {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) times as long as {what}")
        print(f"medians {[round(statistics.median(t[1:]), 2) for t in times.values()]} s; {len(want)} files, same hashes")
        for _ in range(2):  # for three are killed
            cluster.add_node(num_cpus=1)
        at = Path(temp) / "disturbed"
        at.mkdir()
        disturbed(at, want)
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()
