"""Load a corpus with the libraries that trainers load with, and compare rows with its manifest.

    python bench/interop/check_load.py CORPUS

What is installed is used: datasets (normal and streaming), pandas, polars, duckdb. datasets before 4.7 must
refuse profile hf-json, whose columns are JSON values, and must load every other. One line per check; the last
says how many passed; exit 1 if one failed, or if nothing could be checked.
"""
import collections
import importlib
import json
import os
import re
import sys
import tempfile

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_CACHE=tempfile.mkdtemp(prefix="check-load-"), TQDM_DISABLE="1")


class Results:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, run, want):
        """Run gives what should equal want; an exception is a failure."""
        try:
            got = run()
        except Exception as error:  # a loader may raise anything
            got = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
        good = got == want
        self.passed += good
        self.failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {name}" + ("" if good else f": {got}, want {want}"), flush=True)


def shards(root):
    """{config: {split: [(path, rows)]}} of the Parquet shards, {config: profile}, and the tables."""
    with open(os.path.join(root, "manifest.json"), encoding="utf-8") as file:
        files = json.load(file)["files"]
    configs, profiles, tables = collections.defaultdict(lambda: collections.defaultdict(list)), {}, []
    for entry in files:
        path = os.path.join(root, entry["path"])
        if not path.endswith(".parquet"):
            continue
        if "config" in entry:
            configs[entry["config"]][entry["split"]].append((path, entry["rows"]))
            profiles[entry["config"]] = entry["profile"]
        else:
            tables.append((path, entry["rows"]))
    return configs, profiles, tables


def counts(loaded):
    return {split: sum(1 for _ in rows) for split, rows in loaded.items()}


def by_datasets(results, datasets, root, configs, profiles):
    version = tuple(int(x) for x in datasets.__version__.split(".")[:2])
    for config, splits in configs.items():
        want = {split: sum(rows for _, rows in files) for split, files in splits.items()}
        files = {split: [path for path, _ in fs] for split, fs in splits.items()}
        name = f"{config}: datasets {datasets.__version__}"
        if version < (4, 7) and profiles[config] == "hf-json":
            results.check(f"{name} refuses JSON values", lambda f=files: refused(datasets, f), True)
            continue
        results.check(name, lambda c=config: counts(datasets.load_dataset(root, c)), want)
        results.check(f"{name} streaming", lambda c=config: counts(datasets.load_dataset(root, c, streaming=True)), want)
        if profiles[config] == "hf-json":
            results.check(f"{name} decodes", lambda c=config: decoded(datasets.load_dataset(root, c)), True)


def refused(datasets, files):
    try:
        datasets.load_dataset("parquet", data_files=files)
    except ValueError as error:
        return "arrow.json" in str(error)
    return False


def decoded(loaded):
    """Messages are dicts whose arguments are dicts, and no value was filled in."""
    for rows in loaded.values():
        for row in rows:
            for message in row["messages"]:
                if not isinstance(message, dict) or None in message.values():
                    return message
                if any(not isinstance(c["function"]["arguments"], dict) for c in message.get("tool_calls", [])):
                    return message
    return True


def by_snippets(results, root):
    """The load snippets of the card, run in the corpus's folder as they stand."""
    with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
        text = re.sub(r"\n## Training\n.*?(?=\n## )", "", file.read(), flags=re.S)  # what trainers run is checked by check_train.py
        blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    for block in blocks:
        def run(code=block):
            names = {}
            os.chdir(root)
            exec(code, names)
            return len(names["rows"]) > 0
        results.check(f"card: {block.splitlines()[0].lstrip('# ')[:60]}", run, True)


def by_frames(results, configs, tables):
    files = [f for splits in configs.values() for fs in splits.values() for f in fs] + tables
    readers = {"pandas": lambda m, p: len(m.read_parquet(p)), "polars": lambda m, p: m.read_parquet(p).height,
               "duckdb": lambda m, p: m.execute("select count(*) from (select * from read_parquet(?))", [p]).fetchall()[0][0]}
    for name, read in readers.items():
        try:
            module = importlib.import_module(name)
        except ImportError:
            print(f"skip {name}: not installed")
            continue
        results.check(f"{name}: {len(files)} files", lambda m=module, r=read: [r(m, p) for p, _ in files], [n for _, n in files])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = os.path.abspath(sys.argv[1])
    configs, profiles, tables = shards(root)
    results = Results()
    by_frames(results, configs, tables)
    try:
        import datasets
        datasets.disable_progress_bars()
    except ImportError:
        print("skip datasets: not installed")
    else:
        by_datasets(results, datasets, root, configs, profiles)
        if tuple(int(x) for x in datasets.__version__.split(".")[:2]) >= (4, 7):
            by_snippets(results, root)
    print(f"{results.passed} passed, {results.failed} failed")
    sys.exit(bool(results.failed) or not results.passed)


if __name__ == "__main__":
    main()
