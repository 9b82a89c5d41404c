"""Holds deploy/k8s.yaml against the API's own models and plays its indices by hand: no cluster is asked.

    python check_k8s.py ARENA DAY     needs kubernetes and PyYAML

Every key must be one of the model's, every value of its type, nothing required may lack. Then each Job's indices run as
its args say, the first two of each killed once, as the kubelet would start them anew.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml
from kubernetes.client import models

PLAIN = {"str": str, "int": int, "bool": bool}


def strict(value, kind, at):
    """Fails where value is not wholly of the kind, in the words of the client's models."""
    if inner := re.fullmatch(r"[Ll]ist\[(.*)\]", kind):
        assert isinstance(value, list), at
        for i, v in enumerate(value):
            strict(v, inner[1], f"{at}[{i}]")
    elif kind.lower() == "dict[str, str]":
        assert all(isinstance(k, str) and isinstance(v, str) for k, v in value.items()), at
    elif kind in PLAIN:
        assert type(value) is PLAIN[kind], f"{at}: {value!r} is no {kind}"
    else:
        model = getattr(models, kind)
        named = {key: name for name, key in model.attribute_map.items()}
        assert isinstance(value, dict) and set(value) <= set(named), f"{at}: {set(value) - set(named)} unknown"
        for key, v in value.items():
            strict(v, model.openapi_types[named[key]], f"{at}.{key}")
        model(**{named[key]: v for key, v in value.items()})  # it refuses what lacks


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
    for job in jobs:
        strict(job, "V1Job", job["metadata"]["name"])
    wrong = dict(jobs[0], spec=dict(jobs[0]["spec"], backofLimit=1))
    try:
        strict(wrong, "V1Job", "wrong")
    except AssertionError:
        with tempfile.TemporaryDirectory() as root:
            play(jobs, arena, day, root)
        print(f"{len(jobs)} Jobs are strictly V1Job; their indices, played, make the files of one build")
        return
    raise SystemExit("a misspelt key passed")


if __name__ == "__main__":
    main()
