"""Draws how many problems each student solved: python plot.py FIGURES.json PICTURE.svg, of the figures that student.py writes."""
import html
import json
import sys
from pathlib import Path

LABEL, WIDTH, ROW, TEXT = 190, 400, 28, 'font-family="sans-serif" font-size="13"'


def bars(found: list[dict]) -> str:
    """One bar for each student from 0 to 100 %, with its 95 % interval over problems."""
    height = ROW * len(found) + 40
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABEL + WIDTH + 90}" height="{height}" role="img">',
             "<title>Solved unseen problems, with 95 % intervals</title>", '<rect width="100%" height="100%" fill="white"/>']
    for percent in range(0, 101, 25):
        x = LABEL + WIDTH * percent / 100
        lines += [f'<path d="M{x:.1f} 8V{height - 28}" stroke="#ddd"/>',
                  f'<text x="{x:.1f}" y="{height - 12}" text-anchor="middle" fill="#444" {TEXT}>{percent} %</text>']
    for n, row in enumerate(found):
        y, share = 10 + ROW * n, row["solved"] / row["problems"]
        low, high = (LABEL + WIDTH * end for end in row["wilson95"])
        lines += [f'<text x="{LABEL - 8}" y="{y + 15}" text-anchor="end" {TEXT}>{html.escape(row["student"])}</text>',
                  f'<rect x="{LABEL}" y="{y}" width="{WIDTH * share:.1f}" height="20" fill="#4c78a8"/>',
                  f'<path d="M{low:.1f} {y + 10}H{high:.1f}M{low:.1f} {y + 5}v10M{high:.1f} {y + 5}v10" stroke="black"/>',
                  f'<text x="{high + 6:.1f}" y="{y + 15}" {TEXT}>{row["solved"]} of {row["problems"]}</text>']
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    figures, picture = map(Path, sys.argv[1:])
    picture.write_text(bars(json.loads(figures.read_text())))
