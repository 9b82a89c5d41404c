"""Times arena's MinHash against PyPI wheels on the same documents, alternately, on one core.

    python -m venv .venv && .venv/bin/pip install gaoya rensa datasketch
    go build -o minhash ./bench/minhash
    .venv/bin/python bench/minhash/compare.py ./minhash [--documents 4000] [--rounds 5]

Every tool gets the documents in memory, splits them into words, makes 5-grams, signs with 128
values (gaoya: 126) and fills its index; then, as a step of its own, every document asks the
index for its near-duplicates. Ours is shown twice: signatures alone, and the whole step with
bands, exact comparison of candidates and clusters, of which the others leave exactness and
clusters to the caller. Processor time, so that a busy machine does not count. A tool that is
not installed is left out and named. Prints medians and ratios.
"""

import argparse
import importlib.util
import os
import random
import re
import statistics
import subprocess
import sys
import time

WORDS = re.compile(r"\w+")
PEER_STEPS = (("index filled", False), ("index filled and asked", True))


def shingles(text):
    words = WORDS.findall(text.lower())
    if len(words) < 5:
        return [" ".join(words)]
    return [" ".join(words[i : i + 5]) for i in range(len(words) - 4)]


def gaoya(docs, find):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(32, 0.8, 14, 9, 126, "word", True, (5, 5))
    for i, text in enumerate(docs):
        index.insert_document(i, text)
    if find:
        for text in docs:
            index.query(text)


def rensa(docs, find):
    from rensa import RMinHash, RMinHashLSH

    index, signatures = RMinHashLSH(threshold=0.8, num_perm=128, num_bands=16), []
    for i, text in enumerate(docs):
        m = RMinHash(num_perm=128, seed=42)
        m.update(shingles(text))
        index.insert(i, m)
        signatures.append(m)
    if find:
        for m in signatures:
            [other for other in index.query(m) if m.jaccard(signatures[other]) >= 0.8]


def datasketch(docs, find):
    from datasketch import MinHash, MinHashLSH

    index, signatures = MinHashLSH(threshold=0.8, num_perm=128), []
    for i, text in enumerate(docs):
        m = MinHash(num_perm=128)
        m.update_batch([s.encode() for s in shingles(text)])
        index.insert(i, m)
        signatures.append(m)
    if find:
        for m in signatures:
            index.query(m)


def families(n, length=330):
    """Documents of families: a base, and copies with one word in twenty exchanged or fewer."""
    dice, base = random.Random(1), []
    for _ in range(n):
        if not base or dice.randrange(3) == 0:
            base = [f"w{dice.randrange(1 << 16):x}" for _ in range(length)]
        doc = base.copy()
        for _ in range(dice.randrange(1 + length // 20)):
            doc[dice.randrange(length)] = f"x{dice.randrange(1 << 16):x}"
        yield " ".join(doc)


def ours(binary, blob):
    out = subprocess.run([binary], input=blob, stdout=subprocess.PIPE, check=True).stdout
    return [float(field) for field in out.split()]


def timed(tool, docs, find):
    start = time.process_time()
    tool(docs, find)
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--documents", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.environ["RAYON_NUM_THREADS"] = "1"

    docs = list(families(args.documents))
    blob = "\0".join(docs).encode()
    tools = {}
    for tool in (gaoya, rensa, datasketch):
        if importlib.util.find_spec(tool.__name__):
            tools[tool.__name__] = tool
        else:
            print(f"{tool.__name__} is not installed and left out", file=sys.stderr)

    signing, whole = "arena, signatures", "arena, clusters compared exactly"
    steps = {f"{name}, {step}": (tool, find) for name, tool in tools.items() for step, find in PEER_STEPS}
    seconds = {signing: [], whole: [], **{name: [] for name in steps}}
    for _ in range(args.rounds):
        for name, value in zip((signing, whole), ours(args.binary, blob)):
            seconds[name].append(value)
        for name, (tool, find) in steps.items():
            seconds[name].append(timed(tool, docs, find))
    sign, full = statistics.median(seconds[signing]), statistics.median(seconds[whole])
    megabytes = len(blob) / 1e6
    print("| tool | docs/s | MB/s | time, in our signatures' | in our whole step's | rounds |\n|---|---|---|---|---|---|")
    for name, times in seconds.items():
        median = statistics.median(times)
        print(f"| {name} | {len(docs) / median:,.0f} | {megabytes / median:.1f} | {median / sign:.1f} | {median / full:.1f} | {len(times)} |")


if __name__ == "__main__":
    main()
