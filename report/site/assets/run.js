"use strict";
// The pages on runs of students: rates with intervals, rollouts, conversations, and
// how runs differ.
(() => {
  const { el, svg, link, number, page } = arena;

  // columnsOf flattens results into columns that a table reads.
  function columnsOf(results) {
    const rows = results.map((r) => {
      const out = {};
      const walk = (prefix, value) => {
        if (value && typeof value === "object" && !Array.isArray(value)) for (const [k, v] of Object.entries(value)) walk(prefix ? `${prefix}.${k}` : k, v);
        else out[prefix] = Array.isArray(value) ? value.join(" ") : value;
      };
      walk("", r);
      return out;
    });
    const names = [...new Set(rows.flatMap(Object.keys))];
    return names.map((name) => {
      const value = rows.map((r) => r[name]).find((v) => v !== null && v !== undefined);
      const kind = { number: "number", boolean: "flag" }[typeof value] || "words";
      return { name, kind, at: (row) => kind === "words" ? String(rows[row][name] ?? "") : rows[row][name] ?? null };
    });
  }

  const runs = new Map();
  arena.run = async (k) => {
    if (!runs.has(k)) {
      const data = await arena.load(`${k}/run`);
      const asked = { name: "request", kind: "words", at: (row) => request(data, data.results[row].problem_id) };
      runs.set(k, { ...data, k, columns: [asked, ...columnsOf(data.results)] });
    }
    return runs.get(k);
  };

  const between = (i) => i ? `${number(i[0], 3)} to ${number(i[1], 3)}` : "unknown";

  // spanned draws a rate with the interval that its summary gives.
  function spanned(rate, interval) {
    if (rate === null || rate === undefined) return "–";
    const x = (v) => 4 + 112 * v, words = `${number(rate, 3)}, 95 % ${between(interval)}`;
    return el("span.rated", {}, svg("svg", { viewBox: "0 0 120 16", width: 120, height: 16, role: "img", "aria-label": words }, svg("title", {}, words), svg("line", { x1: x(0), x2: x(1), y1: 8, y2: 8, class: "axis" }),
      interval ? svg("line", { x1: x(interval[0]), x2: x(interval[1]), y1: 8, y2: 8, class: "interval" }) : [], svg("circle", { cx: x(rate), cy: 8, r: 3.5, class: "point" })), ` ${words}`);
  }

  const rollouts = (run, view, text) => link([run.k, "rollouts"], view, text);

  // histogram draws how many rollouts have how much of something, solved and not.
  function histogram(title, values) {
    const known = values.filter((v) => v.x !== null && v.x !== undefined);
    if (!known.length) return null;
    const most = Math.max(...known.map((v) => v.x), 1), step = [1, 2, 5].flatMap((s) => [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].map((p) => s * p)).sort((a, b) => a - b).find((w) => most / w < 20) || most;
    const bins = Array.from({ length: Math.floor(most / step) + 1 }, () => [0, 0]);
    for (const v of known) bins[Math.floor(Math.max(0, v.x) / step)][v.solved ? 0 : 1]++;
    const highest = Math.max(...bins.map(([a, b]) => a + b)), wide = 420 / bins.length, y = (n) => 120 * n / highest;
    return el("figure", {}, svg("svg", { viewBox: "0 0 480 170", width: 480, role: "img", "aria-label": title }, svg("title", {}, title),
      bins.map(([won, lost], i) => [svg("rect", { x: 40 + i * wide, y: 130 - y(won), width: wide - 1, height: y(won), class: "left" }, svg("title", {}, `from ${i * step}: ${won} solved`)),
        svg("rect", { x: 40 + i * wide, y: 130 - y(won) - y(lost), width: wide - 1, height: y(lost), class: "lost" }, svg("title", {}, `from ${i * step}: ${lost} not solved`)),
        i % Math.ceil(bins.length / 8) ? [] : svg("text", { x: 40 + i * wide, y: 146 }, String(i * step))]),
      svg("line", { x1: 40, x2: 464, y1: 130, y2: 130, class: "axis" }), svg("text", { x: 36, y: 18, "text-anchor": "end" }, String(highest)), svg("text", { x: 36, y: 132, "text-anchor": "end" }, "0"), svg("text", { x: 252, y: 164, "text-anchor": "middle" }, title)),
    el("figcaption", {}, "Rollouts; filled: solved, pale: not."));
  }

  // over draws what changed while a run went on.
  function over(title, moments, read) {
    const points = (moments || []).map((m) => [m.seconds, read(m)]).filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y) && Math.abs(y) < 1e15);
    if (points.length < 2) return null;
    const right = Math.max(...points.map((p) => p[0]), 1e-9), top = Math.max(...points.map((p) => p[1]), 1e-9);
    return el("figure", {}, svg("svg", { viewBox: "0 0 480 160", width: 480, role: "img", "aria-label": title }, svg("title", {}, title), svg("polyline", { class: "curve", points: points.map(([x, y]) => `${(50 + 410 * x / right).toFixed(1)},${(130 - 115 * Math.max(0, y) / top).toFixed(1)}`).join(" ") }),
      svg("line", { x1: 50, x2: 460, y1: 130, y2: 130, class: "axis" }), svg("text", { x: 46, y: 20, "text-anchor": "end" }, number(top, 3)), svg("text", { x: 46, y: 132, "text-anchor": "end" }, "0"), svg("text", { x: 460, y: 148, "text-anchor": "end" }, `${number(right, 3)} s`), svg("text", { x: 50, y: 148 }, title)));
  }

  // leaves are all values of any JSON, by where they stand.
  const leaves = (v, at = "") => v && typeof v === "object" ? Object.entries(v).flatMap(([k, x]) => leaves(x, at ? `${at}.${k}` : k)) : [[at, v === null ? "unknown" : typeof v === "number" ? v : String(v)]];

  page("run", (run) => {
    const s = run.summary, ends = { ...s.labels, ...Object.fromEntries(Object.entries(s.infra || {}).map(([k, n]) => [`infra: ${k}`, n])) };
    document.title = `${run.name}: run`;
    const part = (name, parts) => parts && Object.keys(parts).length ? arena.table(`${name}; intervals by problem`, ["", "problems", "scored", "solved", "success rate"], Object.entries(parts).map(([k, p]) => [k, p.problems, p.scored, p.successes, spanned(p.asr_scored, p.wilson95_by_problem)])) : null;
    const pass = Object.entries(s).filter(([k]) => /^pass[@^]/.test(k)).map(([k, p]) => [k, spanned(p.mean, p.ci95), p.problems]);
    return [el("h1", {}, `${run.name}: ${run.spec.model ?? ""} on ${s.problems} problems`), el("p", {}, `${s.samples} rollouts, of which ${s.scored} were scored and ${s.infra_errors} had no answer from the server.`),
      s.no_rate ? el("p.bad", {}, `No rate: ${s.no_rate}.`) : null,
      s.unparsed_calls ? arena.table("Calls that nobody parsed", ["form", "rollouts", "what reads it"], Object.entries(s.unparsed_calls).map(([k, u]) => [k, u.rollouts, u.parsed_by])) : null,
      el("dl.facts", {}, [["success rate", spanned(s.asr_scored, s.wilson95_by_problem)], ["with what was not scored as failed", number(s.asr_all, 4)], ["coverage", number(s.coverage, 4)], ["agentic quality", s.quality === undefined || s.quality === null ? "unknown" : number(s.quality, 4)]].map(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])),
      part("By category", s.by_category), part("By contamination", s.by_contamination),
      pass.length ? arena.table("At least one of k samples solves it (@), all do (^)", ["", "mean", "problems"], pass) : null,
      Object.keys(ends).length ? arena.table("Why rollouts fail", ["label", "rollouts"], Object.entries(ends).sort((a, b) => b[1] - a[1]).map(([k, n]) => [k.startsWith("infra: ") ? rollouts(run, { infra: "=" + k.slice(7) }, k + (s.infra_words?.[k.slice(7)] ? `: ${s.infra_words[k.slice(7)]}` : "")) : rollouts(run, { label: "=" + k }, k), n])) : null,
      arena.table("By axis of the score; means of the rollouts that have it", ["axis", "mean", "rollouts"], Object.entries(s.axes || {}).map(([k, v]) => [k, spanned(v, s.axes95_by_problem?.[k]), s.axis_rollouts?.[k] ?? null])),
      histogram("replies of a rollout", run.results.map((r) => ({ x: r.turns, solved: r.success }))), histogram("tokens written in a rollout", run.results.map((r) => ({ x: r.tokens?.completion, solved: r.success }))),
      problems(run), el("details", {}, el("summary", {}, "Server, machine and cost"), over("finished rollouts", run.moments, (m) => m.rollouts), over("requests that run", run.moments, (m) => m.server?.running), over("requests that wait", run.moments, (m) => m.server?.waiting), arena.table("Telemetry", ["field", "value"], leaves(run.telemetry || {}))),
      el("details", {}, el("summary", {}, "Everything that decided the run"), arena.table("Spec", ["field", "value"], leaves(run.spec)))];
  });

  function problems(run) {
    const by = new Map();
    for (const r of run.results) { const p = by.get(r.problem_id) || [0, 0]; by.set(r.problem_id, [p[0] + (r.success === true), p[1] + 1]); }
    return arena.table("Problems, those solved by some samples first", ["request", "solved"], [...by].sort((a, b) => Math.abs(a[1][0] / a[1][1] - 0.5) - Math.abs(b[1][0] / b[1][1] - 0.5)).map(([id, [won, n]]) => [rollouts(run, { problem_id: "=" + id }, request(run, id)), arena.rated(won, n)]));
  }

  // problem finds a problem of a run, and request its words: an id says nothing to people.
  const problem = (run, id) => (run.problems || []).find((p) => p.problem_id === id);
  const request = (run, id) => { const words = problem(run, id)?.query || id; return words.length > 120 ? words.slice(0, 120) + "…" : words; };

  // wanted shows what the request asked for beside what was recommended, and which wishes were missed.
  function wanted(run, r) {
    const p = problem(run, r.problem_id);
    if (!p?.reward) return p ? el("p", {}, p.query || "") : null;
    const rewards = [p.reward].flat(), given = r.recommended || [];
    const rows = rewards.map((w, i) => [w.product_id ?? "any", [w.title].flat().filter(Boolean).join(" / "), given[i] ?? "none", given.includes(w.product_id) ? "yes" : "no"]);
    // An axis is the share of the products that have the wish and fulfil it; what was not asked for is not missed.
    const asks = (key) => key === "shop" || key === "budget" ? rewards.length : rewards.filter((w) => key.split(" & ").some((word) => Object.keys(w).some((name) => name.startsWith(word.replace(/s$/, ""))))).length;
    const missed = r.success ? [] : Object.entries(r.score || {}).filter(([k, v]) => typeof v === "number" && v < asks(k) / rewards.length - 1e-9).map(([k]) => k);
    return [el("p", {}, p.query || ""), arena.table("Wanted and recommended", ["wanted", "title", "recommended", "same"], rows), missed.length ? el("p.bad", {}, `Wishes that were missed: ${missed.join(", ")}.`) : null];
  }

  page("rollouts", (run, path, view) => {
    document.title = `${run.name}: rollouts`;
    const names = ["request", "sample", "outcome", "success", "label", "stop", "infra", "turns", "tokens.completion", "quality", "category"];
    arena.current = new arena.Table({ rows: run.results.length, columns: run.columns, shown: names.filter((n) => run.columns.some((c) => c.name === n)), open: (row) => arena.address([run.k, "talk", row]) }, view, [run.k, "rollouts"]);
    return [el("h1", {}, "Rollouts"), arena.current.draw()];
  });

  // said shows a message: its text, its reasoning and its calls.
  function said(m) {
    const parts = typeof m.content === "string" ? [{ text: m.content }] : Array.isArray(m.content) ? m.content : [];
    const text = (who, s) => s ? el("div.said", {}, el("h3", {}, who), arena.words(String(s))) : null;
    return el("article.step", { tabindex: -1 }, parts.map((p) => [text("thinks", p.reasoning), text(m.role, p.text)]), (m.tool_calls || []).map((c) => { const made = c.function?.name ? c.function : { name: c.function ?? c.name, ...c }; return el("p", {}, el("strong", {}, String(made.name ?? "")), " ", el("code", {}, typeof made.arguments === "string" ? made.arguments : JSON.stringify(made.arguments ?? null)), c.parse_error ? el("b.bad", {}, ` ${c.parse_error}`) : ""); }));
  }

  async function conversation(run, row) {
    const r = run.results[row], t = await arena.load(`${run.k}/talk/${row}`);
    const others = run.results.map((x, i) => [x, i]).filter(([x, i]) => x.problem_id === r.problem_id && i !== row);
    return [el("p", { class: r.success ? "fate kept" : "fate" }, `${run.name}, ${r.problem_id}, sample ${r.sample}: `, el("strong", {}, r.success ? "solved" : r.infra || r.label || "not solved"), `; stop ${r.stop}, ${number(r.turns)} replies.`),
      wanted(run, r),
      r.score ? arena.table("Axes of the outcome", ["axis", "score"], Object.entries(r.score)) : null,
      others.length ? el("p", {}, "Beside: ", others.map(([x, i]) => [link([run.k, "pair", row, run.k, i], {}, `sample ${x.sample}${x.success ? ", solved" : ""}`), " "])) : null,
      (t.messages || []).filter((m) => m.role !== "system").map(said)];
  }

  page("talk", async (run, path) => {
    document.title = "Rollout";
    arena.keys.set("b", () => { location.hash = arena.list ? arena.list.back : arena.address([run.k, "rollouts"]); });
    return [el("h1", {}, "Rollout"), await conversation(run, Number(path[0]))];
  });

  page("pair", async (run, path) => {
    document.title = "Side by side";
    const other = await arena.run(path[1]), both = await Promise.all([conversation(run, Number(path[0])), conversation(other, Number(path[2]))]);
    return [el("h1", {}, "Side by side"), el("div.both", {}, both.map((c) => el("section", {}, [c].flat(Infinity).filter((n) => n !== null))))];
  });

  // curve draws the rates of runs in the order of the command, such as checkpoints, with their intervals.
  function curve(runs) {
    const points = runs.map((r, i) => ({ name: r.name, x: 50 + 410 * (i + 0.5) / runs.length, rate: r.summary.asr_scored, interval: r.summary.wilson95_by_problem })).filter((p) => typeof p.rate === "number" && p.rate >= 0 && p.rate <= 1);
    if (points.length < 2) return null;
    const y = (rate) => (130 - 115 * Math.min(1, Math.max(0, rate))).toFixed(1), every = Math.ceil(points.length / 8), title = "success rate of each run, with its 95 % interval";
    return el("figure", {}, svg("svg", { viewBox: "0 0 480 170", width: 480, role: "img", "aria-label": title }, svg("title", {}, title),
      svg("polyline", { class: "curve", points: points.map((p) => `${p.x.toFixed(1)},${y(p.rate)}`).join(" ") }),
      points.map((p, i) => [p.interval ? svg("line", { x1: p.x, x2: p.x, y1: y(p.interval[0]), y2: y(p.interval[1]), class: "interval" }) : [], svg("circle", { cx: p.x, cy: y(p.rate), r: 3.5, class: "point" }, svg("title", {}, `${p.name}: ${number(p.rate, 4)}`)),
        i % every ? [] : svg("text", { x: p.x, y: 146, "text-anchor": "middle" }, p.name.length > 14 ? p.name.slice(0, 13) + "…" : p.name)]),
      svg("line", { x1: 50, x2: 460, y1: 130, y2: 130, class: "axis" }), svg("text", { x: 46, y: 20, "text-anchor": "end" }, "1"), svg("text", { x: 46, y: 132, "text-anchor": "end" }, "0")), el("figcaption", {}, `${title[0].toUpperCase()}${title.slice(1)}; the order is that of the command.`));
  }

  page("compare", async (run) => {
    const site = await arena.load("site"), all = site.comparisons || [], base = await arena.run("r0");
    document.title = "Runs compared";
    const rows = async (c, i, list) => {
      const other = await arena.run(`r${i + 1}`), first = (r, id, solved) => { const k = r.results.findIndex((x) => x.problem_id === id && x.success === solved); return k < 0 ? r.results.findIndex((x) => x.problem_id === id) : k; };
      return (list || []).map((p) => [request(base, p.problem_id), p.category, p.a_rate, p.b_rate, link(["r0", "pair", first(base, p.problem_id, p.a_rate > p.b_rate), other.k, first(other, p.problem_id, p.b_rate > p.a_rate)], {}, "side by side")]);
    };
    const heads = ["request", "category", "first", "second", ""];
    const series = await Promise.all(site.runs.map((_, i) => arena.run(`r${i}`)));
    return [el("h1", {}, "Runs compared"), curve(series), ...await Promise.all(all.map(async (c, i) => el("section", {}, el("h2", {}, `${c.a} and ${c.b}`),
      el("p", {}, `${number(c.a_mean, 4)} against ${number(c.b_mean, 4)} on ${c.problems} problems: difference ${number(c.difference, 4)}, 95 % ${between(c.ci95)}, p ${number(c.p, 3)}, after Holm ${number(c.holm_p, 3)}. This test shows a true difference of ${number(c.mde80, 3)} four times in five.`),
      (c.differs || []).length ? el("p.bad", {}, `They differ in ${c.differs.join(", ")}.`) : null,
      arena.table("Problems won", heads, await rows(c, i, c.won)), arena.table("Problems lost", heads, await rows(c, i, c.lost)),
      arena.table("By category", ["", "problems", "first", "second", "difference"], Object.entries(c.by_category || {}).map(([k, p]) => [k, p.problems, p.a_mean, p.b_mean, p.difference])))))];
  });
})();
