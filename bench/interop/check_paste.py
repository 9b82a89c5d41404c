"""Runs what a reader pastes, as it stands: the blocks of cards, of docs/training.md and of the exported files.

    check_paste.py ARENA WORK TRAINER=VENV… [--only WORD] [--seconds N] [--prepare]

TRAINER is the first word of a block's heading in lower case (trl, axolotl, llama-factory, ms-swift, verl), VENV the
folder of an environment; several of one trainer stand for its versions. A block of Python without such a heading loads
rows: its TRAINER is the library that it imports, datasets or polars, and datasets where it needs none. Behind TRAINER
may stand / and a pattern: a version that is supported for blocks of this heading alone, such as trl/SFT|DPO. Each block is
written to a file in the folder where a user has it, and run there by a fresh shell. The corpus holds the short attempts of
testdata/day. The model's name is replaced by a small local model, and nothing else. One line a block and version: ok;
runs, where it was still training at the end of its time; not run, where it needs a GPU or vLLM, with what stopped it; or
FAIL. Exit 1 where one failed.
"""
import argparse
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODEL = "Qwen/Qwen3-0.6B"
BLOCK = re.compile(r"\n([^\n]+), config `([^`]+)`:\n\n```(\w+)\n(.*?)```", re.S)
LOADER = re.compile(r"(?<!:)\n\n```python\n(.*?)```", re.S)
LIBRARY = re.compile(r"^(?:import|from) (datasets|polars)\b", re.M)
# What a trainer says where it ran as far as it can without what is named.
NEEDS = {
    "vLLM": re.compile(r"No module named 'vllm'|vllm version None not supported and SGLang also not Found"),
    "a GPU": re.compile(
        r"no NVIDIA driver|No CUDA GPUs|only supported with GPUs|no GPUs found|Total available GPUs 0|not compiled with CUDA|device_type=cuda"
        r"|No module named 'flash_attn'", re.I),
}
STEPS = re.compile(r"\b[1-9]\d*/\d+ \[")  # of a progress bar


def sh(command: str, cwd: Path, path: str, log: Path, seconds: int, **more: str) -> int:
    """Runs a command in a fresh shell, and ends all that it started."""
    home = log.parent / "home"
    home.mkdir(exist_ok=True)
    env = {"PATH": path, "HOME": str(home), "HF_HUB_OFFLINE": "1", "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1", "DO_NOT_TRACK": "1", "AXOLOTL_DO_NOT_TRACK": "1", **more}
    with log.open("w") as out:
        process = subprocess.Popen(["bash", "-c", command], cwd=cwd, env=env, stdout=out, stderr=out, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return 124
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def model(python: Path, export: Path, at: Path) -> None:
    """A small model that was never trained, looks for what a training problem asks for, recommends it and ends."""
    train = {json.loads(line)["problem_id"] for line in (export / "env/train.jsonl").read_text().splitlines()}
    problems = map(json.loads, (ROOT / "testdata/day/problems.jsonl").read_text().splitlines())
    wanted = next(p["reward"] for p in problems if p["problem_id"] in train and isinstance(p["reward"], dict))
    catalog = at.with_suffix(".jsonl")
    catalog.write_text(json.dumps({"product_id": wanted["product_id"], "title": wanted["title"][0]}))
    subprocess.run([python, ROOT / "bench/callingmodel.py", at, catalog, export], check=True)


def free() -> str:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % s.getsockname()[1]


class Shop:
    """arena env serve, as docs/how-to/rl.md starts it."""

    def __init__(self, arena: Path, corpus: Path, log: Path):
        self.url = free()
        day = ROOT / "testdata/day"
        with log.open("w") as out:
            self.server = subprocess.Popen(
                [arena, "env", "serve", "--problems", day / "problems.jsonl", "--catalog", day / "catalog.jsonl", "--corpus", corpus,
                 "--judge", "none", "--reward", "dense", "--listen", self.url], stdout=out, stderr=out)
        time.sleep(3)

    def __enter__(self) -> str:
        return "http://" + self.url

    def __exit__(self, *_: object) -> None:
        self.server.terminate()
        self.server.wait()


def command(trainer: str, language: str, file: str) -> str:
    """What the trainer's own documentation says to type."""
    if language == "python":
        return f"python {file}"
    if language == "bash":
        return f"bash {file}"
    return {"axolotl": "axolotl train ", "llama-factory": "llamafactory-cli train "}[trainer] + file


def last(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    said = [line for line in lines if re.match(r"(\w+\.)*\w*(Error|Exception)\b", line)] or [line for line in lines if line]
    return said[-1][:300] if said else ""


class Run:
    def __init__(self, a: argparse.Namespace):
        self.work = Path(a.work).resolve()
        self.arena, self.only, self.seconds = Path(a.arena).resolve(), re.compile(a.only), a.seconds
        self.venvs = []
        for venv in a.venvs:
            name, at = venv.split("=", 1)
            trainer, _, supported = name.partition("/")
            self.venvs.append((trainer, supported, Path(at).resolve()))
        self.corpus, self.export, self.model = self.work / "corpus", self.work / "export", self.work / "model"
        self.counts = {"ok": 0, "runs": 0, "not run": 0, "FAIL": 0}

    def prepare(self) -> None:
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        subprocess.run([self.arena, "build", ROOT / "testdata/day", "--steps", "--where", "n_steps <= 4", "-o", self.corpus, "-q"], check=True)
        subprocess.run([self.arena, "export", self.corpus, "--profile", "all", "-o", self.export, "-q"], check=True)
        model(next(at for name, _, at in self.venvs if name == "trl") / "bin/python", self.export, self.model)

    def text(self, source: str, folder: Path, text: str, env: str) -> None:
        blocks = [(f"{heading}, {config}", heading.split()[0].lower(), language, block) for heading, config, language, block in BLOCK.findall(text)]
        for block in LOADER.findall(text):
            library = LIBRARY.search(block)
            blocks.append(("loads: " + block.splitlines()[0].lstrip("# ")[:60], library[1] if library else "datasets", "python", block))
        for title, trainer, language, block in blocks:
            for name, supported, venv in self.venvs:
                what = f"{source}: {title}, {venv.name}"
                if name == trainer and re.search(supported, title) and self.only.search(what):
                    self.block(what, folder, command(trainer, language, f"paste.{ {'python': 'py', 'bash': 'sh'}.get(language, language) }"), block, venv, env)

    def block(self, what: str, folder: Path, typed: str, block: str, venv: Path, env: str) -> None:
        at = self.work / "user"
        shutil.rmtree(at, ignore_errors=True)
        shutil.copytree(folder, at)
        (at / typed.split()[-1]).write_text(block.replace(MODEL, str(self.model)))
        log, start = self.work / "log", time.time()
        code = sh(typed, at, f"{venv}/bin:/usr/local/bin:/usr/bin:/bin", log, self.seconds, ARENA_ENV=env)
        said = log.read_text(errors="replace")
        needed = next((what for what, sign in NEEDS.items() if sign.search(said)), "")
        verdict = "ok" if code == 0 else "not run" if needed else "runs" if code == 124 and STEPS.search(said) else "FAIL"
        self.counts[verdict] += 1
        why = f": needs {needed}" * bool(needed) + f": exit {code}, {last(log)}"
        print(f"{verdict:7} {what} ({time.time() - start:.0f} s)" + ("" if code == 0 else why), flush=True)
        if verdict == "FAIL":
            (self.work / ("failed-" + re.sub(r"\W+", "-", what) + ".log")).write_text(said)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("arena")
    p.add_argument("work")
    p.add_argument("venvs", nargs="+")
    p.add_argument("--only", default="")
    p.add_argument("--seconds", type=int, default=900)
    p.add_argument("--prepare", action="store_true", help="only make the corpus, the export and the model")
    a = p.parse_args()
    run = Run(a)
    run.prepare()
    if a.prepare:
        return
    with Shop(run.arena, run.corpus, run.work / "shop.log") as env:
        run.text("card of a build", run.corpus, (run.corpus / "README.md").read_text(), env)
        run.text("card of an export", run.export, (run.export / "README.md").read_text(), env)
        run.text("docs/training.md", run.export, (ROOT / "docs/training.md").read_text(), env)
    print(", ".join(f"{n} {k}" for k, n in run.counts.items()))
    sys.exit(bool(run.counts["FAIL"]) or not run.counts["ok"])


if __name__ == "__main__":
    main()
