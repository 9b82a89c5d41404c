"""Plays the indices of deploy/k8s.yaml by hand: no cluster is asked.

    python check_k8s.py ARENA DAY     needs PyYAML

Each Job's indices run as its args say, the first two of each killed once, as the kubelet would start them anew.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml


def play(jobs, arena, day, root):
    def call(args, **how):
        return subprocess.Popen([arena] + [a.replace("/w/", f"{root}/") for a in args], stderr=subprocess.PIPE, text=True, **how)

    def done(p):
        said = p.communicate()[1]
        assert p.returncode == 0, said

    done(call(["build", day, "-o", "/w/out", "--plan", "/w/plan.json", "--shards", str(jobs[0]["spec"]["completions"]), "-q"]))
    for job in jobs:
        for i in range(job["spec"]["completions"]):
            args = [a.replace("$(JOB_COMPLETION_INDEX)", str(i)) for a in job["spec"]["template"]["spec"]["containers"][0]["args"]]
            if i < 2:
                lost = call(args)
                time.sleep(0.05)
                lost.kill()
                lost.communicate()
            done(call(args))
    done(call(["build", day, "-o", "/w/whole", "-q"]))
    subprocess.run(["diff", "-r", f"{root}/out", f"{root}/whole"], check=True)


def main():
    arena, day = (str(Path(a).resolve()) for a in sys.argv[1:3])
    jobs = yaml.safe_load((Path(__file__).parents[2] / "deploy" / "k8s.yaml").read_text())["items"]
    with tempfile.TemporaryDirectory() as root:
        play(jobs, arena, day, root)
    print(f"{len(jobs)} Jobs: their indices, played, make the files of one build")


if __name__ == "__main__":
    main()
