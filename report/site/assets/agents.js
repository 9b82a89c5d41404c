"use strict";
// The pages on agents: what each of them did, and who writes what another writes.
(() => {
  const { el, svg, link, number, rated, page } = arena;

  // agentsOf counts each agent's attempts once.
  function agentsOf(day) {
    if (day.agents) return day.agents;
    const all = new Map();
    for (let row = 0; row < day.rows; row++) {
      const name = day.agent(row);
      if (!name) continue;
      if (!all.has(name)) all.set(name, { name, rows: [], versions: new Set(), days: new Set(), attempts: 0, agentic: 0, scripted: 0, scored: 0, solved: 0, kept: 0, graded: 0, grades: 0, adapts: 0, adaptivity: 0, cost: null });
      const a = all.get(name), g = (n) => day.get(n, row), date = g("run_date");
      a.rows.push(row); a.attempts++; a.versions.add(g("agent_version"));
      if (date !== null) { a.days.add(new Date(date).toISOString().slice(0, 10)); a.first = Math.min(a.first ?? date, date); }
      a.agentic += g("axis") === "agentic"; a.scripted += g("axis") === "scripted"; a.scored += g("scored") === true; a.solved += g("success") === true; a.kept += g("fate") === "kept";
      if (g("judge_score") !== null) { const n = g("judge_one_in") || 1; a.graded += n; a.grades += n * g("judge_score"); }
      if (g("adaptivity") !== null) { a.adapts++; a.adaptivity += g("adaptivity"); }
      if (g("judge_cost_usd") !== null) a.cost = (a.cost || 0) + g("judge_cost_usd");
    }
    return day.agents = [...all.values()].sort((a, b) => b.kept - a.kept || (a.name < b.name ? -1 : 1));
  }

  // clusters joins agents that are taken for copies of one another.
  function clusters(agents, pairs) {
    const root = new Map(agents.map((a) => [a.name, a.name])), find = (n) => root.get(n) === n ? n : find(root.get(n));
    for (const p of pairs) if (p.copied && root.has(p.a) && root.has(p.b)) root.set(find(p.a), find(p.b));
    const groups = new Map();
    for (const a of agents) { const r = find(a.name); if (!groups.has(r)) groups.set(r, []); groups.get(r).push(a); }
    return [...groups.values()];
  }

  // effective is the number of equal teams with as much concentration of kept attempts
  // (1 over the sum of squared shares), with its 95 % interval over problems drawn again.
  function effective(day, groups) {
    const team = new Map(groups.flatMap((g, i) => g.map((a) => [a.name, i]))), problems = new Map();
    for (let row = 0; row < day.rows; row++) {
      if (day.get("fate", row) !== "kept") continue;
      const p = day.get("problem_id", row);
      if (!problems.has(p)) problems.set(p, []);
      problems.get(p).push(team.get(day.agent(row)));
    }
    const lists = [...problems.values()], of = (chosen) => {
      const n = new Map(); let all = 0;
      for (const l of chosen) for (const t of l) { n.set(t, (n.get(t) || 0) + 1); all++; }
      return all ? 1 / [...n.values()].reduce((s, c) => s + (c / all) ** 2, 0) : NaN;
    };
    let seed = 1;
    const random = () => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return seed / 2 ** 32; };
    const draws = Array.from({ length: 1000 }, () => of(lists.map(() => lists[Math.floor(random() * lists.length)]))).sort((a, b) => a - b);
    return lists.length ? { value: of(lists), low: draws[25], high: draws[974] } : null;
  }

  const named = (day, name) => el("a.whole", { href: arena.address([day.k, "agent", name]), title: name }, arena.short(name));
  const passages = (day, p) => link([day.k, "kin", p.a, p.b], {}, "passages");

  // meanings say what is the same in each kind, at a problem or, of prompts, in all.
  const meanings = ["The same tools in the same order.", "The same tools with the same arguments in the same order.", "Four fifths of what the shorter one thinks and says stand in the other, sentence by sentence, without figures.",
    "Both at once: the whole attempt.", "The same calls, and no third agent makes them.", "Lines that both clients send at several problems, and no third agent's does."];

  // reach is how near two agents are to being taken for copies: 1 where a limit is reached.
  const reach = (kin, p) => Math.max(0, ...p.by.map((x, i) => (x || 0) / kin.from[i].share).slice(1).map((x) => Math.min(x, p.copied ? 1 : 0.99)));
  const says = (kin, p) => kin.kinds.map((k, i) => i && p.by[i] >= 0.1 ? `${k} ${p.same[i]} of ${p.of[i]}` : "").filter(Boolean).join(", ");
  const began = (a) => a.first === undefined ? "not known" : new Date(a.first).toISOString().slice(0, 16).replace("T", " ");

  function matrix(day, agents, order, kin) {
    const at = new Map(order.map((a, i) => [a.name, i])), cell = 18, left = 190, top = 26, size = order.length * cell, words = (p) => `${p.a} and ${p.b}: ${says(kin, p) || "little alike"}`;
    const field = (x, y, part, copied) => svg("rect", { x, y, width: cell - 1, height: cell - 1, class: copied ? "copied" : "alike", "fill-opacity": copied ? 1 : Math.max(0.08, part).toFixed(2) });
    const cells = kin.pairs.filter((p) => at.has(p.a) && at.has(p.b)).flatMap((p) => [[p.a, p.b], [p.b, p.a]].map(([x, y]) => svg("a", { href: arena.address([day.k, "kin", p.a, p.b]), "aria-label": words(p), tabindex: x === p.a ? null : -1 }, svg("title", {}, words(p)), field(left + at.get(x) * cell, top + at.get(y) * cell, reach(kin, p), p.copied))));
    const scale = [[0.08, "little"], [0.25, "a quarter"], [0.5, "half"], [0.75, "three quarters of a limit"], [1, "taken for copies"]];
    return el("figure", {}, el("div.wide", { tabindex: 0, role: "region", "aria-label": "Matrix of likeness" }, svg("svg", { width: Math.max(620, left + size + 4), height: top + size + 34, role: "group", "aria-label": "Likeness of agents; a field opens the pair" }, svg("title", {}, "Likeness of agents"),
      order.map((a, i) => [svg("text", { x: left - 6, y: top + i * cell + 13, "text-anchor": "end" }, `${arena.short(a.name)}  ${i + 1}`, svg("title", {}, a.name)), svg("text", { x: left + i * cell + cell / 2, y: top - 6, "text-anchor": "middle" }, String(i + 1), svg("title", {}, a.name))]), cells,
      scale.map(([part, text], i) => [field(4 + [0, 80, 180, 250, 440][i], top + size + 10, part, part === 1), svg("text", { x: 26 + [0, 80, 180, 250, 440][i], y: top + size + 23 }, text)]))),
    el("figcaption", {}, "Each field is a pair of agents; columns have the numbers of the rows. The darker, the nearer the pair is to a limit above in any part but tools. Red is taken for copies. A field opens its passages." + (agents.length > order.length ? ` Not drawn: ${agents.length - order.length} of ${agents.length} agents, which are like nobody.` : "")));
  }

  // later is a part of a page that needs the likeness of agents, for which the whole day
  // is read: it stands empty until that is there.
  function later(day, draw) {
    const node = el("section", { "aria-busy": "true" }, el("p.note", { role: "status" }, "The agents are being compared: the whole day is read for it."));
    arena.load(`${day.k}/agents`).then((kin) => [draw(kin)].flat(Infinity).filter(Boolean)).catch((e) => [el("p.bad", {}, e.message)]).then((made) => { node.replaceChildren(...made); node.removeAttribute("aria-busy"); });
    return node;
  }

  function compared(day, agents, kin) {
    const groups = clusters(agents, kin.pairs), copies = groups.filter((g) => g.length > 1), teams = effective(day, groups);
    const first = (p) => [p.a, p.b].map((n) => known.get(n)).sort((a, b) => (a.first ?? 0) - (b.first ?? 0) || (a.name < b.name ? -1 : 1));
    const pairs = (caption, list, group) => arena.table(caption, ["agents", "run began", ...kin.kinds, ""], list.sort((x, y) => group(x) - group(y)).map((p) => [first(p).map((a, i) => [i ? el("br") : "", named(day, a.name)]), first(p).map((a, i) => [i ? el("br") : "", el("span.whole", {}, began(a))]), ...p.by.map((x, i) => x === null ? null : el("span.whole", {}, `${p.same[i]} of ${p.of[i]}`)), passages(day, p)]));
    const known = new Map(agents.map((a) => [a.name, a])), all = kin.pairs.filter((p) => known.has(p.a) && known.has(p.b)).sort((x, y) => reach(kin, y) - reach(kin, x)), look = all.filter((p) => !p.copied && reach(kin, p) >= 0.5).slice(0, 30);
    const near = new Map();
    for (const p of all) for (const n of [p.a, p.b]) near.set(n, Math.max(near.get(n) || 0, reach(kin, p)));
    const order = groups.slice().sort((a, b) => b.length - a.length).flat().filter((a) => near.get(a.name) >= 0.1).slice(0, 60);
    return [el("h2", {}, "Who writes what another writes"),
      el("p", {}, `${agents.length} agents, ${groups.length} teams when copies count as one.`, teams ? ` By kept attempts they weigh as much as ${number(teams.value, 3)} teams of one size (95 % interval ${number(teams.low, 3)} to ${number(teams.high, 3)}, from problems drawn again).` : ""),
      copies.length ? [pairs("Taken for copies: problems at which both do the same, of those where both show the part", all.filter((p) => p.copied), (p) => copies.findIndex((g) => g.includes(known.get(p.a)))),
        el("p.note", {}, "Of each pair the agent whose run began earlier stands first, where their times differ; that does not say who wrote it first. Pairs of one team stand together.")] : el("p", {}, "No two agents are taken for copies of one another."),
      look.length ? el("details", {}, el("summary", {}, `${look.length} pairs come near: more than half way to a limit, and below it`), pairs("Near a limit", look, () => 0)) : null,
      el("details", {}, el("summary", {}, "What is compared, and from where on two agents are taken for copies"),
        el("p", {}, "Counted are the problems that both tried, so that who copies a third of his attempts is seen. What others do too weighs less, and nothing where half of all agents do it. An agent is an account (hotkey); a day does not say which accounts have one owner, so two accounts of one program are taken for copies."),
        arena.table("Parts of two agents' work", ["part", "what is the same", "copies from"], kin.kinds.map((k, i) => [k, meanings[i], i ? `${kin.from[i].share} of what both show, ${kin.from[i].least} or more ${k === "prompts" ? "lines" : "problems"}` : "no sign by itself"]))),
      order.length > 1 ? matrix(day, agents, order, kin) : null];
  }

  page("agents", (day) => {
    document.title = `${day.name}: agents`;
    const agents = agentsOf(day);
    return [el("h1", {}, "Agents"), later(day, (kin) => compared(day, agents, kin)),
      el("section", {}, el("h2", {}, "All agents"), arena.table("Agents by kept attempts", ["agent", "attempts", "agentic", "scripted", "kept", "solved, 0 to 1 with 95 % interval", "mean grade", "adaptivity", "versions", "cost, $"], agents.map((a) => [named(day, a.name), a.attempts, a.agentic, a.scripted, a.kept, rated(a.solved, a.scored), a.graded ? a.grades / a.graded : null, a.adapts ? a.adaptivity / a.adapts : null, a.versions.size, a.cost])))];
  });

  function near(day, a, kin) {
    const mine = kin.pairs.filter((p) => p.a === a.name || p.b === a.name).sort((x, y) => reach(kin, y) - reach(kin, x)).slice(0, 10);
    return mine.length ? arena.table("Nearest agents: problems at which both do the same, of those where both show the part", ["agent", ...kin.kinds, "", ""], mine.map((p) => [named(day, p.a === a.name ? p.b : p.a), ...p.by.map((x, i) => x === null ? null : el("span.whole", {}, `${p.same[i]} of ${p.of[i]}`)), p.copied ? "taken for copies" : "", passages(day, p)])) : el("p", {}, "No other agent is like it.");
  }

  page("agent", (day, path) => {
    const a = agentsOf(day).find((x) => x.name === path[0]);
    if (!a) throw new Error(`there is no agent ${path[0]}`);
    document.title = `agent ${a.name}`;
    const column = ["agent_hotkey", "agent_version", "eval_run_id"].find((c) => day.get(c, a.rows[0]) === a.name);
    const to = (view, text) => link([day.k, "attempts"], { [column]: "=" + a.name, ...view }, text);
    const why = new Map();
    for (const row of a.rows) { const r = day.get("reason", row) || "kept"; why.set(r, (why.get(r) || 0) + 1); }
    return [el("h1.id", {}, a.name), el("dl.facts", {}, [["versions", [...a.versions].join(", ") || "–"], ["days", [...a.days].join(", ") || "–"], ["attempts", to({}, String(a.attempts))], ["solved", rated(a.solved, a.scored)],
      ["agentic", to({ axis: "=agentic" }, String(a.agentic))], ["scripted", to({ axis: "=scripted" }, String(a.scripted))], ["kept", to({ fate: "=kept" }, String(a.kept))], ["mean grade", number(a.graded ? a.grades / a.graded : null)],
      ["adaptivity", number(a.adapts ? a.adaptivity / a.adapts : null)], ["cost of judging", a.cost === null ? "unknown" : `$${number(a.cost)}`]].map(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])),
    arena.table("What became of its attempts", ["became", "attempts", "meaning", "what to do"], [...why].sort((x, y) => y[1] - x[1]).map(([r, n]) => [r === "kept" ? to({ fate: "=kept" }, r) : to({ reason: "=" + r }, r), n, ...arena.meant(r === "kept" ? "rows of the corpus" : day.reasons[r]), ""].slice(0, 4))),
    later(day, (kin) => near(day, a, kin))];
  });

  page("kin", async (day, path) => {
    const kin = await arena.load(`${day.k}/agents`), p = kin.pairs.find((x) => x.a === path[0] && x.b === path[1]);
    if (!p) throw new Error("these two share nothing");
    document.title = "Two agents";
    const of = (name, problem) => { for (let row = 0; row < day.rows; row++) if (day.agent(row) === name && day.get("problem_id", row) === problem && day.get("has_dialogue", row)) return row; };
    return [el("h1", {}, "Two agents"), el("p", {}, link([day.k, "agent", p.a], {}, p.a), " and ", link([day.k, "agent", p.b], {}, p.b), p.copied ? ": taken for copies." : ": not taken for copies."),
      arena.table("In what they are alike: what is the same, with its share and the share's 95 % interval", ["part", "what is the same", "same", "share, 0 to 1", "share by rarity", "copies from"], kin.kinds.map((k, i) => [k, meanings[i], el("span.whole", {}, `${p.same[i]} of ${p.of[i]}`), arena.rated(p.same[i], p.of[i]), p.by[i], i ? `${kin.from[i].share}, in ${kin.from[i].least}` : "–"])),
      el("p.note", {}, "By rarity: what others do too weighs less. This share is held against the limit."),
      el("h2", {}, "Problems at which they do the same, five at most"), p.problems?.length ? el("ul", {}, p.problems.map((x) => { const rows = [of(p.a, x), of(p.b, x)]; return el("li", {}, rows.includes(undefined) ? x : link([day.k, "beside", ...rows], {}, `problem ${x}, side by side`)); })) : el("p", {}, "None."),
      el("h2", {}, "Sentences that both write, and fewest others"), p.passages.length ? p.passages.map((s) => el("blockquote", {}, s)) : el("p", {}, "None."),
      el("h2", {}, "Lines that both prompts hold"), p.lines.length ? p.lines.map((s) => el("blockquote", {}, s)) : el("p", {}, "None: the day logs no requests, or they share no line.")];
  });
})();
