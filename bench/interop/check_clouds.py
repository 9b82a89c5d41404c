"""Builds a day in parts through Google's and Azure's kind of store, played on 127.0.0.1 by fake-gcs-server and Azurite,
publishes it there, and has each maker's own client download it and `arena verify` find it good.

    check_clouds.py ARENA DAY FAKE-GCS-SERVER AZURITE FOLDER

ARENA has the build tag clouds. Two processes run each shard side by side, and one more is killed in each step.
"""

import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

from azure.storage.blob import ContainerClient
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage

arena, day, gcs_server, azurite, folder = sys.argv[1], Path(sys.argv[2]).resolve(), *sys.argv[3:5], Path(sys.argv[5]).resolve()
SHARDS = 3
# The account of every emulator of Azure's, as its maker prints it.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def served(argv, port):
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            time.sleep(0.1)
    process.kill()
    sys.exit(f"{argv[0]} does not listen")


def hashes(corpus):
    return {str(f.relative_to(corpus)): hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(corpus.rglob("*")) if f.is_file()}


def stage(step, work, home, shard=None, kill_after=None):
    """One process of a step; it is killed after so many seconds, if it still runs."""
    argv = [arena, "stage", step, "--plan", str(home / "plan.json"), "--work", work, "-q"] + (["--shard", f"{shard}/{SHARDS}"] if shard is not None else [])
    # TMPDIR of its own: nothing is shared but the store
    scratch = home / f"tmp-{step}-{shard}-{time.monotonic_ns()}"
    scratch.mkdir()
    process = subprocess.Popen(argv, env={**os.environ, "TMPDIR": str(scratch)})
    if kill_after is not None:
        try:
            process.wait(kill_after)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return process


def built(name, work, want):
    """Builds in parts through a store and compares every file with the build of one process."""
    home = folder / name
    home.mkdir()
    subprocess.run([arena, "build", str(day), "-o", str(home / "out"), "--plan", str(home / "plan.json"), "--shards", str(SHARDS), "-q"], check=True)
    killed = 0
    for step, shards in (("map", range(SHARDS)), ("group", [None]), ("write", range(SHARDS))):
        killed += stage(step, work, home, shards[0], 0.25).returncode == -9
        for shard in shards:
            twins = [stage(step, work, home, shard) for _ in range(2)]
            assert all(t.wait() == 0 for t in twins), f"{name}: {step} {shard} ended with {[t.returncode for t in twins]}"
    assert hashes(home / "out") == want, f"{name}: other bytes"
    return killed


def published(name, url, download):
    """Publishes to a store; what its maker's client downloads is good."""
    subprocess.run([arena, "publish", str(folder / "local"), "--to", url, "--license", "cc-by-4.0", "-q"], check=True)
    subprocess.run([arena, "verify", url, "-q"], check=True)
    back = folder / f"{name}-back"
    n = 0
    for key, content in download("public/"):
        path = back / key.removeprefix("public/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        n += 1
    subprocess.run([arena, "verify", str(back), "-q"], check=True)
    return n


shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
subprocess.run([arena, "build", str(day), "-o", str(folder / "local"), "-q"], check=True)
want = hashes(folder / "local")
gcs_port, azure_port = free_port(), free_port()
os.environ |= {"STORAGE_EMULATOR_HOST": f"127.0.0.1:{gcs_port}", "AZURE_STORAGE_ACCOUNT": ACCOUNT, "AZURE_STORAGE_KEY": KEY}
servers = [
    served([gcs_server, "-scheme", "http", "-host", "127.0.0.1", "-port", str(gcs_port), "-backend", "memory", "-public-host", f"127.0.0.1:{gcs_port}"], gcs_port),
    served([azurite, "--silent", "--skipApiVersionCheck", "--blobHost", "127.0.0.1", "--blobPort", str(azure_port), "-l", str(folder / "azurite")], azure_port),
]
try:
    google = storage.Client(project="test", credentials=AnonymousCredentials(), client_options={"api_endpoint": f"http://127.0.0.1:{gcs_port}"})
    google.create_bucket("days")
    azure = ContainerClient(f"http://127.0.0.1:{azure_port}/{ACCOUNT}", "days", credential=KEY)
    azure.create_container()
    stores = {
        "gs": ("gs://days/{}?anonymous=true", lambda prefix: ((b.name, b.download_as_bytes()) for b in google.list_blobs("days", prefix=prefix))),
        "azblob": ("azblob://days/{}?protocol=http&localemu=true&domain=" + f"127.0.0.1:{azure_port}", lambda prefix: ((b.name, azure.download_blob(b.name).readall()) for b in azure.list_blobs(prefix))),
    }
    for name, (url, download) in stores.items():
        killed = built(name, url.format("work"), want)
        left = [key for key, _ in download("work/")]
        n = published(name, url.format("public"), download)
        print(json.dumps({"store": name, "files alike": len(want), "killed": killed, "objects left in the work": len(left), "published": n}))
finally:
    for server in servers:
        server.kill()
        server.wait()
