"""Times arena build against DuckDB's read_json to Parquet on the same day.

    go build -o /tmp/arena ./cmd/arena
    go run ./bench/daygen -o /tmp/day -attempts 27000 -problems 300 -gz
    python3 bench/build.py --arena /tmp/arena --day /tmp/day -n 5
    python3 bench/build.py --arena /tmp/arena --day /tmp/day -n 5 --without-peer --one-worker

DuckDB 1.4.1 (pip install duckdb==1.4.1) is what a user would type first: one
statement that reads the JSON lines and writes Parquet with zstd, and neither
filters, scores, judges, guards nor ranks. Both run alternately, on as many
threads, and are measured by the operating system's accounting of the finished
process. Nothing is fetched.
"""
import argparse, glob, os, resource, shutil, statistics, subprocess, sys, tempfile, time

DUCK = """
import duckdb, sys
c = duckdb.connect()
c.execute("set threads=%s" % sys.argv[3])
c.execute("copy (select * from read_json('%s', format='newline_delimited', maximum_object_size=67108864,"
          " union_by_name=true)) to '%s' (format parquet, compression zstd)" % (sys.argv[1], sys.argv[2]))
"""


def run(argv):
    """Wall seconds, CPU seconds and peak memory in MB of one process."""
    start = time.monotonic()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{argv[:2]} ended with status {status}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def plain_bytes(day):
    """Bytes of uncompressed JSON in the day's traces."""
    total = 0
    for f in glob.glob(day + "/traces/*/*.jsonl*"):
        total += int(subprocess.run(f"gzip -dcf '{f}' | wc -c", shell=True, capture_output=True, text=True).stdout)
    return total


def build(a, out, workers):
    """A build into a folder that is not there yet."""
    for d in (out, out + ".work"):
        shutil.rmtree(d, ignore_errors=True)
    return run([a.arena, "build", a.day, "-o", out, "-q", "-j", str(workers)])


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--arena", required=True)
    p.add_argument("--day", required=True)
    p.add_argument("-n", type=int, default=5)
    p.add_argument("-j", type=int, default=2)
    p.add_argument("--without-peer", action="store_true", help="arena alone, for its memory and scaling")
    p.add_argument("--one-worker", action="store_true", help="arena with one worker too, for what further ones are worth")
    a = p.parse_args()
    size = plain_bytes(a.day) / 1e6
    work = tempfile.mkdtemp(prefix="arena-bench-")
    ours, alone, theirs = [], [], []
    try:
        for _ in range(a.n):
            ours.append(build(a, work + "/corpus", a.j))
            if a.one_worker:
                alone.append(build(a, work + "/corpus", 1))
            if not a.without_peer:
                theirs.append(run([sys.executable, "-c", DUCK, a.day + "/traces/*/*.jsonl*", work + "/duck.parquet", str(a.j)]))
    finally:
        shutil.rmtree(work)
    print(f"{size:.0f} MB of JSON, {a.j} workers, n = {a.n}; median (min to max)\n")
    print("| | wall s | CPU s | MB/s | peak MB |\n|---|---:|---:|---:|---:|")
    for name, rows in (("arena build", ours), ("arena build, one worker", alone), ("DuckDB read_json to Parquet", theirs)):
        if rows:
            wall, cpu, mem = zip(*rows)
            print(f"| {name} | {spread(wall)} | {spread(cpu)} | {size / statistics.median(wall):.0f} | {max(mem):.0f} |")
    if alone:
        print(f"\n{a.j} workers are {spread([t[0] / o[0] for o, t in zip(ours, alone)])} times as fast as one by the wall, pair by pair")
    if theirs:
        ratio = [t[0] / o[0] for o, t in zip(ours, theirs)]
        cpus = [t[1] / o[1] for o, t in zip(ours, theirs)]
        print(f"\narena is {spread(ratio)} times as fast by the wall, {spread(cpus)} times by CPU, pair by pair")


def spread(xs):
    return f"{statistics.median(xs):.2f} ({min(xs):.2f} to {max(xs):.2f})"


if __name__ == "__main__":
    main()
