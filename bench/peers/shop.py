"""The task that peers play: the tools of the shop with canned answers, so that
they have less to do than arena, which searches a catalogue and scores."""

import json
import resource

PRODUCTS = json.dumps([
    {"product_id": str(700 + i), "title": f"Blue desk lamp, model {i}", "price": 100 + i, "service": ["COD"], "sold_count": i, "shop_id": "5"} for i in range(10)
])
SYSTEM = "You are a shopping assistant. Find what the customer asks for with the tools, recommend it, and terminate. " * 8


def queries(path, count):
    with open(path) as f:
        texts = [json.loads(line)["query"] for line in f]
    return [texts[i % len(texts)] for i in range(count)]


def cpu():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def rss_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
