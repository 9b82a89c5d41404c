"use strict";
// The pages on a whole day: the funnel, outcome by grade, the table of attempts.
(() => {
  const { el, svg, link, number, page } = arena;

  // Day is a corpus as its data has it, with columns that are read by row.
  class Day {
    constructor(k, data) {
      Object.assign(this, data, { k });
      for (const c of this.columns) c.at = c.texts ? (row) => c.texts[c.values[row]] : (row) => c.values[row];
      this.has = this.whole && new Set(this.whole);
      if (this.has) this.columns.push({ name: "dialogue", kind: "flag", doc: "this site holds its dialogue", at: (row) => this.has.has(row) });
      this.by = Object.fromEntries(this.columns.map((c) => [c.name, c]));
    }

    get(name, row) { return this.by[name]?.at(row) ?? null; }

    // argued brings what speaks for and against an attempt.
    async argued(row) {
      if (!this.has || this.has.has(row)) return arena.load(`${this.k}/attempt/${row}`);
      return (await arena.load(`${this.k}/rest/${row - row % this.chunk}`))[row];
    }

    // agent is the name under which the pages know who made an attempt.
    agent(row) { return this.get("agent_hotkey", row) || this.get("agent_version", row) || this.get("eval_run_id", row) || ""; }

    count(test) {
      let n = 0;
      for (let row = 0; row < this.rows; row++) n += test(row) ? 1 : 0;
      return n;
    }
  }

  const days = new Map();
  arena.day = async (k) => {
    if (!days.has(k)) days.set(k, new Day(k, await arena.load(`${k}/day`)));
    return days.get(k);
  };

  const shown = ["trace_id", "agent_hotkey", "task_type", "reason", "fate", "stage", "axis", "dialogue", "success", "judge_score", "place", "n_steps", "n_tokens", "seconds"];

  function funnel(day) {
    const widest = Math.max(1, day.funnel[0]?.in || 0), high = 34, wide = 700;
    const at = (stage, view) => arena.address([day.k, "attempts"], { stage: "=" + stage, ...view });
    const bars = day.funnel.map((s, i) => {
      const y = 20 + i * high, x = (n) => 90 + (wide - 240) * n / widest, lost = s.in - s.out;
      return [svg("text", { x: 84, y: y + 15, "text-anchor": "end" }, s.stage),
        svg("a", { href: at(s.stage), "aria-label": `${s.stage}: ${lost} of ${s.in} leave here` },
          svg("title", {}, `${s.stage}: in ${s.in}, failed ${s.failed}, dropped ${lost - s.failed}, out ${s.out}`),
          svg("rect", { x: 90, y, width: Math.max(1, x(s.in) - 90), height: 20, class: "lost" }),
          svg("rect", { x: 90, y, width: Math.max(0, x(s.out) - 90), height: 20, class: "left" })),
        svg("text", { x: x(s.in) + 6, y: y + 15 }, `${s.out} of ${s.in} go on`)];
    });
    const y = 24 + day.funnel.length * high, ticks = [0, 0.25, 0.5, 0.75, 1].map((t) => Math.round(t * widest)).filter((t, i, all) => all.indexOf(t) === i), on = (n) => 90 + (wide - 240) * n / widest;
    return el("figure", {}, svg("svg", { viewBox: `0 0 ${wide} ${y + 42}`, role: "group", "aria-label": "Funnel: records left after each stage; a bar opens what left there" },
      svg("title", {}, "Records left after each stage"), bars,
      svg("line", { x1: 90, x2: wide - 150, y1: y, y2: y, class: "axis" }),
      svg("text", { x: 84, y: 12, "text-anchor": "end" }, "stage"), ticks.map((t) => [svg("line", { x1: on(t), x2: on(t), y1: y, y2: y + 4, class: "axis" }), svg("text", { x: on(t), y: y + 17, "text-anchor": "middle" }, String(t))]),
      svg("text", { x: on(widest / 2), y: y + 35, "text-anchor": "middle" }, "records")),
    el("figcaption", {}, "Dark: the records that go on. Pale: those that leave at the stage; a bar opens them."));
  }

  function reasons(day) {
    const rows = [];
    for (const s of day.funnel) for (const [by, kind] of [[s.failures, "failed"], [s.dropped, "dropped"]]) {
      for (const word of Object.keys(by || {}).sort((a, b) => by[b] - by[a])) {
        rows.push([link([day.k, "attempts"], { stage: "=" + s.stage, reason: "=" + word }, word), by[word], s.stage, kind, ...arena.meant(day.reasons[word])]);
      }
    }
    rows.push([link([day.k, "attempts"], { fate: "=kept" }, "kept"), day.count((r) => day.get("fate", r) === "kept"), "", "kept", "Rows of the corpus."]);
    return arena.table("Why records left", ["reason", "records", "stage", "fate", "meaning", "what to do"], rows.map((r) => [...r, "", ""].slice(0, 6)));
  }

  // crossed sets outcomes against grades: right for the wrong reasons, and sound work
  // that failed, are cells of it.
  function crossed(day) {
    const grades = [...new Set(day.by.judge_score.values.filter((v) => v !== null))].sort((a, b) => a - b), outcomes = [["solved", true], ["not solved", false]];
    const cell = (success, grade) => {
      const n = day.count((r) => day.get("success", r) === success && day.get("scored", r) === true && day.get("judge_score", r) === grade);
      return n ? link([day.k, "attempts"], { success: success ? "yes" : "no", scored: "yes", judge_score: grade === null ? "?" : "=" + grade }, String(n)) : "0";
    };
    const rows = outcomes.map(([name, success]) => [name, ...grades.map((g) => cell(success, g)), cell(success, null)]);
    const low = { success: "yes", judge_score: "<=0.3" }, sound = { success: "no", scored: "yes", judge_score: ">=0.7" };
    const n = (f) => new arena.Table({ rows: day.rows, columns: day.columns, shown }, f, []).order.length;
    const judged = day.funnel.find((s) => s.stage === "judge") || {}, drawn = judged.drawn || 0;
    return [judged.not_asked ? el("p.note", {}, `Of ${drawn + judged.not_asked} attempts that cannot become rows, ${drawn} were drawn for grading; the others have no grade here (not_asked).`) : null,
      arena.table("Outcome by the judge's grade", ["", ...grades.map(String), "no grade"], rows),
      el("ul", {}, el("li", {}, link([day.k, "attempts"], low, `${n(low)} right for the wrong reasons`), ": solved, with a grade of at most 0.3"),
        el("li", {}, link([day.k, "attempts"], { success: "yes", reasons: "looked_up_answer" }, `${n({ success: "yes", reasons: "looked_up_answer" })} without a search`), ": solved, and no search found the answer"),
        el("li", {}, link([day.k, "attempts"], sound, `${n(sound)} sound and failed`), ": not solved, with a grade of at least 0.7"))];
  }

  page("home", (day) => {
    document.title = `${day.name}: funnel`;
    return [el("h1", {}, `What became of the records of “${day.name}”`), el("p", {}, `${day.rows} records were read.${day.top ? ` At most ${day.top} attempts at a problem are kept.` : ""}`),
      day.hidden ? el("p.note", {}, `${day.hidden} more are counted in the funnel and not shown: their problems are protected, or their agents under embargo.`) : null,
      el("section", {}, el("h2", {}, "Records left after each stage"), funnel(day), reasons(day)), el("section", {}, el("h2", {}, "Was it for the right reasons?"), crossed(day)),
      (day.planted || []).length ? el("section", {}, el("h2", {}, "Does the guard find what is protected?"), arena.table("Protected requests planted in other words, with the 95 % interval of the share found", ["kind", "planted", "found", "share found, 0 to 1"], day.planted.map((k) => [k.kind, k.planted, k.found, arena.rated(k.found, k.planted)]))) : null];
  });

  page("attempts", (day, path, view) => {
    document.title = `${day.name}: attempts`;
    const table = new arena.Table({
      rows: day.rows, columns: day.columns, shown: shown.filter((n) => day.by[n]), open: (row) => arena.address([day.k, "attempt", row]),
    }, view, [day.k, "attempts"]);
    arena.current = table;
    return [el("h1", {}, "Attempts"), table.draw()];
  });
})();
