"use strict";
// On a narrow screen the contents are one line that opens.
if (matchMedia("(max-width: 960px)").matches) document.querySelector("nav details").open = false;

// What is wider than its place fades at the edge behind which there is more.
const fade = (box) => {
  const hidden = box.scrollWidth - box.clientWidth;
  box.classList.toggle("before", box.scrollLeft > 4);
  box.classList.toggle("after", box.scrollLeft < hidden - 4);
};
const sizes = new ResizeObserver((entries) => entries.forEach((entry) => fade(entry.target)));
for (const box of document.querySelectorAll(".scroll")) {
  box.addEventListener("scroll", () => fade(box), { passive: true });
  sizes.observe(box);
}

// Sort the lines of a table within each of its blocks, by a click on a heading.
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  const original = [...table.tBodies].map((body) => [...body.rows]);
  const value = (row, column) => {
    const cell = row.cells[column];
    return "value" in cell.dataset ? Number(cell.dataset.value) : NaN;
  };
  const compare = (column, sign) => (a, b) => {
    const [x, y] = [value(a, column), value(b, column)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
    return sign * (y - x);
  };
  const arrange = () => {
    const column = headings.findIndex((heading) => heading.hasAttribute("aria-sort"));
    const sign = headings[column]?.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    original.forEach((rows, block) => {
      const head = rows.filter((row) => row.classList.contains("block"));
      const lines = rows.filter((row) => !row.classList.contains("block"));
      if (column > 0) lines.sort(compare(column, sign));
      table.tBodies[block].append(...head, ...lines);
    });
  };
  headings.forEach((heading) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const next = { none: "descending", descending: "ascending", ascending: "none" };
      const state = next[heading.getAttribute("aria-sort") ?? "none"];
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      if (state !== "none") heading.setAttribute("aria-sort", state);
      arrange();
    });
  });
  table.addEventListener("values", arrange);
}

// The records of a CSV text, by the names of its first line.
const records = (text) => {
  const lines = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/g)) {
    lines.at(-1).push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === "\n") lines.push([]);
    if (end === "") break;
  }
  const [names, ...rest] = lines.filter((cells) => cells.length > 1);
  return rest.map((cells) => Object.fromEntries(names.map((name, place) => [name, cells[place]])));
};

// Every method against the one that a reader chooses, by the file that the table offers.
for (const figure of document.querySelectorAll('figure[id^="table-pairwise_"]')) {
  const table = figure.querySelector("table");
  const link = figure.querySelector('a[download$=".csv"]');
  if (!table || !link) continue;
  const bytes = Uint8Array.from(atob(link.href.split("base64,")[1]), (letter) => letter.charCodeAt(0));
  const pairs = records(new TextDecoder().decode(bytes));
  const last = (pair) => Number(pair.rank) || Number.MAX_VALUE; // a method without a rank
  const ranked = [...pairs].sort((a, b) => last(a) - last(b));
  const methods = new Map(ranked.map((pair) => [pair.row, pair]));
  const lines = [...methods.keys()].map((row, place) => [row, table.tBodies[0].rows[place]]);
  const heading = table.tHead.rows[0].cells[table.tHead.rows[0].cells.length - 1];
  const points = (text, sign) => {
    const number = Math.round(1000 * Number(text)) / 10;
    return (sign && number >= 0 ? "+" : "") + number.toFixed(1).replace("-", "\u2212");
  };
  const show = (comparator) => {
    const over = new Map(pairs.filter((pair) => pair.comparator === comparator).map((pair) => [pair.row, pair]));
    heading.firstChild.textContent = `Gain over ${methods.get(comparator).display_name}`;
    for (const [row, line] of lines) {
      const cell = line.cells[line.cells.length - 1];
      const pair = over.get(row);
      cell.textContent = pair?.gain ? points(pair.gain, true) : "\u2013";
      if (pair?.gain) cell.dataset.value = pair.gain;
      else delete cell.dataset.value;
      if (pair?.low) {
        const note = document.createElement("small");
        note.className = "note";
        note.textContent = `${points(pair.low)} to ${points(pair.high)}`;
        cell.append(" ", note);
      }
    }
    table.dispatchEvent(new Event("values"));
  };
  const select = document.createElement("select");
  for (const [row, method] of methods) select.add(new Option(method.display_name, row));
  const shown = [...methods.values()].find((method) => method.role === "reference");
  if (shown) select.value = shown.row;
  select.addEventListener("change", () => show(select.value));
  const label = document.createElement("label");
  label.className = "choice";
  label.append("Compare every method with ", select);
  figure.querySelector(".scroll").before(label);
}
