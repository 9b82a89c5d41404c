"""Load a corpus with the libraries that trainers load with, and compare rows with its manifest.

    python bench/interop/check_load.py CORPUS

What is installed is used: datasets (normal and streaming), pandas, polars, duckdb. datasets before 4.7 must
refuse profile hf-json, whose columns are JSON values, and must load every other. One line per check; the last
says how many passed; exit 1 if one failed, or if nothing could be checked.
"""
import collections
import importlib
import importlib.util
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
        if "import polars" in block and importlib.util.find_spec("polars") is None:
            print("skip card: polars is not installed")
            continue

        def run(code=block):
            names = {}
            os.chdir(root)
            exec(code, names)
            rows = names["rows"]
            if "import polars" in code:
                return all(isinstance(message, str) for row in rows["messages"].to_list() for message in row) and rows.height > 0
            return len(rows) > 0
        results.check(f"card: {block.splitlines()[0].lstrip('# ')[:60]}", run, True)


def plain(value):
    """A value as JSON writes it, whatever a reader's own types are: JSON columns come as text or as its bytes."""
    if hasattr(value, "tolist") and not isinstance(value, (str, bytes)):  # NumPy
        value = value.tolist()
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "timestamp"):  # a date, of Python or pandas
        return None if value != value else round(value.timestamp() * 1000)
    return None if value != value else value


def columns_of(frame):
    """{column: its values} of a pandas frame or a polars frame."""
    return {name: plain(list(frame[name])) if hasattr(frame, "iloc") else plain(frame[name].to_list()) for name in frame.columns}


def by_duckdb(duckdb, path):
    found = duckdb.execute("select * from read_parquet(?)", [path])
    names = [column[0] for column in found.description]
    rows = found.fetchall()
    return {name: plain([row[i] for row in rows]) for i, name in enumerate(names)}


def different(pyarrow, read, path, rows):
    """The columns of a file in which a reader has other values than pyarrow, and what pyarrow has beside the manifest."""
    table = pyarrow.read_table(path)
    if table.num_rows != rows:
        return f"{table.num_rows} rows, want {rows}"
    want = {name: plain(table[name].to_pylist()) for name in table.column_names}
    got = read(path)
    return [name for name in {**want, **got} if got.get(name) != want.get(name)]


def by_frames(results, configs, tables):
    """Every value of every file, in each reader that is installed, against pyarrow's."""
    files = [f for splits in configs.values() for fs in splits.values() for f in fs] + tables
    readers = {"pandas": lambda m, p: columns_of(m.read_parquet(p)), "polars": lambda m, p: columns_of(m.read_parquet(p)), "duckdb": by_duckdb}
    try:
        import pyarrow.parquet as pyarrow
    except ImportError:
        print("skip values: no pyarrow")
        return
    for name, read in readers.items():
        try:
            module = importlib.import_module(name)
        except ImportError:
            print(f"skip {name}: not installed")
            continue
        results.check(f"{name}: every value of {len(files)} files", lambda m=module, r=read: {
            path: bad for path, rows in files if (bad := different(pyarrow, lambda p: r(m, p), path, rows))}, {})


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
