"""Runs what a reader pastes from the pages: every block of language sh, in its order, as it stands.

    check_pages.py ARENA WORK [VENV MODEL] [--only WORD]

A page has a clone of its own, a home of its own and a shell of its own, in which nothing but loopback is reachable where
the system allows it. Each line that fails is named. A block of language text is what the block before it prints, each
line of it. Where the sentence before a block ends in a file's name and a colon, as in `panel.yaml`:, the block is written
to that file. VENV, an environment with TRL, stands first on the shell's path, and runs the blocks of language python.
Where a page says "the block `B` of `FILE` as `SCRIPT`", the script is that block of the card, whose model's name becomes
MODEL, or what the page says behind it. Blocks without a language are not run; they are listed with what they need.
Exit 1 where a line failed.
"""
import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "Qwen/Qwen3-0.6B"
SAVE = re.compile(r"the\s+block\s+`([^`]+)`\s+of\s+`([^`]+)`\s+as\s+`([^`]+)`(?:,\s+with\s+the\s+model\s+`([^`]+)`)?")
BLOCK = re.compile(r"(.*?)^```([^\n]*)\n(.*?)^```", re.S | re.M)
NEEDS = [  # what a block without a language needs, by what stands in it
    ("a GPU", r"vllm|sglang|SBATCH"), ("an account", r"hf://|s3://"), ("Kubernetes", r"kubectl"),
    ("hours", r"recipes/student\.py"), ("the project's history", r"git worktree"),
    ("a file or server of the reader's", r"…|\b(DAY|URL2?|MODEL|CORPUS|RUN|FILE|CATALOG|F|M)\b|Qwen3-32B|\.example\."),
]


def pages() -> list[Path]:
    tracked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    skip = ("docs/decisions/", "testdata/", "docs/training.md", "CONTRIBUTING.md")  # blocks of training.md: check_paste.py; checks of the project
    return [Path(p) for p in tracked if not p.startswith(skip)]


def save(card: str, heading: str, script: str, model: str) -> None:
    """Saves the block of a card with this heading, as a reader does; see SAVE."""
    trainer, config = heading.split(", config ")
    blocks = Path(card).read_text().split(f"\n{trainer}, config `{config}`:\n\n```")
    if len(blocks) != 2:
        sys.exit(f"{len(blocks) - 1} blocks {heading} in {card}")
    text = blocks[1].split("\n", 1)[1].split("```")[0]
    if NAME not in text:
        sys.exit(f"no {NAME} in {heading} of {card}")
    Path(script).write_text(text.replace(NAME, model))


def clone(at: Path) -> None:
    shutil.rmtree(at, ignore_errors=True)
    at.mkdir(parents=True)
    subprocess.run("git ls-files -zco --exclude-standard | tar --null -T - -c | tar -x -C " + str(at), shell=True, cwd=ROOT, check=True)


def alone() -> list[str]:
    """What goes before a shell that only loopback is for, where that is possible."""
    as_root = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "-"]
    try:
        subprocess.run([*as_root, "true"], check=True, capture_output=True)
        return as_root
    except (OSError, subprocess.CalledProcessError):
        return []


class Page:
    def __init__(self, path: Path, a: argparse.Namespace, before: list[str]):
        self.model, self.path, self.before, self.python = a.model, path, before, a.venv and f'{a.venv}/bin/python'
        self.at = Path(a.work).resolve() / "pages" / str(path).replace("/", "-").removesuffix(".md")
        caches = subprocess.run(["go", "env", "GOCACHE", "GOMODCACHE", "GOROOT"], capture_output=True, text=True, check=True).stdout.split()
        (self.at.parent / "home").mkdir(parents=True, exist_ok=True)
        self.env = {
            "PATH": (f"{Path(a.venv).resolve()}/bin:" if a.venv else "") + f"{Path(a.work).resolve()}/bin:{caches[2]}/bin:/usr/local/bin:/usr/bin:/bin", "HOME": str(self.at.parent / "home"), "LANG": "C.UTF-8", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "2",
            "GOCACHE": caches[0], "GOMODCACHE": caches[1], "GOFLAGS": "-buildvcs=false", "GOPROXY": "off"}
        self.ran = self.failed = 0
        self.left: list[str] = []

    def say(self, ok: bool, what: str) -> None:
        self.ran += 1
        self.failed += not ok
        if not ok:
            print(f"FAIL {self.path}: {what}", flush=True)

    def play(self, seconds: int) -> None:
        """Writes all blocks of the page as one shell's lines, with a mark before each block, and holds what came of it."""
        lines, blocks = ["set -E", 'trap \'echo "@@FAIL exit $? of: $BASH_COMMAND"\' ERR'], []
        for said, language, text in BLOCK.findall((ROOT / self.path).read_text()):
            for heading, card, script, model in SAVE.findall(said):
                lines.append(shlex.join([sys.executable, __file__, "--save", card, heading, script, model or self.model]))
            name = re.search(r"`([\w./-]+)`:$", said.rstrip())
            if name and language not in ("sh", "text"):
                lines.append(f"cat >{name[1]} <<'@@END'\n{text}@@END")
            elif language == "sh":
                blocks.append([text, ""])
                lines.append(f"echo '@@{len(blocks) - 1}'\n{text}")
            elif language == "python" and self.python:
                blocks.append([text, ""])
                lines.append(f"echo '@@{len(blocks) - 1}'\npython - <<'@@END'\n{text}@@END")
            elif language == "text":
                blocks[-1][1] = text
            else:
                need = next((need for need, sign in NEEDS if re.search(sign, text)), "is no command")
                self.left.append(f"{self.path}: {text.strip().splitlines()[0][:90]} ({need})")
        if not blocks:
            return
        clone(self.at)
        script = self.at.with_suffix(".sh")
        script.write_text("\n".join(lines) + "\necho @@end\n")
        log = script.with_suffix(".log")
        with log.open("w") as out:
            process = subprocess.Popen([*self.before, "bash", script], cwd=self.at, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                       start_new_session=True)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        running = subprocess.run(["ps", "-o", "args=", "-g", str(process.pid)], capture_output=True, text=True).stdout.splitlines()
        running = [args for args in running if "<defunct>" not in args]
        self.say(not running, f"still runs when the page ends: {running}")
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        self.judge(blocks, log.read_text(errors="replace"))

    def judge(self, blocks: list[list[str]], out: str) -> None:
        parts = re.split(r"^@@(\d+|end)$\n?", out, flags=re.M)
        printed = dict(zip(parts[1::2], parts[2::2]))
        self.say("end" in printed, "the shell did not come to the page's end: " + out[-200:])
        for i, (text, want) in enumerate(blocks):
            said = printed.get(str(i), "")
            failed = re.findall(r"^@@FAIL (.*)$", said, re.M)
            first = text.strip().splitlines()[0][:90]
            self.say(not failed, f"{first}: {'; '.join(failed)}: {said.strip()[:300]}")
            missing = [line for line in want.splitlines() if line.rstrip() not in map(str.rstrip, said.splitlines())]
            self.say(not missing, f"{first} does not print {missing[:1]}")


def main() -> None:
    if sys.argv[1:2] == ["--save"]:
        return save(*sys.argv[2:])
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("arena", type=Path)
    p.add_argument("work")
    p.add_argument("venv", nargs="?", default="")
    p.add_argument("model", nargs="?", default="")
    p.add_argument("--only", default="")
    p.add_argument("--seconds", type=int, default=300)
    a = p.parse_args()
    (Path(a.work) / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copy(a.arena, Path(a.work) / "bin/arena")
    before, ran, failed, left = alone(), 0, 0, []
    for path in pages():
        if re.search(a.only, str(path)):
            page = Page(path, a, before)
            page.play(a.seconds)
            if page.ran:
                print(f"{'FAIL' if page.failed else 'ok':4} {path}: {page.ran - page.failed} of {page.ran} held", flush=True)
            ran, failed, left = ran + page.ran, failed + page.failed, left + page.left
    print("not run:", *left, sep="\n     ")
    print(f"{ran - failed} of {ran} held, {len(left)} blocks not run" + ("" if before else "; the network was reachable"))
    sys.exit(bool(failed) or not ran)


if __name__ == "__main__":
    main()
