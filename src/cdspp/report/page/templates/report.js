"use strict";
// On a narrow screen the contents are one line that opens.
if (matchMedia("(max-width: 960px)").matches) document.querySelector("nav details").open = false;

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
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const next = { none: "descending", descending: "ascending", ascending: "none" };
      const state = next[heading.getAttribute("aria-sort") ?? "none"];
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      if (state !== "none") heading.setAttribute("aria-sort", state);
      original.forEach((rows, block) => {
        const head = rows.filter((row) => row.classList.contains("block"));
        const lines = rows.filter((row) => !row.classList.contains("block"));
        const sign = state === "ascending" ? -1 : 1;
        if (state !== "none" && column > 0) lines.sort(compare(column, sign));
        table.tBodies[block].append(...head, ...lines);
      });
    });
  });
}
