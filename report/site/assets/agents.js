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
      if (g("judge_score") !== null) { a.graded++; a.grades += g("judge_score"); }
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

  const named = (day, name) => el("a", { href: arena.address([day.k, "agent", name]), title: name }, arena.short(name));
  const strongest = (p) => Math.max(...p.by.slice(1).map((x) => x || 0));

  // nearest says how like its nearest in a group an agent is, and in what.
  function nearest(kin, group, a) {
    const p = kin.pairs.filter((x) => x.copied && (x.a === a.name || x.b === a.name) && group.some((o) => o !== a && (o.name === x.a || o.name === x.b))).sort((x, y) => strongest(y) - strongest(x))[0];
    return p ? kin.kinds.map((k, i) => p.by[i] === null ? "" : `${k} ${number(p.by[i], 3)}`).filter(Boolean).join(", ") : "";
  }

  function matrix(day, groups, pairs) {
    const order = groups.slice().sort((a, b) => b.length - a.length).flat().slice(0, 80), at = new Map(order.map((a, i) => [a.name, i])), cell = 14, left = 12 + 8 * Math.max(...order.map((a) => arena.short(a.name).length)), size = order.length * cell;
    const cells = pairs.filter((p) => at.has(p.a) && at.has(p.b)).flatMap((p) => [[p.a, p.b], [p.b, p.a]].map(([x, y]) => svg("a", { href: arena.address([day.k, "kin", p.a, p.b]), "aria-label": `${p.a} and ${p.b}: ${number(strongest(p), 2)}`, tabindex: x === p.a ? null : -1 },
      svg("rect", { x: left + at.get(x) * cell, y: left + at.get(y) * cell, width: cell - 1, height: cell - 1, class: p.copied ? "copied" : "alike", "fill-opacity": Math.max(0.12, strongest(p)).toFixed(2) }, svg("title", {}, `${p.a} and ${p.b}: ${number(strongest(p), 2)}`)))));
    return el("figure", {}, el("div.wide", { tabindex: 0, role: "region", "aria-label": "Matrix of likeness" }, svg("svg", { width: left + size + 4, height: left + size + 4, role: "group", "aria-label": "Likeness of agents; a field opens the pair" }, svg("title", {}, "Likeness of agents"),
      order.map((a, i) => [svg("text", { x: left - 4, y: left + i * cell + 11, "text-anchor": "end" }, arena.short(a.name), svg("title", {}, a.name)), svg("text", { transform: `translate(${left + i * cell + 11} ${left - 4}) rotate(-90)` }, arena.short(a.name), svg("title", {}, a.name))]), cells)),
    el("figcaption", {}, "How alike two agents are: the strongest of arguments, sentences of thinking and lines of prompts. Dark is alike, red is taken for a copy. A field opens the passages."));
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
    const first = (g) => g.slice().sort((a, b) => (a.first ?? 0) - (b.first ?? 0) || (a.name < b.name ? -1 : 1));
    return [el("h2", {}, "Who writes what another writes"),
      el("p", {}, `${agents.length} agents, ${groups.length} when copies count as one.`, teams ? ` Effective number of teams by kept attempts: ${number(teams.value, 3)} (95 % ${number(teams.low, 3)} to ${number(teams.high, 3)}, problems drawn again).` : ""),
      el("p", {}, `Two agents are taken for copies where they are alike by ${kin.copied} or more in arguments, in sentences of thinking or in lines of prompts, and share ${kin.shared} items or more. An item counts the less the more other agents have it.`),
      copies.length ? el("ul", {}, copies.map((g) => el("li", {}, first(g).map((a, i) => [i ? (i === 1 ? " copied by " : ", ") : "", named(day, a.name), i ? ` (${nearest(kin, g, a)})` : ""]), "; the first is the one whose run began first"))) : el("p", {}, "No two agents are taken for copies of one another."),
      kin.pairs.length ? matrix(day, groups, kin.pairs) : null];
  }

  page("agents", (day) => {
    document.title = `${day.name}: agents`;
    const agents = agentsOf(day);
    return [el("h1", {}, "Agents"), later(day, (kin) => compared(day, agents, kin)),
      el("section", {}, el("h2", {}, "All agents"), arena.table("Agents by kept attempts", ["agent", "attempts", "agentic", "scripted", "kept", "solved", "mean grade", "adaptivity", "versions", "cost, $"], agents.map((a) => [named(day, a.name), a.attempts, a.agentic, a.scripted, a.kept, rated(a.solved, a.scored), a.graded ? a.grades / a.graded : null, a.adapts ? a.adaptivity / a.adapts : null, a.versions.size, a.cost])))];
  });

  function near(day, a, { kinds, pairs }) {
    const kin = pairs.filter((p) => p.a === a.name || p.b === a.name).sort((x, y) => strongest(y) - strongest(x)).slice(0, 10);
    return kin.length ? arena.table("Nearest agents", ["agent", ...kinds, ""], kin.map((p) => [named(day, p.a === a.name ? p.b : p.a), ...p.by, link([day.k, "kin", p.a, p.b], {}, p.copied ? "copied: passages" : "passages")])) : el("p", {}, "No other agent is like it.");
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
    return [el("h1", {}, "Two agents"), el("p", {}, link([day.k, "agent", p.a], {}, p.a), " and ", link([day.k, "agent", p.b], {}, p.b), p.copied ? ": taken for copies" : ""),
      arena.table(`Likeness, 0 to 1; what half of the agents have counts for nothing; copies from ${kin.copied} on, in ${kin.shared} items or more`, ["", ...kin.kinds], [["likeness", ...p.by], ["items shared", ...p.shared]]),
      el("h2", {}, "Sentences that both think, and fewest others"), p.passages.length ? p.passages.map((s) => el("blockquote", {}, s)) : el("p", {}, "None.")];
  });
})();
