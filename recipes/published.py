"""A bank for student.py --bank of published problems and real documents: python published.py FOLDER PROBLEMS… [--products FILE].

PROBLEMS are suites of the subnet or files of ShoppingBench. A problem names the product that solves it with its id, title,
attributes, options, services and bounds of the price, and not the whole document. FOLDER/catalog.jsonl has a document for
each such product, with what is published. **Invented** are its price, between the bounds, and its shop. Problems of one
product with a bound of the price and without a voucher become FOLDER/problems.jsonl; of the others only the products are
used. Each problem's product has an invented twin with a price beyond the bound: without one, the first result of a search
for the whole request is nearly always right.

FILE has real documents, which the catalogue has as they are. No published problem may ask for any of them, so each
gets one problem that is made here, of four words of its title, two attributes, a service and a bound of the price.
"""
import argparse
import hashlib
import json
from pathlib import Path

SERVICES = {"official": "LazMall authenticity", "COD": "cash on delivery", "freeShipping": "free shipping", "flashsale": "LazFlash deals"}
PRICE = 100.0  # where no bound is published


def read(file: str) -> list[dict]:
    text = Path(file).read_text(encoding="utf-8")
    return json.loads(text) if text.lstrip().startswith("[") else list(map(json.loads, text.splitlines()))


def products(problem: dict) -> list[dict]:
    reward = problem["reward"]
    return reward if isinstance(reward, list) else [reward]


def merged(parts: list[dict]) -> dict[str, list]:
    return {name: values for part in parts for name, values in part.items()}


def document(product: dict) -> dict:
    """What is published of a product, as a catalogue has it."""
    low, high = bounds(product)
    price = (low + high) / 2 if low and high else 1.25 * low if low else 0.8 * high if high else PRICE
    options = {str(n): option for n, option in enumerate(product.get("sku_options") or [], 1)}
    return {"product_id": product["product_id"], "shop_id": product["product_id"], "title": product["title"][0], "price": round(price, 2), "service": product.get("service") or [],
            "sold_count": 1, "short_description": "", "description": "", "attributes": merged(product.get("attributes") or []), "sku_options": options}


def twin(task: dict, documents: dict[str, dict]) -> dict:
    """The same product at a price that the request excludes."""
    d, (low, high) = documents[task["reward"]["product_id"]], bounds(task["reward"])
    return d | {"product_id": str(int(hashed(d["product_id"])[:8], 16)), "price": round(1.5 * high if high else 0.6 * low, 2)}


def bounds(product: dict) -> tuple[float | None, float | None]:
    return next((tuple(b) for bound in product.get("price") or [] for b in bound.values()), (None, None))


def asked(d: dict) -> dict:
    """A problem about a real document."""
    kind = " ".join(d["title"].split()[:4])
    wanted = [{name: values[:1]} for name, values in d["attributes"].items() if name != "model" and values][:2]
    words = [f"{name.replace('_', ' ')} {values[0]}" for part in wanted for name, values in part.items()]
    words += [SERVICES[s] for s in d["service"][:1] if s in SERVICES]
    limit = int(1.2 * d["price"]) + 1
    query = f"Looking for {kind} priced below {limit} PHP" + (", with " + ", ".join(words) if words else "") + "."
    reward = {"product_id": d["product_id"], "title": [d["title"]], "attributes": wanted, "service": d["service"][:1], "price": [{"less than": [None, limit]}]}
    return {"query": query, "reward": {name: value for name, value in reward.items() if value}}


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=Path)
    p.add_argument("problems", nargs="+", help="suites or files of ShoppingBench")
    p.add_argument("--products", default="", help="real documents, JSON lines")
    p.add_argument("--most", type=int, default=0, help="the most published problems, chosen by the hash of their request; all if 0")
    a = p.parse_args()
    real = read(a.products) if a.products else []
    published = {x["query"]: x for file in a.problems for x in read(file)}
    found = {d["product_id"]: d for d in (document(w) for x in published.values() for w in products(x))} | {d["product_id"]: d for d in real}
    single = [x for x in published.values() if len(products(x)) == 1 and "voucher" not in x and any(bounds(products(x)[0]))]
    single = sorted(single, key=lambda x: hashed(x["query"]))[: a.most or None]
    tasks = [*({"query": x["query"], "reward": products(x)[0]} for x in single), *map(asked, real)]
    a.folder.mkdir(parents=True, exist_ok=True)
    found |= {d["product_id"]: d for d in [twin(t, found) for t in tasks]}
    write(a.folder / "catalog.jsonl", [found[i] for i in sorted(found, key=hashed)])
    write(a.folder / "problems.jsonl", [{"problem_id": hashed(t["query"]), "category": "Product", **t} for t in tasks])
    print(f"{len(single)} published problems, {len(real)} about real documents, {len(found)} products")


def hashed(query: str) -> str:
    return hashlib.sha256(query.encode()).hexdigest()[:32]


def write(file: Path, rows: list[dict]) -> None:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
