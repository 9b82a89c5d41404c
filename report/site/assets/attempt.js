"use strict";
// One attempt, argued: what each stage made of it, and what was said, dispatched and
// returned, with the judge's passages marked where they stand.
(() => {
  const { el, link, number, page } = arena;
  const long = 4000; // characters of a text that are shown at once

  // passages are those of an argument with the gates they are cited for.
  const passages = (a) => [...(a.gates || []).flatMap((g, i) => (g.passages || []).map((p) => ({ ...p, gate: `gate ${i + 1}, ${g.name}` }))), ...(a.steps || []).map((p) => ({ ...p, gate: "cited" }))];

  // marked is a text with the quotes in it marked; what stands nowhere is left over.
  function marked(text, cited, left) {
    const cuts = [];
    for (const p of cited) {
      const from = p.quote ? text.indexOf(p.quote) : -1;
      if (from < 0) continue;
      left.delete(p);
      const same = cuts.find((c) => from < c.to && from + p.quote.length > c.from);
      if (same) same.gate += `; ${p.gate}`;
      else cuts.push({ from, to: from + p.quote.length, gate: p.gate });
    }
    cuts.sort((a, b) => a.from - b.from);
    const out = [];
    let at = 0;
    for (const c of cuts) {
      out.push(text.slice(at, c.from), el("mark", { tabindex: 0, title: `the judge cites this: ${c.gate}` }, el("small", {}, `${c.gate} `), text.slice(c.from, c.to)));
      at = c.to;
    }
    return [...out, text.slice(at)];
  }

  // words shows a text of any length: its beginning, and the rest at a click.
  function words(text, cited = [], left = new Set()) {
    const last = Math.max(0, ...cited.map((p) => text.indexOf(p.quote) + p.quote.length));
    if (text.length <= Math.max(long, last)) return el("div.text", {}, marked(text, cited, left));
    const node = el("div.text", {}, marked(text.slice(0, Math.max(long, last)), cited, left));
    node.append(el("button", { type: "button", onclick: () => node.replaceChildren(...marked(text, cited, new Set())) }, `… all ${text.length} characters`));
    return node;
  }

  arena.words = words;

  // folded draws its content when it is first opened: results are long.
  function folded(summary, make, open = false) {
    const node = el("details", {}, el("summary", {}, summary));
    let made = false;
    const fill = () => { if (node.open && !made) { made = true; node.append(make()); } };
    node.addEventListener("toggle", fill);
    node.open = open;
    fill();
    return node;
  }

  // links say how a dispatch hangs on a reply, where the sentence does not say it yet.
  const links = { named_loosely: "a filter was dropped or another changed", derived: "it follows from a named call that needs several requests", retry: "it repeats a dispatch that was named", stale: "a later reply spoke of other things", overridden: "the tool was named with other arguments", unknown: "the reply before it cannot be read", no_inference: "the model was not asked before it" };

  function call(c, at) {
    const named = c.reply ? el("a", { href: `${at}/reply/${c.reply}` }, `named by reply ${c.reply}`) : "no reply named it";
    return el("div.call", {}, el("p", {}, el("strong", {}, c.name || "dispatch beside the dialogue"), " ", el("code", {}, clip(c.arguments, 600))),
      !c.sent && !c.link ? null : el("p", { class: /^(named|named_loosely|derived|retry)$/.test(c.link || "") ? "link good" : "link bad" }, "↳ ", c.sent ? ["dispatched ", el("code", {}, clip(c.sent, 300)), ` (${c.status || "no status"}), `] : "no dispatch, ", named, links[c.link] ? `: ${links[c.link]}` : ""),
      c.newest ? folded(`looked for in reply ${c.newest}; words of the call are marked`, () => el("pre", {}, c.passages.map(p => p.found ? el("mark", {}, p.text) : p.text))) : null,
      c.answered ? folded(`returned ${c.result.length} characters`, () => words(c.result)) : el("p.link.bad", {}, "nothing came back"));
  }

  const clip = (s, n) => s.length > n ? s.slice(0, n) + " …" : s;

  function turn(t, i, cited, at, here, left) {
    const mine = cited.filter((p) => p.step === t.step), id = String(i + 1);
    return el("article.step", { id: `step-${id}`, tabindex: -1, "data-step": id, "data-here": here === id },
      el("h3", {}, el("a", { href: `${at}/step/${id}` }, `Step ${t.step}`)),
      el("details", { open: true }, el("summary", {}, (t.calls || []).length ? `calls ${t.calls.map((c) => c.name).join(", ")}` : "calls nothing"),
        [["user", t.user], ["thinks", t.think], ["says", t.text]].filter(([, s]) => s).map(([who, s]) => el("div.said", {}, el("h4", {}, who), words(s, mine, left))),
        t.held || t.nowhere ? el("p.ground", {}, t.held ? ["rests on results: ", el("b", {}, t.held.join(", ")), ". "] : "", t.nowhere ? ["in no result: ", el("b.bad", {}, t.nowhere.join(", ")), "."] : "") : null,
        t.repairs ? el("p.ground", {}, `mended: ${t.repairs.join(", ")}`) : null,
        (t.calls || []).map((c) => call(c, at))));
  }

  // story is the dialogue of an argument.
  function story(a, at, here = "", reply = "") {
    const s = a.story;
    if (!s) return [el("h2", {}, "Dialogue"), el("p", {}, "This site holds no dialogue of it. `arena view CORPUS` without -o shows it from the day, `arena explain` prints it.")];
    const cited = passages(a), left = new Set(cited);
    const turns = (s.turns || []).map((t, i) => turn(t, i, cited, at, here, left));
    return [el("h2", {}, "Dialogue"), el("p.query", {}, s.query), s.source === "row" ? el("p.note", {}, "From the corpus's own row, which holds no proxy log.") : null,
      s.system ? folded("system prompt", () => words(s.system)) : null, turns,
      (s.beside || []).length ? [el("h3", {}, "Dispatched, and not in the dialogue"), s.beside.map((c) => call(c, at))] : null,
      left.size ? [el("h3", {}, "Cited by the judge from the log or the result, not from what the step says"), el("ul", {}, [...left].map((p) => el("li", {}, `step ${p.step}, ${p.gate}: ${p.quote}`)))] : null,
      (s.replies || []).length ? [el("h3", {}, "What the model replied, by the log"), s.replies.map((r, i) => el("div", { id: `reply-${i + 1}`, tabindex: -1, "data-here": reply === String(i + 1) },
        folded(`reply ${i + 1}${r.status ? `, status ${r.status}` : ""}${r.ms ? `, ${number(r.ms)} ms` : ""}`, () => words(r.text || ""), reply === String(i + 1))))] : null];
  }

  function verdict(day, row, a) {
    const g = (name) => day.get(name, row), fate = g("fate");
    const why = fate === "kept" ? `Kept: split ${g("split")}, rank ${number(g("rank"))} at its problem` : `${arena.sentence(fate).slice(0, -1)} at ${g("stage")}: ${g("reason")}`, [meaning, remedy] = arena.meant(day.reasons[g("reason")]);
    const fires = (a.checks || []).filter((c) => c.fires && c.reason), known = (c) => day.checks[c.name] || {};
    const measured = (c) => {
      const what = known(c).value || "measured", yes = what.match(/^1 if (.*)/), limit = `${known(c).above ? "at most" : "at least"} ${number(c.limit)}`;
      return yes ? `${yes[1]}: ${c.value ? "yes" : "no"}` : `${what}: ${number(c.value)}, limit ${day.checks[c.name] ? limit : number(c.limit)}`;
    }, others = (g("reasons") || "").split(" ").filter((w) => w && w !== g("reason") && !fires.some((c) => c.reason === w));
    return [el("p", { class: fate === "kept" ? "fate kept" : "fate" }, el("strong", {}, why), fate === "kept" ? "" : [el("br"), meaning, remedy ? [el("br"), el("span.note", {}, `What to do: ${remedy}`)] : ""]),
      el("dl.facts", {}, [["axis", `${g("axis") || "not asked"}, confidence ${number(g("confidence"), 3)}`], ["adaptivity of the agent's day", number(g("adaptivity"), 3)], ["richness", `v1 ${number(g("richness_v1"), 3)}, v2 ${number(g("richness_v2"), 3)}`],
        ["thinking that stands in no reply", `${number(g("thinking_unsaid"), 3)}${g("thinking_stripped") ? ": no model said it, so that rows have no thinking and no judge grades it" : ""}`],
        ["agent", day.agent(row) ? link([day.k, "agent", day.agent(row)], {}, day.agent(row)) : "–"], ["status", `${g("status")}, ${number(g("n_steps"))} steps, ${number(g("n_tool_calls"))} calls, ${number(g("seconds"))} s`]].map(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])),
      a.unknown ? el("p.note", {}, `Why unknown: ${a.unknown}.`) : null, others.length ? el("ul", {}, others.map((w) => el("li", {}, el("strong", {}, w), `: ${arena.meant(day.reasons[w]).slice(0, 1)}`))) : null,
      fires.length ? arena.table("Checks that fire", ["check", "reason", "meaning", "what was measured"], fires.sort((x, y) => (y.reason === g("reason")) - (x.reason === g("reason"))).map((c) => [c.name, c.reason, known(c).doc, measured(c)])) : el("p", {}, "No check drops it by itself."),
      a.story?.odds ? folded("log-odds that the model wrote the calls", () => arena.table("Log-odds from the attempt itself", ["rule", "log-odds", "why"], a.story.odds.map((o) => [o.rule, o.odds, o.why]))) : null,
      a.features ? folded("all checks and features", () => el("div", {}, arena.table("Checks, those that fire first", ["check", "fires", "what was measured"], (a.checks || []).slice().sort((x, y) => Boolean(y.fires) - Boolean(x.fires)).map((c) => [c.name, c.fires ? "fires" : "", measured(c)])), arena.table("Features", ["feature", "value"], a.features.map((f) => [f.name, f.value])))) : null];
  }

  function scored(day, row, a) {
    const axes = ["length", "format", "product", "gt", "rule", "title", "price", "service", "sku_attrs", "shop", "budget"].map((n) => [n, day.get(n, row)]).filter(([, v]) => v !== null);
    if (day.get("scored", row) !== true) return el("p", {}, arena.sentence(a.score));
    const reward = day.get("success", row) && day.get("judge_multiplier", row) !== null ? day.get("judge_multiplier", row) : 0;
    const missed = axes.filter(([, v]) => v < 1).map(([n]) => n);
    return [el("p", {}, `${arena.sentence(a.score)} The training reward is ${number(reward)}.`, !day.get("success", row) && missed.length ? ` Below 1: ${missed.join(", ")}.` : ""), axes.length === 0 ? null : arena.table("Axes of the outcome", ["axis", "score", "meaning"], axes.map(([n, v]) => [n, v, (day.by[n].doc || "").replaceAll("`", "")]))];
  }

  function judged(day, row, a) {
    if (!a.gates) return el("p", {}, "Not judged.");
    const judge = day.get("judge", row);
    if (day.get("judge_outcome", row) === "not_asked" && a.now === undefined) return el("p", {}, `${judge}: not asked. ${arena.sentence(a.detail || "")} \`arena view CORPUS DAY\` grades it on its page.`);
    if (day.get("judge_outcome", row) === "not_measured") return el("p", {}, `Not asked: ${judge} was not measured on the attempt's domain (not_measured). Its weight is ${number(day.get("judge_multiplier", row))}.`);
    const asked = a.now === undefined ? "" : `${judge}: grade ${number(a.now)}, made for this page: the build did not ask, since the attempt cannot become a row and was not drawn.`;
    return [el("p", {}, asked || `${judge}: ${day.get("judge_outcome", row)}, grade ${number(day.get("judge_score", row))}, factor ${number(day.get("judge_multiplier", row))}.${["thinking_unsaid", "thinking_undecided"].includes(day.get("judge_outcome", row)) ? ` ${arena.sentence(a.detail || "")}` : ""}`),
      el("ol.gates", {}, a.gates.map((g) => el("li", {}, el("strong", { class: g.state === "passed" ? "good" : g.state === "failed" ? "bad" : "" }, `${g.name}: ${g.state}`),
        g.state === "failed" ? ` ${a.detail || ""}` : "", (g.passages || []).map((p) => el("blockquote", {}, `step ${p.step}: ${p.quote}`)))))];
  }

  // agreeing is a text with the words marked that another text holds too.
  function agreeing(text, held) {
    const all = new Set((held.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) || []));
    return text.split(/([\p{L}\p{N}]{4,})/u).map((w) => all.has(w.toLowerCase()) ? el("mark", {}, w) : w);
  }

  function guarded(day, row, a) {
    if (!a.near) return el("p", {}, a.unasked ? arena.sentence(a.unasked) : "No protected problem is near.");
    const dropped = day.get("leak_drop", row), near = a.near;
    return [el("p", {}, `Nearest protected problem ${near.problem}: ${dropped ? `dropped by tier ${day.get("leak_tier", row)}` : "not dropped"}, score ${number(day.get("leak_score", row))}; from ${number(day.threshold)} on it is dropped. ${arena.sentence(day.get("leak_evidence", row))}`),
      near.found ? el("ul", {}, near.found.map((w) => el("li", {}, w))) : null,
      near.passage && near.texts ? [el("h3", {}, `What stands in the attempt: ${near.where}`), el("blockquote", {}, agreeing(near.passage, near.texts)), el("h3", {}, "What the protected problem asks"), el("blockquote", {}, agreeing(near.texts, near.passage))]
        : near.texts ? folded("what the protected problem asks", () => words(near.texts)) : null];
  }

  const began = (day, row) => { const at = day.get("run_date", row); return at === null ? "not known" : new Date(at).toISOString().slice(5, 16).replace("T", " "); };

  function ranked(day, row, a) {
    const rivals = a.rivals || [], place = day.get("place", row);
    const rows = rivals.slice(0, 50).map((r, i) => [[link([day.k, "attempt", r], {}, el("span.whole", {}, arena.short(day.agent(r)))), r === row ? " (this one)" : ""], day.get("place", r), day.get("reason", r) || day.get("fate", r), day.get("judge_multiplier", r), (a.ways || [])[i], el("span.whole", {}, began(day, r)), r === row ? "" : link([day.k, "beside", row, r], {}, "compare")]);
    return [el("p", {}, place === null ? "It left before attempts are ranked." : `Place ${place}${place <= rivals.length ? ` of ${rivals.length}` : ""} at the problem${day.top ? `; at most ${day.top} are kept` : ""}.`),
      a.pool ? el("p", {}, "The problem is in the pool ", el("b", {}, a.pool), ", in cluster ", el("span", { title: day.get("dedup_cluster", row) }, arena.short(day.get("dedup_cluster", row) || "–")), ".") : null,
      a.better >= 0 ? el("p", {}, "It nearly repeats a better attempt: ", link([day.k, "attempt", a.better], {}, day.get("trace_id", a.better)), `, of agent ${day.agent(a.better)}. Their texts are alike by ${number(day.get("similarity", row))}; from ${number(day.near)} on only the better one stays. ${arena.sentence(a.first)} `, link([day.k, "beside", row, a.better], {}, "side by side")) : null,
      rows.length ? [place === null ? "" : el("p.note", {}, "The higher reward ranks first; of equal rewards the better way (0 to 1: a checked answer .35, no call repeated .35, length .15, searches changed .15); of equal ways the attempt whose run began first, so that a copy does not pass its original; then the lower id. An attempt that nearly repeats a better one takes no place of its own."),
        arena.table("Ranked at the problem", ["attempt of agent", "place", "became", "reward", "way", "run began", ""], rows)] : null,
      el("p", {}, link([day.k, "attempts"], { problem_id: "=" + day.get("problem_id", row) }, "all attempts at this problem"))];
  }

  // keys lets a reader walk the steps, the marked passages and the list.
  function keys(day) {
    const steps = () => [...document.querySelectorAll("article.step")], go = (nodes, by) => {
      const at = nodes.indexOf(document.activeElement.closest("article.step, mark")), next = nodes[Math.max(0, Math.min(nodes.length - 1, at + by))];
      next?.focus(); next?.scrollIntoView({ block: "center" });
    };
    const list = arena.list, neighbour = (by) => { const i = list ? list.order.indexOf(Number(arena.place().path[2])) + by : -1; if (list && list.order[i] !== undefined) location.hash = arena.address([day.k, "attempt", list.order[i]]); };
    for (const [key, act] of Object.entries({
      j: () => go(steps(), 1), k: () => go(steps(), -1), ArrowRight: () => neighbour(1), ArrowLeft: () => neighbour(-1), n: () => neighbour(1), p: () => neighbour(-1),
      m: () => go([...document.querySelectorAll("mark")], 1),
      f: () => { const all = steps().map((s) => s.querySelector("details")), open = !all.some((d) => d.open); all.forEach((d) => { d.open = open; }); },
      b: () => { location.hash = list ? list.back : arena.address([day.k, "attempts"]); },
    })) arena.keys.set(key, act);
  }

  page("attempt", async (day, path) => {
    const row = Number(path[0]);
    if (!(row >= 0 && row < day.rows)) throw new Error(`there is no attempt ${path[0]}: the last of ${day.rows} is ${day.rows - 1}`);
    const a = await day.argued(row), at = arena.address([day.k, "attempt", row]), is = (kind) => path[1] === kind ? path[2] : "";
    if (!a) throw new Error(`there is no attempt ${path[0]}`);
    document.title = `${day.get("reason", row) || day.get("fate", row)}: ${day.get("trace_id", row)}`;
    keys(day);
    const stage = day.get("fate", row) === "kept" ? "" : day.get("stage", row), sections = [["Outcome", scored, ["score"]], ["Judge", judged, ["judge"]], ["Guard", guarded, ["guard"]], ["Rank and split", ranked, ["rank", "split"]]]
      .sort((x, y) => y[2].includes(stage) - x[2].includes(stage)).map(([name, draw, of]) => el("section", {}, el("h2", {}, of.includes(stage) ? `${name}: decided here` : name), draw(day, row, a)));
    return [el("h1.id", {}, day.get("trace_id", row) || "A record that could not be read"), verdict(day, row, a),
      el("div.sections", {}, sections),
      el("section", {}, story(a, at, is("step"), is("reply")))];
  });

  page("beside", async (day, path) => {
    const rows = path.slice(0, 2).map(Number), both = await Promise.all(rows.map((r) => day.argued(r)));
    document.title = "Side by side";
    return [el("h1", {}, "Side by side"), el("div.both", {}, both.map((a, i) => el("section", {}, el("h2.id", {}, link([day.k, "attempt", rows[i]], {}, day.get("trace_id", rows[i]))),
      a ? [verdict(day, rows[i], a), scored(day, rows[i], a), judged(day, rows[i], a), story(a, arena.address([day.k, "attempt", rows[i]]))] : el("p", {}, "Not here."))))];
  });
})();
