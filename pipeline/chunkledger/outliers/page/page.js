"use strict";
/* What is shown follows from the address alone: every act changes its hash, and the hash is read again. Text gets into
   the page as text and in no other way; the policy of the page forbids all others. */
(() => {
  const PAGE_ROWS = 25;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const rows = data.rows.map(([doc, chunk, first, last, kind, text, embed, rendered, flags, cause, detail]) => ({
    doc, chunk, first, last, kind, text, embed, rendered, flags, cause, detail, id: data.ids[doc],
  }));
  const viewer = byId("viewer");
  const prints = matchMedia("print");
  let printing = prints.matches;

  // Characters that do not show, or that turn others around, but for those that letters and emoji are made with.
  const UNSEEN = /(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u;
  const marked = (char) => `‹U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`;
  const visible = (text) => text.replace(new RegExp(UNSEEN, "gu"), marked).replace(/[\t\n\r]/g, marked);
  const short = (text, most = 120) => {
    const chars = [...text];
    return chars.length <= most ? text : `${chars.slice(0, most / 3).join("")}…${chars.slice(1 - (most * 2) / 3).join("")}`;
  };
  const count = (number) => number.toLocaleString("en");
  const noun = (number, one) => `${count(number)} ${one}${number === 1 ? "" : "s"}`;

  function element(name, options = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(options)) {
      if (key in made) made[key] = value;
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  /* The address */

  const DEFAULTS = { find: "", flag: "", cause: "", sort: "", page: "1", doc: "", chunk: "" };
  const stateOf = (hash) => ({ ...DEFAULTS, ...Object.fromEntries(new URLSearchParams(hash.slice(1))) });
  const state = () => stateOf(location.hash);

  function go(changes, { isStep = false } = {}) {
    const next = Object.entries({ ...state(), ...changes }).filter(([key, value]) => key in DEFAULTS && String(value) !== DEFAULTS[key]);
    const hash = `#${new URLSearchParams(next.map(([key, value]) => [key, String(value)]))}`;
    if (isStep) history.pushState(null, "", hash);
    else history.replaceState(null, "", hash);
    show();
  }

  /* The list */

  const SORTS = {
    document: (row) => row.id, line: (row) => row.first ?? row.chunk, rendered: (row) => row.rendered,
    embed: (row) => row.embed, text: (row) => row.text, flag: (row) => row.flags.join(), cause: (row) => row.cause,
  };

  function chosen({ find, flag, cause, sort }) {
    const words = find.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter((row) => {
      const text = `${row.id} ${row.cause} ${row.detail} ${row.kind}`.toLowerCase();
      return (!flag || row.flags.includes(flag)) && (!cause || row.cause === cause) && words.every((word) => text.includes(word));
    });
    const key = SORTS[sort.replace(/^-/, "")];
    if (!key) return found;
    const sign = sort.startsWith("-") ? -1 : 1;
    return found.sort((one, other) => {
      const [a, b] = [key(one), key(other)];
      return sign * (a < b ? -1 : a > b ? 1 : 0);
    });
  }

  function place(row) {
    if (row.first === null) return `chunk ${count(row.chunk)}`;
    return row.first === row.last ? `${row.first}` : `${row.first}–${row.last}`;
  }

  function rowOf(row) {
    const button = element("button", { type: "button", className: "open" }, element("bdi", {}, visible(short(row.id))));
    const cell = (text, className = "") => element("td", { className }, text);
    const made = element(
      "tr", {},
      element("td", {}, button, element("span", { className: "place" }, `${row.first === null ? "" : "lines "}${place(row)}: ${visible(`${row.cause}, ${row.detail}`)}`)),
      cell(place(row), "number wide"),
      cell(count(row.rendered), "number"),
      cell(count(row.embed), "number wider"),
      cell(count(row.text), "number wider"),
      cell(row.flags.join(", "), "wide"),
      cell(visible(`${row.cause}, ${row.detail}`), "wide"),
    );
    made.addEventListener("click", () => {
      if (String(getSelection())) return; // somebody copies from the list
      button.focus(); // where the browser returns to
      go({ doc: row.id, chunk: row.chunk }, { isStep: true });
    });
    return made;
  }

  let drawn = null;
  function showList({ doc, chunk, ...now }) {
    const asked = JSON.stringify([now, printing]);
    if (!rows.length || drawn === asked) return; // the focus stays where it is
    drawn = asked;
    for (const name of ["find", "flag", "cause"]) if (byId(name).value !== now[name]) byId(name).value = now[name];
    const found = chosen(now);
    const pages = Math.max(1, Math.ceil(found.length / PAGE_ROWS));
    const page = Math.min(pages, Math.max(1, Number.parseInt(now.page, 10) || 1));
    const first = printing ? 0 : (page - 1) * PAGE_ROWS;
    const shown = printing ? found : found.slice(first, first + PAGE_ROWS);
    byId("table").tBodies[0].replaceChildren(...shown.map(rowOf));
    for (const head of document.querySelectorAll("#table th")) {
      if (head.dataset.sort !== now.sort.replace(/^-/, "")) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", now.sort.startsWith("-") ? "descending" : "ascending");
    }
    const listed = data.flagged > rows.length ? `${count(rows.length)} worst of ${noun(data.flagged, "outlier")}` : noun(rows.length, "outlier");
    const all = found.length === rows.length ? listed : `${count(found.length)} of the ${listed}`;
    say(byId("count"), `${all}${pages > 1 && !printing ? `, ${count(first + 1)} to ${count(first + shown.length)} shown` : ""}`);
    byId("page").textContent = `Page ${count(page)} of ${count(pages)}`;
    byId("before").disabled = page === 1;
    byId("after").disabled = page === pages;
    byId("pages").hidden = pages === 1;
  }

  function say(status, text) {
    if (status.textContent !== text) status.textContent = text; // else it would be read out again
  }

  function options(select, values, all) {
    select.replaceChildren(new Option(all, ""), ...values.map((value) => new Option(value, value)));
  }

  function setUpList() {
    options(byId("flag"), [...new Set(rows.flatMap((row) => row.flags))].sort(), "all");
    options(byId("cause"), [...new Set(rows.map((row) => row.cause))].sort(), "all");
    const filters = byId("filters");
    filters.addEventListener("input", () => go({ find: byId("find").value, flag: byId("flag").value, cause: byId("cause").value, page: 1 }));
    filters.addEventListener("submit", (event) => event.preventDefault());
    filters.addEventListener("reset", (event) => {
      event.preventDefault();
      go({ find: "", flag: "", cause: "", page: 1 });
      byId("find").focus();
    });
    for (const head of document.querySelectorAll("#table th")) {
      head.firstElementChild.addEventListener("click", () => {
        const name = head.dataset.sort;
        const usual = head.classList.contains("number") && name !== "line" ? `-${name}` : name;
        const other = usual === name ? `-${name}` : name;
        go({ sort: state().sort === usual ? other : usual, page: 1 });
      });
    }
    const turn = (by) => go({ page: (Number.parseInt(state().page, 10) || 1) + by });
    byId("before").addEventListener("click", () => turn(-1));
    byId("after").addEventListener("click", () => turn(1));
    byId("table").addEventListener("keydown", (event) => {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      const buttons = [...document.querySelectorAll("#table .open")];
      const next = buttons[buttons.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)];
      if (next && document.activeElement.matches(".open")) {
        event.preventDefault();
        next.focus();
      }
    });
  }

  /* The text of a document */

  function textWithMarks(text) {
    const parts = [];
    let plain = "";
    for (const char of text) {
      if (UNSEEN.test(char)) {
        if (plain) parts.push(plain);
        plain = "";
        parts.push(element("span", { className: "mark" }, marked(char)));
      } else plain += char;
    }
    if (plain) parts.push(plain);
    return parts;
  }

  /** Lines of a chunk with their numbers, and its cut points between them, or in them. */
  function linesOf(chunk) {
    const made = element("div", { className: "lines" });
    let number = chunk.lines ? chunk.lines[0] : null;
    let held = null;
    const line = (isFirst, repeats) => {
      held = element("span", { className: "held" });
      const at = element("span", { className: "at" }, number !== null && isFirst ? String(number) : "");
      made.append(element("div", { className: `line${repeats ? " repeated" : ""}` }, at, held));
    };
    let starts = true; // whether what comes next begins a line
    for (const piece of chunk.pieces) {
      const [what, ...rest] = typeof piece === "string" ? ["text", piece] : piece;
      if (what === "cut") {
        const [kind, tokens, rendered] = rest;
        made.append(element("div", { className: "cut" }, `${kind}: ${noun(tokens, "token")}, ${count(rendered)} rendered`));
        held = null;
      } else if (what === "left") {
        made.append(element("div", { className: "line" }, element("span", { className: "at" }), element("em", { className: "held" }, `… ${noun(rest[0], "character")} left out …`)));
        if (number !== null) number += rest[1];
        held = null;
        starts = false;
      } else {
        rest[0].split(/(\r\n|\r|\n)/).forEach((text, place) => {
          if (place % 2) {
            if (held === null) line(starts, what === "repeats");
            if (number !== null) number += 1;
            held = null;
            starts = true;
          } else if (text) {
            if (held === null) line(starts, what === "repeats");
            starts = false;
            held.append(what === "repeats" ? element("span", { className: "repeats" }, ...textWithMarks(text)) : element("span", {}, ...textWithMarks(text)));
          }
        });
      }
    }
    return made;
  }

  function chunkOf(chunk, isHere) {
    const [tokens, embed, rendered] = chunk.sizes;
    const lines = chunk.lines ? (chunk.lines[0] === chunk.lines[1] ? `line ${chunk.lines[0]}, ` : `lines ${chunk.lines[0]}–${chunk.lines[1]}, `) : "";
    const flags = chunk.flags || [];
    const head = element("header", {}, element("h3", { id: `chunk-${chunk.index}` }, `Chunk ${count(chunk.index)}`), `${lines}${chunk.kind}, ${noun(tokens, "token")}, ${count(embed)} embedded, ${count(rendered)} rendered`);
    if (flags.length) head.append(element("p", { className: "why" }, visible(`${flags.join(", ")}: ${chunk.cause}`)));
    if (chunk.path) head.append(element("p", { className: "path" }, element("bdi", {}, visible(chunk.path))));
    if (chunk.context) head.append(element("p", { className: "path" }, "Repeated before its text:"), element("p", { className: "context" }, ...textWithMarks(chunk.context.trimEnd())));
    const made = element("section", { className: `chunk${flags.length ? " flagged" : ""}${isHere ? " here" : ""}`, "aria-labelledby": `chunk-${chunk.index}` }, head, linesOf(chunk));
    made.dataset.chunk = chunk.index;
    return made;
  }

  function apart(text) {
    return element("p", { className: "apart" }, text);
  }

  function textOf({ chunks, held }, here) {
    const made = [];
    let expected = 0;
    for (const chunk of held) {
      if (chunk.index > expected) made.push(apart(`… ${noun(chunk.index - expected, "chunk")} not on this page …`));
      if (chunk.unheld) made.push(apart(`… ${noun(chunk.unheld, "character")} of the document in no chunk …`));
      made.push(chunkOf(chunk, chunk.index === here));
      expected = chunk.index + 1;
    }
    if (expected < chunks) made.push(apart(`… ${noun(chunks - expected, "chunk")} not on this page …`));
    return made;
  }

  function command(id, chunk) {
    const quoted = /^[\w./-]+$/.test(id) ? id : `'${visible(id).replaceAll("'", `'\\''`)}'`;
    return `chunkledger show ${data.ledger} ${quoted}${chunk === "" ? "" : ` --chunk ${chunk}`}`;
  }

  let read = null;
  function showViewer(now) {
    const asked = JSON.stringify(now);
    if (read === asked) return; // told twice: by popstate and by hashchange
    read = asked;
    const doc = now.doc === "" ? -1 : data.ids.indexOf(now.doc);
    if (doc < 0) {
      if (viewer.open) viewer.close();
      return;
    }
    const text = data.texts[doc];
    const here = now.chunk === "" ? null : Number(now.chunk);
    const chunk = text?.held.find((one) => one.index === here);
    byId("viewer-title").replaceChildren(element("bdi", {}, visible(now.doc)));
    byId("viewer-choice").value = text ? String(doc) : "";
    const list = chosen(now);
    const at = list.findIndex((row) => row.doc === doc && row.chunk === here);
    byId("previous").disabled = at < 1;
    byId("next").disabled = at < 0 || at + 1 >= list.length;
    const content = byId("text");
    content.replaceChildren(...(text ? textOf(text, here) : []));
    if (!text || (here !== null && !chunk)) {
      content.prepend(element("p", { className: "apart" }, "This text is not on the page. It is shown by ", element("code", {}, command(now.doc, now.chunk))));
    }
    if (!viewer.open) viewer.showModal();
    const flagged = text ? text.held.filter((one) => one.flags).length : 0;
    const what = chunk ? `Chunk ${count(here)} of ${count(text.chunks)}${chunk.cause ? `: ${visible(chunk.cause)}` : ""}` : text ? noun(text.chunks, "chunk") : `Chunk ${count(here ?? 0)}`;
    say(byId("viewer-place"), `${what}${at >= 0 ? `, outlier ${count(at + 1)} of ${count(list.length)} in the list` : flagged ? `, ${count(flagged)} flagged` : ""}`);
    content.scrollTop = 0;
    if (chunk) content.querySelector(".here").scrollIntoView({ block: "start" });
    byId("viewer-title").focus({ preventScroll: true });
  }

  function setUpViewer() {
    const documents = Object.keys(data.texts).map((doc) => ({ doc, id: data.ids[doc] })).sort((a, b) => (a.id < b.id ? -1 : 1));
    const held = () => documents.map(({ doc, id }) => new Option(visible(short(id, 90)), doc));
    byId("viewer-choice").replaceChildren(...held());
    byId("viewer-choice").addEventListener("change", (event) => go({ doc: data.ids[event.target.value], chunk: "" }));
    if (byId("choice")) {
      byId("choice").replaceChildren(...held());
      byId("reading").addEventListener("submit", (event) => {
        event.preventDefault();
        go({ doc: data.ids[byId("choice").value], chunk: "" }, { isStep: true });
      });
    }
    const step = (by) => {
      const now = state();
      const list = chosen(now);
      const next = list[list.findIndex((row) => row.id === now.doc && row.chunk === Number(now.chunk)) + by];
      if (next) go({ doc: next.id, chunk: next.chunk });
    };
    byId("previous").addEventListener("click", () => step(-1));
    byId("next").addEventListener("click", () => step(1));
    byId("close").addEventListener("click", () => viewer.close());
    viewer.addEventListener("click", (event) => event.target === viewer && viewer.close()); // beside it
    viewer.addEventListener("close", () => {
      if (state().doc) go({ doc: "", chunk: "" });
    });
  }

  /* What a drawing says where the pointer is */

  function setUpHints() {
    const hint = byId("hint");
    document.addEventListener("pointermove", (event) => {
      const mark = event.target.closest?.(".drawing [role='graphics-symbol'][aria-label]");
      hint.hidden = !mark || mark.matches("g");
      if (hint.hidden) return;
      hint.textContent = mark.getAttribute("aria-label");
      hint.style.left = `${Math.min(event.clientX + 12, innerWidth - hint.offsetWidth - 4)}px`;
      hint.style.top = `${Math.max(4, event.clientY - hint.offsetHeight - 12)}px`;
    });
  }

  function setUpLinks() {
    for (const link of document.querySelectorAll(".keys a, .causes a, .skip")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        if (!link.matches(".skip")) go(stateOf(link.hash), { isStep: true });
        byId("outliers").focus();
      });
    }
  }

  function show() {
    const now = state();
    showList(now);
    showViewer(now);
  }

  function print(is) {
    printing = is;
    showList(state());
  }

  if (rows.length) setUpList();
  setUpViewer();
  setUpLinks();
  setUpHints();
  addEventListener("popstate", show);
  addEventListener("hashchange", show);
  prints.addEventListener("change", (event) => print(event.matches));
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  show();
})();
