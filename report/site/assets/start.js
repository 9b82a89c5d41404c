"use strict";
// Draws the page that the address names, and again whenever it changes.
(async () => {
  const { el, place, pages } = arena, main = document.getElementById("main"), nav = document.getElementById("nav");
  let site, turn = 0, before = new Map(); // the keys of the page that stands while the next one is drawn

  // entries are the pages of a corpus or of a run, the first its home.
  function entries(k) {
    if (!k.startsWith("r")) return [["home", "Funnel"], ["attempts", "Attempts"], ["agents", "Agents"]];
    return [["run", "Run"], ["rollouts", "Rollouts"], ...(site.comparisons ? [["compare", "Compared"]] : [])];
  }

  function navigation(k, current) {
    const parts = entries(k).map(([name, label]) => el("a", { href: arena.address([k, name]), "aria-current": name === current ? "page" : null }, label));
    const all = [...site.corpora.map((name, i) => [String(i), name]), ...site.runs.map((name, i) => [`r${i}`, `run ${name}`])];
    const others = all.length < 2 ? [] : [el("select", { "aria-label": "Corpus or run", onchange: (e) => { location.hash = arena.address([e.target.value]); } }, all.map(([i, name]) => el("option", { value: i, selected: i === k }, name)))];
    nav.replaceChildren(el("strong", {}, "arena"), ...parts, ...others, el("button", { type: "button", onclick: help, "aria-haspopup": "dialog" }, "Keys ?"));
  }

  const keys = [["/", "search"], ["j k, arrows", "next and previous row or step"], ["Enter", "open the row"], ["n p", "next and previous attempt of the list"], ["m", "next marked passage"], ["f", "fold or unfold all steps"],
    ["b", "back to the list"], ["g then h, a, g", "funnel, attempts, agents"], ["?", "this help"]];

  function help() {
    const dialog = el("dialog", { "aria-label": "Keys" }, el("h2", {}, "Keys"), el("dl", {}, keys.map(([k, what]) => [el("dt", {}, k), el("dd", {}, what)])),
      el("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Close"));
    document.body.append(dialog);
    dialog.addEventListener("close", () => dialog.remove());
    dialog.showModal();
  }

  async function draw() {
    const mine = ++turn, { path, view } = place(), k = path[0] || (site.corpora.length ? "0" : "r0"), name = path[1] || entries(k)[0][0];
    arena.current = null;
    before = new Map([...before, ...arena.keys]);
    arena.keys = new Map();
    try {
      const about = await (k.startsWith("r") ? arena.run(k) : arena.day(k)), draws = pages.get(name);
      if (!draws) throw new Error(`there is no page ${name}`);
      const made = await draws(about, path.slice(2), view);
      if (mine !== turn) return;
      before = new Map();
      navigation(k, name);
      main.replaceChildren(...[made].flat(Infinity).filter((node) => node !== null));
      const step = main.querySelector("[data-here]");
      if (step) { step.scrollIntoView({ block: "start" }); step.focus({ preventScroll: true }); } else { window.scrollTo(0, 0); (main.querySelector(".rows") || main).focus({ preventScroll: true }); }
    } catch (e) {
      if (mine === turn) main.replaceChildren(el("h1", {}, "Not here"), el("p", {}, e.message));
    }
  }

  let last = "";
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || document.querySelector("dialog[open]")) {
      if (e.key === "Escape" && e.target.tagName === "INPUT") (main.querySelector(".rows") || main).focus();
      return;
    }
    const go = last === "g" && { h: "home", a: "attempts", g: "agents" }[e.key];
    last = go ? "" : e.key;
    const act = arena.keys.get(e.key) || before.get(e.key);
    if (go) location.hash = arena.address([place().path[0] || "0", go]);
    else if (e.key === "?") help();
    else if (e.key === "/" && document.getElementById("search")) document.getElementById("search").focus();
    else if (act) act(e);
    else return;
    e.preventDefault();
  });

  window.addEventListener("hashchange", draw);
  site = await arena.load("site");
  if (site.open && !location.hash) history.replaceState(null, "", site.open);
  draw();
})();
