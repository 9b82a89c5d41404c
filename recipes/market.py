"""A harder shop and one day of attempts at it: python market.py FOLDER ARENA SEED SHOPS. It is made as world.py makes its own.

A shop has four products of a kind: two makers, two colours, four prices. A problem is of one of three classes, and in each
of them several products satisfy a part of what is asked, and one all of it:

    named    maker and colour
    limited  maker, and a price at most or at least so high
    extreme  the cheapest or the dearest of the kind

Three agents choose equally well and reason differently: the first compares two products and gives a reason, the second
names the one it takes, the third names none. The judge of the gates grades them differently.
"""
import random
import sys
from pathlib import Path

from world import KINDS, MAKERS, Shop, make

COLOURS = "red blue green black white yellow brown purple".split()
ASKS = {
    "named": ("Please find a {colour} {kind} by {maker} in shop {shop}.", "I want a {kind} by {maker} in {colour} from shop {shop}."),
    "at most": ("Please find a {kind} by {maker} for at most {limit} in shop {shop}.", "I want a {kind} by {maker} from shop {shop}, price at most {limit}."),
    "at least": ("Please find a {kind} by {maker} for at least {limit} in shop {shop}.", "I want a {kind} by {maker} from shop {shop}, price at least {limit}."),
    "cheapest": ("Please find the cheapest {kind} in shop {shop}.", "I want the {kind} with the lowest price in shop {shop}."),
    "dearest": ("Please find the dearest {kind} in shop {shop}.", "I want the {kind} with the highest price in shop {shop}."),
}
EXTREME = 0.6  # how often the cheapest and the dearest product are asked for as such


def asked(g: dict, four: list[dict], dice: random.Random) -> dict:
    """What a problem about the product asks, and for what limit."""
    prices = sorted(f["price"] for f in four)
    if g["price"] in (prices[0], prices[-1]) and dice.random() < EXTREME:
        return {"ask": "cheapest" if g["price"] == prices[0] else "dearest", "limit": 0}
    if dice.random() < 0.5:
        return {"ask": "named", "limit": 0}
    other = next(f for f in four if f["maker"] == g["maker"] and f is not g)
    return {"ask": "at most" if g["price"] < other["price"] else "at least", "limit": (g["price"] + other["price"]) // 2}


class Market(Shop):
    agents = 3

    def goods(self, dice: random.Random, shops: list[str]) -> list[dict]:
        ids, found = dice.sample(range(1000, 10000), 4 * len(KINDS) * len(shops)), []
        for kind in KINDS:
            for shop in shops:
                makers, colours, prices = dice.sample(MAKERS, 2), dice.sample(COLOURS, 2), dice.sample(range(11, 99, 2), 4)
                four = [{"id": str(ids.pop()), "kind": kind, "shop": shop, "maker": m, "colour": c, "price": prices.pop()} for m in makers for c in colours]
                found += [g | asked(g, four, dice) for g in four]
        dice.shuffle(found)
        return found

    def document(self, g: dict) -> dict:
        return super().document(g) | {"title": f"{g['colour']} {g['kind']} {g['maker']}{g['id']}", "price": g["price"], "attributes": {"brand": [g["maker"]], "colour": [g["colour"]]}}

    def query(self, g: dict, dice: random.Random) -> str:
        return dice.choice(ASKS[g["ask"]]).format(**g)

    def choice(self, g: dict, taken: dict, found: list[dict], agent: int) -> str:
        title = self.document(taken)["title"]
        return (self.compared(g, taken, found), f"From this list I take {title} for {taken['price']} and recommend it to the customer.",
                "I have read the list and recommend the one product on it that is right for the customer.")[agent]

    def compared(self, g: dict, taken: dict, found: list[dict]) -> str:
        """What tells the taken product from the one that is nearest to it."""
        title, price = self.document(taken)["title"], taken["price"]
        if g["ask"] in ("cheapest", "dearest"):
            rival = sorted((f for f in found if f is not taken), key=lambda f: f["price"], reverse=g["ask"] == "dearest")[0]
            word = "cheaper" if g["ask"] == "cheapest" else "dearer"
            return f"{title} at {price} is {word} than {self.document(rival)['title']} at {rival['price']}, so I take {title}."
        rival = next(f for f in found if f["maker"] == taken["maker"] and f is not taken)
        other = self.document(rival)["title"]
        if g["ask"] == "named":
            return f"{title} is {taken['colour']} as asked, but {other} is {rival['colour']}, so I take {title}."
        return f"{title} costs {price}, {other} costs {rival['price']}. Asked was {g['ask']} {g['limit']}, so I take {title} because of its price."


if __name__ == "__main__":
    make(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:]), Market())
