"use strict";
// What all pages share: data that scripts bring, elements, addresses, numbers.
// Texts of traces only ever become text nodes and attributes, never markup.
const arena = (() => {
  const data = new Map(), asked = new Map();

  // put takes the data that a script of data/ brings under its name.
  function put(name, value) { data.set(name, value); }

  // load brings the data of a name, once.
  function load(name) {
    if (data.has(name)) return Promise.resolve(data.get(name));
    if (!asked.has(name)) asked.set(name, new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = `data/${name}.js`;
      script.onload = () => data.has(name) ? done(data.get(name)) : failed(new Error(`${script.src} holds no ${name}`));
      script.onerror = () => { asked.delete(name); failed(new Error(`${script.src} is not there`)); };
      document.head.append(script);
    }));
    return asked.get(name);
  }

  // el makes an element: attributes, listeners (on…), then children, texts among them.
  function el(tag, attributes = {}, ...children) {
    const [name, ...classes] = tag.split(".");
    return fill(document.createElement(name), classes, attributes, children);
  }

  // svg makes an element of a picture.
  function svg(tag, attributes = {}, ...children) {
    return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), [], attributes, children);
  }

  function fill(node, classes, attributes, children) {
    if (classes.length) node.classList.add(...classes);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined));
    return node;
  }

  // address makes the hash of a page: its path and what its view is set to.
  function address(path, view = {}) {
    const query = new URLSearchParams(Object.entries(view).filter(([, v]) => v !== "" && v !== null && v !== undefined)).toString();
    return `#/${path.map(encodeURIComponent).join("/")}${query ? "?" + query : ""}`;
  }

  // place reads the hash of this page.
  function place() {
    const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
    return { path: path.split("/").filter(Boolean).map(decodeURIComponent), view: Object.fromEntries(new URLSearchParams(query || "")) };
  }

  // short is a long name by its ends, as accounts are known.
  function short(name) { return name.length > 20 ? `${name.slice(0, 8)}…${name.slice(-4)}` : name; }

  // sentence begins with a capital and ends with a point.
  function sentence(text) { return text ? text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".") : ""; }

  // meant parts what a reason means from what can be done about it.
  function meant(text) { return (text || "").split("; to do: ").map(sentence); }

  function link(path, view, ...children) { return el("a", { href: address(path, view) }, ...children); }

  // number writes a value as it is measured; what is not known is a dash.
  function number(x, digits = 4) {
    if (x === null || x === undefined || Number.isNaN(x)) return "–";
    return Number.isInteger(x) ? String(x) : String(Number(x.toPrecision(digits)));
  }

  // wilson is the 95 % score interval of a rate.
  function wilson(won, n) {
    if (n === 0) return [0, 1];
    const z = 1.959963984540054, p = won / n, d = 1 + z * z / n;
    const mid = (p + z * z / (2 * n)) / d, half = z * Math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / d;
    return [Math.max(0, mid - half), Math.min(1, mid + half)];
  }

  // rated draws a rate with its interval on an axis from 0 to 1.
  function rated(won, n) {
    const [low, high] = wilson(won, n), x = (v) => 4 + 112 * v;
    const words = n ? `${won} of ${n}: ${number(won / n, 3)}, 95 % ${number(low, 3)} to ${number(high, 3)}` : "none";
    if (!n) return el("span", {}, "–");
    return el("span.rated", {}, svg("svg", { viewBox: "0 0 120 16", width: 120, height: 16, role: "img", "aria-label": words },
      svg("title", {}, words),
      svg("line", { x1: x(0), x2: x(1), y1: 8, y2: 8, class: "axis" }),
      svg("line", { x1: x(low), x2: x(high), y1: 8, y2: 8, class: "interval" }),
      svg("circle", { cx: x(won / n), cy: 8, r: 3.5, class: "point" })), ` ${number(won / n, 3)}`);
  }

  // table makes a small table: heads, then rows of cells. Columns with numbers stand right.
  function table(caption, heads, rows) {
    const right = heads.map((_, i) => rows.some((cells) => typeof cells[i] === "number") ? "n" : null);
    return el("div.wide", { tabindex: 0, role: "region", "aria-label": caption }, el("table", {}, el("caption", {}, caption),
      el("thead", {}, el("tr", {}, heads.map((h, i) => el("th", { scope: "col", class: right[i] }, h)))),
      el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((c, i) => i ? el("td", { class: right[i] || (typeof c === "string" && c.length > 40 ? "long" : null) }, c instanceof Node || Array.isArray(c) ? c : typeof c === "number" ? number(c) : c ?? "–") : el("th", { scope: "row" }, c)))))));
  }

  const pages = new Map();
  // page names how a kind of page is drawn: a function of corpus, path and view.
  function page(name, draw) { pages.set(name, draw); }

  return { put, load, el, svg, address, place, link, number, wilson, rated, table, short, sentence, meant, page, pages, keys: new Map() };
})();
