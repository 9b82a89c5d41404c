"""Publishes a corpus to moto's S3 on 127.0.0.1, downloads it with boto3 as anybody
would, and has `arena verify` find it good and without what is protected.

    check_publish.py ARENA CORPUS FOLDER
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import boto3
from moto.server import ThreadedMotoServer

arena, corpus, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
shutil.rmtree(folder, ignore_errors=True)
os.environ |= {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
server.start()
host, port = server.get_host_and_port()
try:
    endpoint = f"http://{host}:{port}"
    s3 = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    s3.create_bucket(Bucket="public")
    url = f"s3://public/corpus?region=us-east-1&endpoint={endpoint}&use_path_style=true"
    publish = [arena, "publish", corpus, "--to", url, "--license", "cc-by-4.0", "-q"]
    subprocess.run(publish, check=True)
    again = subprocess.run(publish, stderr=subprocess.PIPE, text=True, check=True)
    assert "nothing to do" in again.stderr, again.stderr
    assert subprocess.run(publish + ["--with-eval"], stderr=subprocess.DEVNULL).returncode != 0, "it wrote over a corpus"
    subprocess.run([*publish, "--force"], check=True)
    subprocess.run([arena, "verify", url], check=True)
    objects = s3.list_objects_v2(Bucket="public", Prefix="corpus/")["Contents"]
    for o in objects:
        path = folder / o["Key"].removeprefix("corpus/")
        path.parent.mkdir(parents=True, exist_ok=True)
        s3.download_file("public", o["Key"], str(path))
finally:
    server.stop()
subprocess.run([arena, "verify", folder], check=True)
subprocess.run([arena, "verify", folder, "--public", "--held-out", corpus], check=True)
assert not (folder / "bank.json").exists()
print(f"{len(objects)} objects came back as they were published")
