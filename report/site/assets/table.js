"use strict";
// A table of many rows: it draws the rows in sight alone, sorts and filters by every
// column, and keeps what it is set to in the page's address.
arena.Table = class {
  static height = 30;

  // source has rows, columns ({name, kind, doc, at(row)}), shown (names), open(row).
  constructor(source, view, path) {
    Object.assign(this, { source, view: { ...view }, path, chosen: 0 });
    this.byName = new Map(source.columns.map((c) => [c.name, c]));
    this.order = this.select();
  }

  get shown() {
    const names = this.view.cols ? this.view.cols.split(" ") : this.source.shown;
    return names.map((n) => this.byName.get(n)).filter(Boolean);
  }

  // select gives the rows that pass search and filters, sorted.
  select() {
    const tests = [];
    for (const [name, wanted] of Object.entries(this.view)) {
      const column = this.byName.get(name);
      if (column && wanted !== "") tests.push(arena.Table.test(column, wanted));
    }
    if (this.view.q) tests.push(this.search(this.view.q));
    const out = [];
    for (let row = 0; row < this.source.rows; row++) if (tests.every((t) => t(row))) out.push(row);
    const by = this.byName.get((this.view.sort || "").replace(/^-/, ""));
    if (!by) return out;
    const down = this.view.sort.startsWith("-") ? -1 : 1, key = arena.Table.ranks(by, this.source.rows);
    return out.sort((a, b) => {
      const x = key[a], y = key[b], none = Number.isNaN(x) - Number.isNaN(y);
      return none || down * (x - y) || a - b;
    });
  }

  // ranks are numbers that sort as the column's values do; NaN for none.
  static ranks(column, rows) {
    if (column.ranks) return column.ranks;
    const key = new Float64Array(rows);
    if (column.kind === "words") {
      const texts = column.texts || Array.from({ length: rows }, (_, r) => column.at(r));
      const order = Array.from(texts.keys()).sort((a, b) => texts[a] < texts[b] ? -1 : texts[a] > texts[b] ? 1 : 0), rank = new Float64Array(texts.length);
      for (let i = 1; i < order.length; i++) rank[order[i]] = rank[order[i - 1]] + (texts[order[i]] !== texts[order[i - 1]]);
      for (let r = 0; r < rows; r++) key[r] = column.texts ? rank[column.values[r]] : rank[r];
    } else for (let r = 0; r < rows; r++) {
      const v = column.at(r);
      key[r] = v === null || v === undefined ? NaN : Number(v);
    }
    return column.ranks = key;
  }

  // test reads a filter: "=x" and "!x" are exact for texts, others look within; numbers
  // know <, <=, >, >=, = and a..b; "?" is unknown.
  static test(column, wanted) {
    const unknown = (row) => column.at(row) === null || column.at(row) === undefined;
    if (wanted === "?") return unknown;
    if (column.kind === "flag") return (row) => !unknown(row) && column.at(row) === /^=?(y|yes|true|1)$/.test(wanted);
    if (column.kind === "number") {
      const range = wanted.match(/^(-?[\d.e-]+)\.\.(-?[\d.e-]+)$/), m = wanted.match(/^(<=|>=|<|>|=)?\s*(-?[\d.e+-]+)$/);
      if (range) return (row) => !unknown(row) && column.at(row) >= Number(range[1]) && column.at(row) <= Number(range[2]);
      if (!m) return () => false;
      const limit = Number(m[2]), is = { "<": (v) => v < limit, "<=": (v) => v <= limit, ">": (v) => v > limit, ">=": (v) => v >= limit }[m[1]] || ((v) => v === limit);
      return (row) => !unknown(row) && is(column.at(row));
    }
    const how = wanted[0], rest = how === "=" || how === "!" ? wanted.slice(1) : wanted.toLowerCase();
    const is = how === "=" ? (s) => s === rest : how === "!" ? (s) => s !== rest : (s) => s.toLowerCase().includes(rest);
    if (!column.texts) return (row) => is(column.at(row));
    const hits = column.texts.map(is);
    return (row) => hits[column.values[row]];
  }

  search(words) {
    const tests = this.source.columns.filter((c) => c.kind === "words").map((c) => arena.Table.test(c, words.toLowerCase().replace(/^[=!]/, "")));
    return (row) => tests.some((t) => t(row));
  }

  draw() {
    const { el } = arena;
    this.body = el("tbody");
    this.count = el("p.note", { role: "status" });
    this.head = el("thead");
    this.frame = el("div.rows", { tabindex: 0, role: "region", "aria-label": "Rows: arrows move, Enter opens", onscroll: () => this.paint(), onkeydown: (e) => this.key(e) },
      el("table", { "aria-rowcount": this.source.rows }, this.head, this.body));
    this.node = el("div.table", {}, this.bar(), el("p.note", {}, "Under each column's name: part of a text, ", ["=whole text", "!any other text", ">=3", "2..5", "?"].map((f, i) => [i ? ", " : "", el("code", {}, f)]), " (unknown). A name sorts, and sorts down when pressed again."), this.count, this.frame);
    this.heads();
    requestAnimationFrame(() => this.paint());
    return this.node;
  }

  bar() {
    const { el } = arena;
    const find = el("input", { type: "search", id: "search", placeholder: "search all columns", "aria-label": "Search all columns", value: this.view.q || "", oninput: (e) => this.set({ q: e.target.value }) });
    const columns = el("details.columns", {}, el("summary", {}, "Columns"), el("div", {}, this.source.columns.map((c) => el("label", { title: c.doc || "" },
      el("input", { type: "checkbox", checked: this.shown.includes(c), onchange: (e) => this.toggle(c.name, e.target.checked) }), ` ${c.name}`))));
    return el("div.bar", {}, find, columns, el("button", { type: "button", onclick: () => this.save("csv") }, "CSV"), el("button", { type: "button", onclick: () => this.save("json") }, "JSON"),
      el("button", { type: "button", onclick: () => { location.hash = arena.address(this.path); } }, "All rows"));
  }

  toggle(name, on) {
    const names = this.shown.map((c) => c.name).filter((n) => n !== name);
    if (on) names.push(name);
    this.set({ cols: names.join(" ") });
    this.heads();
  }

  heads() {
    const { el } = arena;
    const sorted = (c) => this.view.sort === c.name ? "ascending" : this.view.sort === "-" + c.name ? "descending" : null;
    this.head.replaceChildren(
      el("tr", {}, this.shown.map((c) => el("th", { scope: "col", "aria-sort": sorted(c), title: c.doc || "" },
        el("button", { type: "button", onclick: () => { this.set({ sort: this.view.sort === c.name ? "-" + c.name : c.name }); this.heads(); } }, c.name, { ascending: " ↑", descending: " ↓" }[sorted(c)] || "")))),
      el("tr.filters", {}, this.shown.map((c) => el("td", {}, el("input", {
        size: 6, value: this.view[c.name] || "", "aria-label": `Filter ${c.name}`, placeholder: { words: "has", number: ">= 0", flag: "yes" }[c.kind], oninput: (e) => this.set({ [c.name]: e.target.value }),
      })))));
  }

  // set changes the view and with it the address, without a new entry in the history.
  set(change) {
    Object.assign(this.view, change);
    history.replaceState(null, "", arena.address(this.path, this.view));
    this.order = this.select();
    this.chosen = 0;
    this.frame.scrollTop = 0;
    this.paint();
  }

  paint() {
    const { el } = arena, height = arena.Table.height, columns = this.shown;
    const from = Math.max(0, Math.floor(this.frame.scrollTop / height) - 10), to = Math.min(this.order.length, from + Math.ceil((this.frame.clientHeight || 600) / height) + 20);
    const gap = (rows) => { const tr = el("tr.gap", { "aria-hidden": "true" }, el("td", { colspan: columns.length })); tr.style.height = `${rows * height}px`; return tr; };
    const rows = [];
    for (let i = from; i < to; i++) rows.push(this.row(i, columns));
    this.body.replaceChildren(gap(from), ...rows, gap(this.order.length - to));
    this.count.textContent = `${this.order.length} of ${this.source.rows} rows`;
  }

  row(i, columns) {
    const { el } = arena, row = this.order[i];
    return el("tr", { "aria-rowindex": i + 1, class: i === this.chosen ? "chosen" : null }, columns.map((c, k) => {
      const text = arena.Table.cell(c, row);
      return el("td", { class: c.kind === "number" ? "n" : null, title: text }, k ? arena.Table.brief(c, text) : el("a", { href: this.source.open(row), onclick: () => this.opened(i) }, arena.Table.brief(c, text) || "–"));
    }));
  }

  static cell(column, row) {
    const v = column.at(row);
    if (v === null || v === undefined) return "";
    if (column.name === "run_date") return new Date(v).toISOString().slice(0, 16).replace("T", " ");
    return column.kind === "flag" ? (v ? "yes" : "no") : column.kind === "number" ? arena.number(v, 6) : v;
  }

  // brief is an id by the beginnings of its parts, an account by its ends.
  static brief(column, text) {
    if (/hotkey$/.test(column.name)) return arena.short(text);
    return /(^|_)id$/.test(column.name) ? text.split("/").map((part) => part.length > 12 ? part.slice(0, 8) : part).join(" / ") : text;
  }

  // opened remembers the list, so that an attempt knows its neighbours.
  opened(i) { arena.list = { order: this.order, at: i, back: location.hash }; }

  key(e) {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 15, PageUp: -15, Home: -1e9, End: 1e9 }[e.key];
    if (e.target.tagName === "INPUT") return;
    if (step) {
      this.chosen = Math.max(0, Math.min(this.order.length - 1, this.chosen + step));
      const top = this.chosen * arena.Table.height, sight = this.frame.clientHeight - 100;
      if (top < this.frame.scrollTop) this.frame.scrollTop = top;
      if (top > this.frame.scrollTop + sight) this.frame.scrollTop = top - sight;
      this.paint();
      e.preventDefault();
    } else if (e.key === "Enter" && e.target === this.frame && this.order.length) {
      this.opened(this.chosen);
      location.hash = this.source.open(this.order[this.chosen]);
    }
  }

  // save hands the rows in view to the reader as a file.
  save(kind) {
    const names = this.source.columns.map((c) => c.name), rows = this.order.map((r) => this.source.columns.map((c) => c.at(r) ?? null));
    const quote = (v) => v === null ? "" : /^[=+@\t\r-]/.test(v) && typeof v === "string" ? `"'${v.replaceAll('"', '""')}"` : /[",\n\r]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : String(v);
    const text = kind === "csv" ? [names, ...rows].map((r) => r.map(quote).join(",")).join("\r\n") + "\r\n"
      : JSON.stringify(rows.map((r) => Object.fromEntries(r.map((v, i) => [names[i], v]))), null, 1);
    const url = URL.createObjectURL(new Blob([text], { type: kind === "csv" ? "text/csv" : "application/json" }));
    arena.el("a", { href: url, download: `attempts.${kind}` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  }
};
