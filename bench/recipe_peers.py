"""Times arena build against datatrove and Data-Juicer on the same attempts.

    go build -o /tmp/arena ./cmd/arena
    go run ./bench/daygen -o /tmp/day -attempts 6000 -problems 300 -gz -sentences 9 -pages 1
    python3 -m venv /tmp/datatrove && /tmp/datatrove/bin/pip install -r bench/peers/requirements-datatrove.txt
    python3 -m venv /tmp/juicer && /tmp/juicer/bin/pip install -r bench/peers/requirements-juicer.txt
    python3 bench/recipe_peers.py --arena /tmp/arena --day /tmp/day -n 5 --text wrote \
        --datatrove /tmp/datatrove/bin/python --juicer /tmp/juicer/bin/dj-process

Each program reads the attempts, filters them by a rule, finds near-duplicates by
MinHash and writes Parquet, with its own defaults. The peers get
JSON lines that are prepared before the clock runs: the text, the status and the
attempt itself, unpacked. Their rule is the status. With --text wrote they hash what
the model wrote, which is what arena hashes of the attempts that its filter keeps;
with --text dialogue they hash the tools' results too, with --text short the first
200 characters. arena reads the day as it is, and also scores, judges, guards, ranks,
splits and redacts. The programs run in turn. The peers run in one process each, so that
no CPU time of a process that nobody waits for is missed; their wall times are therefore
those of one worker, and arena has one worker too.
"""
import argparse, glob, gzip, json, os, shutil, statistics, subprocess, sys, tempfile, time

DATATROVE = """
import sys
from datatrove.executor import LocalPipelineExecutor as Run
from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.filters import LambdaFilter
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers.parquet import ParquetWriter

def kept(document):
    return document.metadata["status"] == "SUCCESS"

if __name__ == "__main__":
    rows, work = sys.argv[1:]
    config = MinhashConfig()
    read = lambda: [JsonlReader(rows), LambdaFilter(kept)]
    log = lambda name: dict(logging_dir=work + "/log-" + name, skip_completed=False)
    Run([*read(), MinhashDedupSignature(work + "/signatures", config=config)], tasks=2, workers=1, **log("sign")).run()
    Run([MinhashDedupBuckets(work + "/signatures", work + "/buckets", config=config)], tasks=config.num_buckets, workers=1, **log("buckets")).run()
    Run([MinhashDedupCluster(work + "/buckets", work + "/remove", config=config)], tasks=1, **log("cluster")).run()
    Run([*read(), MinhashDedupFilter(work + "/remove"), ParquetWriter(work + "/out")], tasks=2, workers=1, **log("write")).run()
"""

JUICER = """
project_name: peers
dataset_path: {rows}
export_path: {work}/out.parquet
work_dir: {work}
np: 1
use_cache: false
open_tracer: false
process:
  - specified_field_filter: {{field_key: status, target_value: [SUCCESS]}}
  - document_minhash_deduplicator: {{}}
"""


def wrote(step):
    message = step["completion"].get("message") or {}
    calls = [f'{c.get("name")} {json.dumps(c.get("parameters"))}' for c in message.get("tool_call") or []]
    return " ".join([message.get("think") or "", message.get("response") or "", *calls])


TEXTS = {
    "wrote": lambda a: "\n".join(wrote(s) for s in a["dialogue"] or []),
    "dialogue": lambda a: "\n".join(json.dumps(s["completion"]) for s in a["dialogue"] or []),
    "short": lambda a: "\n".join(wrote(s) for s in a["dialogue"] or [])[:200],
}


def prepare(day, text, folder):
    """The peers' input: two files of JSON lines. Returns the number of attempts, and of those that pass the rule."""
    files = [open(f"{folder}/{i}.jsonl", "w") for i in range(2)]
    count, passed, length = 0, 0, 0
    for path in sorted(glob.glob(day + "/traces/*/*.jsonl*")):
        opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
        with opened as lines:
            for line in lines:
                attempt = json.loads(line)
                row = {"id": str(count), "text": TEXTS[text](attempt) or " ", "status": attempt["status"], "attempt": line}
                files[count % 2].write(json.dumps(row) + "\n")
                count += 1
                passed += attempt["status"] == "SUCCESS"
                length += len(row["text"])
    for f in files:
        f.close()
    return count, passed, length / count


def run(argv):
    """Wall seconds, and CPU seconds of a process and of all processes that it waited for."""
    before = os.times()
    start = time.monotonic()
    done = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall = time.monotonic() - start
    after = os.times()
    if done.returncode:
        sys.exit(f"{argv[:2]} ended with status {done.returncode}:\n{done.stderr[-2000:]}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--arena", required=True)
    p.add_argument("--day", required=True)
    p.add_argument("--datatrove", help="the python of an environment with datatrove")
    p.add_argument("--juicer", help="the program dj-process")
    p.add_argument("--text", choices=TEXTS, default="wrote")
    p.add_argument("-n", type=int, default=5)
    a = p.parse_args()
    work = tempfile.mkdtemp(prefix="recipe-peers-")
    rows = work + "/rows"
    os.mkdir(rows)
    open(work + "/trove.py", "w").write(DATATROVE)
    times = {}

    def measure(name, argv, out):
        for path in (out, out + ".work"):
            shutil.rmtree(path, ignore_errors=True)
        times.setdefault(name, []).append(run(argv))

    try:
        count, passed, length = prepare(a.day, a.text, rows)
        for _ in range(a.n):
            measure("arena build", [a.arena, "build", a.day, "-o", work + "/corpus", "-q", "-j", "1"], work + "/corpus")
            if a.datatrove:
                measure("datatrove", [a.datatrove, work + "/trove.py", rows, work + "/trove"], work + "/trove")
            if a.juicer:
                out = work + "/juicer"
                shutil.rmtree(out, ignore_errors=True)
                os.mkdir(out)
                open(work + "/juicer.yaml", "w").write(JUICER.format(rows=rows, work=out))
                times.setdefault("Data-Juicer", []).append(run([a.juicer, "--config", work + "/juicer.yaml"]))
    finally:
        shutil.rmtree(work)
    print(f"{count} attempts, {passed} pass the peers' rule, {length:.0f} characters an attempt are hashed ({a.text}), n = {a.n}\n")
    print("| | wall s | CPU s | CPU, times arena, pair by pair |\n|---|---:|---:|---:|")
    for name, runs in times.items():
        wall, cpu = zip(*runs)
        ratios = [mine[1] / ours[1] for mine, ours in zip(runs, times["arena build"])]
        print(f"| {name} | {spread(wall)} | {spread(cpu)} | {spread(ratios)} |")


def spread(xs):
    return f"{statistics.median(xs):.2f} ({min(xs):.2f} to {max(xs):.2f})"


if __name__ == "__main__":
    main()
