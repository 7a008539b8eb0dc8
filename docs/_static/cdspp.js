/* What no style sheet can do for people who read by keyboard or by ear. */
document.addEventListener("DOMContentLoaded", () => {
  const named = {
    ".sidebar-drawer": "Pages",
    ".toc-drawer": "On this page",
  };
  for (const [place, name] of Object.entries(named)) {
    document.querySelector(place)?.setAttribute("aria-label", name);
  }
  for (const caption of document.querySelectorAll(".caption[role=heading]")) {
    caption.setAttribute("aria-level", "2");
  }
  const boxes = document.querySelectorAll("article .table-wrapper, article pre");
  const mark = () => {
    for (const box of boxes) {
      const scrolls = box.scrollWidth > box.clientWidth + 1;
      box.classList.toggle("scrolls", scrolls && box.matches(".table-wrapper"));
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  mark();
  addEventListener("resize", mark);
  document.addEventListener("toggle", mark, true);
});
