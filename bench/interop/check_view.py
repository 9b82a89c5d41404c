"""Drives the pages of `arena view` with Chromium, from a folder and from the server.

    check_view.py ARENA CORPUS CHROMIUM [AXE]

By keyboard alone: a bar of the funnel, a reason, an attempt, a step, a marked passage. Figures equal the tables, no
console message, no request but to the pages themselves, nothing wider than a phone; with axe.min.js no serious finding.
"""
import atexit
import json
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from time import perf_counter

import pyarrow.parquet as pq
from playwright.sync_api import sync_playwright

arena, corpus, chromium = sys.argv[1:4]
axe = Path(sys.argv[4]).read_text() if len(sys.argv) > 4 else None
attempts = pq.read_table(Path(corpus) / "tables" / "attempts.parquet").to_pylist()
faults = []


def check(what, got, want=True):
    if got != want:
        faults.append(f"{what}: {got!r}, want {want!r}")


def served(corpus):
    server = subprocess.Popen([arena, "view", corpus], stderr=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    for line in server.stderr:
        if found := re.search(r"(http://\S+)", line):
            threading.Thread(target=server.stderr.read, daemon=True).start()
            return found[1] + "/"
    sys.exit("the server did not start")


def opened(browser, base, scheme, width):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.on("console", lambda m: faults.append(f"console: {m.text}"))
    page.on("pageerror", lambda e: faults.append(f"error: {e}"))
    page.on("request", lambda r: r.url.startswith((base.rsplit("/", 1)[0], "data:", "blob:")) or faults.append(f"request: {r.url}"))
    return page


def at(page, base, address):
    page.goto("about:blank")
    page.goto(base + address)
    page.wait_for_selector("h1")
    page.wait_for_function("!document.querySelector('main').textContent.startsWith('Loading')")
    page.wait_for_selector("[aria-busy]", state="detached")


def figures(page, base):
    at(page, base, "#/0/home")
    shown = {row[0]: int(row[1]) for row in page.eval_on_selector_all("table:has(caption:text-is('Why records left')) tbody tr", "rows => rows.map(r => [...r.cells].map(c => c.textContent))")}
    check("reasons", shown, dict(Counter(a["reason"] or "kept" for a in attempts)))
    for reason, n in shown.items():
        at(page, base, "#/0/attempts?" + ("fate=%3Dkept" if reason == "kept" else f"reason=%3D{reason}"))
        page.wait_for_function("document.querySelector('p[role=status]')?.textContent")
        check(f"rows of {reason}", page.text_content("p[role=status]"), f"{n} of {len(attempts)} rows")
    at(page, base, "#/0/agents")
    got = page.eval_on_selector_all("table:has(caption:text-is('Agents by kept attempts')) tbody tr", "rows => rows.map(r => [...r.cells].slice(0, 5).map(c => c.querySelector('[title]')?.title ?? c.textContent))")
    want = Counter(a["agent_hotkey"] or a["agent_version"] or a["eval_run_id"] for a in attempts)
    check("attempts by agent", {r[0]: int(r[1]) for r in got}, dict(want))


def by_keyboard(page, base):
    at(page, base, "#/0/home")
    for _ in range(40):  # to the funnel's second bar
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('svg') && document.activeElement.getAttribute('aria-label').startsWith('filter')"):
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("p[role=status]")
    check("the bar opens its rows", page.evaluate("location.hash"), "#/0/attempts?stage=%3Dfilter")
    page.keyboard.type("gh")
    page.wait_for_selector("text=Why records left")
    for _ in range(80):  # to the reason "kept"
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent === 'kept'"):
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("p[role=status]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("article.step")
    check("a step by its key", (page.keyboard.press("j"), page.evaluate("document.activeElement.className"))[1], "step")
    page.keyboard.press("m")
    check("a marked passage by its key", page.evaluate("document.activeElement.tagName"), "MARK")
    before = page.title()
    page.keyboard.press("n")
    page.wait_for_function("title => document.title !== title", arg=before)
    second = page.evaluate("arena.list.order[arena.list.order.indexOf(Number(location.hash.split('/')[3])) + 2]")
    page.keyboard.press("n")
    page.keyboard.press("n")  # while the next one is drawn
    page.wait_for_function("row => location.hash === `#/0/attempt/${row}`", arg=second)
    page.wait_for_selector("article.step")
    page.keyboard.press("b")
    page.wait_for_selector("p[role=status]")
    check("back to the list", page.evaluate("location.hash"), "#/0/attempts?fate=%3Dkept")


def sorted_and_saved(page, base):
    at(page, base, "#/0/attempts?sort=-n_tokens&fate=%3Dkept")
    with page.expect_download() as told:
        page.click("text=JSON")
    rows = json.loads(Path(told.value.path()).read_text())
    want = sorted((a["n_tokens"] for a in attempts if a["fate"] == "kept"), reverse=True)
    check("the rows that are saved", [r["n_tokens"] for r in rows], want)
    spent = page.evaluate("""() => { const t = arena.current, out = {};
      for (const [name, view] of [["sort", {sort: "seconds"}], ["text", {sort: "agent_hotkey"}], ["search", {q: "a1b"}], ["filter", {n_steps: ">3"}]]) {
        const from = performance.now(); t.set({sort: "", q: "", n_steps: "", fate: "", ...view}); out[name] = performance.now() - from; }
      return out; }""")
    print(f"{len(attempts)} attempts:", ", ".join(f"{k} {v:.0f} ms" for k, v in spent.items()))
    check("sort and search within 200 ms", max(spent.values()) <= 200)


def everywhere(page, base, width):
    kept = next(i for i, a in enumerate(attempts) if a["fate"] == "kept")
    for address in ["#/0/home", "#/0/attempts", f"#/0/attempt/{kept}", f"#/0/attempt/{kept}/step/1", "#/0/agents", f"#/0/beside/{kept}/{kept}"]:
        at(page, base, address)
        cited = page.eval_on_selector_all("h3:text('Cited by the judge') + ul li", "all => all.map(li => li.textContent)")
        check(f"cited passages of {address} that are marked as well", [c for c in cited if c.split(": ", 1)[1] in page.eval_on_selector_all("mark", "all => all.map(m => m.lastChild.textContent)")], [])
        check(f"width of {address}", page.evaluate("document.documentElement.scrollWidth") <= width)
        check(f"untitled pictures of {address}", page.evaluate("[...document.querySelectorAll('svg')].filter(s => !s.querySelector('title')).length"), 0)
        if axe:
            page.evaluate(axe)
            found = page.evaluate("axe.run({preload: false}).then(r => r.violations.filter(v => ['serious', 'critical'].includes(v.impact)).map(v => v.id + ' ' + v.nodes[0].html.slice(0, 120)))")
            check(f"axe on {address}", found, [])


with tempfile.TemporaryDirectory() as folder, sync_playwright() as p:
    site = Path(folder) / "site"
    subprocess.run([arena, "view", corpus, "-o", site], check=True, stderr=subprocess.DEVNULL)
    address = served(corpus)
    browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
    for base in [f"file://{site}/index.html", address + "index.html"]:
        page = opened(browser, base, "light", 1280)
        began = perf_counter()
        at(page, base, "")
        print(f"first page {perf_counter() - began:.2f} s, {base.split(':')[0]}")
        check("first page within 2 s", perf_counter() - began < 2)
        figures(page, base)
        by_keyboard(page, base)
        sorted_and_saved(page, base)
        for scheme, width in [("light", 1280), ("dark", 390)]:
            everywhere(opened(browser, base, scheme, width), base, width)
    outside, page = Path(folder) / "outside", Path(folder) / "appeal.html"
    subprocess.run([arena, "view", corpus, "-o", outside, "--public"], check=True, stderr=subprocess.DEVNULL)
    site_outside = opened(browser, f"file://{outside}/index.html", "light", 1280)
    at(site_outside, f"file://{outside}/index.html", "")
    check("what is not shown outside is said", "their problems are protected" in site_outside.text_content("main"))
    for disputed in (a["trace_id"] for a in attempts if a["fate"] == "kept"):
        if subprocess.run([arena, "view", corpus, "--appeal", disputed, "-o", page], stderr=subprocess.DEVNULL).returncode == 0 and '"story":{' in page.read_text():
            break
    appeal = opened(browser, f"file://{page}", "light", 1280)
    at(appeal, f"file://{page}", "")
    check("an appeal opens at its attempt", appeal.text_content("h1"), disputed)
    check("an appeal has its steps", appeal.locator("article.step").count() > 0)
    browser.close()
print("\n".join(faults) or "pages hold", file=sys.stderr if faults else sys.stdout)
sys.exit(bool(faults))
