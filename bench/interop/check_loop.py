"""Kills the loop with signal 9 once in each of its steps, and in the midst of each training, and starts it again:
python check_loop.py FOLDER -- COMMAND that ends in the output folder's flag -o.

An undisturbed run comes first. What the killed one leaves must be the same: figures and checkpoints byte for byte.
"""
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

STEP = "seed-"  # a line of the loop that says which step begins has it
# What is no result: logs, journals with times, and what was only needed on the way.
APART = ("loop.log", "spent.jsonl", ".work", "/runs/", "/ledger/", "/.new-")


def started(command: list[str], out: Path) -> subprocess.Popen:
    return subprocess.Popen([*command, str(out)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)


def step(line: str) -> str:
    """The step that a line says begins; empty where it says something else."""
    time_, found, rest = line.partition(" " + STEP)
    return rest.split(": ", 1)[1].strip() if found and ": " in rest and time_.count(":") == 2 else ""


def undisturbed(command: list[str], out: Path) -> dict[str, float]:
    """Runs the loop to its end. How long each of its steps took, in seconds."""
    began: list[tuple[str, float]] = []
    loop = started(command, out)
    for line in loop.stdout:
        if name := step(line):
            began.append((name, time.monotonic()))
    if loop.wait():
        sys.exit(f"the loop ended with {loop.returncode}")
    ends = [at for _, at in began[1:]] + [time.monotonic()]
    return {name: end - at for (name, at), end in zip(began, ends)}


def kill(loop: subprocess.Popen) -> None:
    """Ends the loop and all that it started: they share its session."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getsid(int(entry.name)) == loop.pid:
                    os.kill(int(entry.name), signal.SIGKILL)
            except ProcessLookupError:
                pass
    loop.wait()


def killed(command: list[str], out: Path, took: dict[str, float]) -> dict[str, int]:
    """Runs the loop until it ends, and kills it in the middle of each step, as long as that took before. How often each was begun."""
    begun: dict[str, int] = {}
    while True:
        loop = started(command, out)
        for line in loop.stdout:
            if not (name := step(line)):
                continue
            begun[name] = begun.get(name, 0) + 1
            if begun[name] == 1:
                time.sleep(took[name] / 2)
                kill(loop)
                break
        else:
            if loop.wait():
                sys.exit(f"the loop ended with {loop.returncode} when it was started again")
            return begun


def results(out: Path) -> dict[str, str]:
    files = (f for f in sorted(out.rglob("*")) if f.is_file())
    names = {str(f.relative_to(out)): f for f in files}
    return {name: hashlib.sha256(f.read_bytes()).hexdigest() for name, f in names.items() if not any(a in "/" + name for a in APART)}


def main() -> None:
    folder, command = Path(sys.argv[1]), sys.argv[sys.argv.index("--") + 1:]
    shutil.rmtree(folder, ignore_errors=True)
    out = folder / "loop"  # both runs are in one place: what is written may name it
    took = undisturbed(command, out)
    want = results(out)
    out.rename(folder / "undisturbed")
    begun = killed(command, out, took)
    got = results(out)
    never = [name for name, times in begun.items() if times == 1]
    other = sorted(name for name in want.keys() | got.keys() if want.get(name) != got.get(name))
    checkpoints = sum(name.endswith("model.safetensors") for name in want)
    print(f"{len(begun)} steps, {len(begun) - len(never)} of them killed in their midst and begun again; {len(want)} files, "
          f"{checkpoints} checkpoints among them, {len(other)} differ {' '.join(other)}")
    if never:
        print(f"killed after their end: {' '.join(never)}")
    sys.exit(bool(other) or len(never) > len(begun) / 2)


if __name__ == "__main__":
    main()
