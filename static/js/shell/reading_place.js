// When earlier messages are inserted above, the text being read keeps its place on the screen and the focus. When more
// rows are inserted below, the focus goes to the first of them.
let held = null;
let above = null; // the row above the pressed link to more

document.addEventListener("htmx:before:swap", ({ detail }) => {
  const exchange = detail.ctx.sourceElement.closest?.(".chat__older")?.parentElement.querySelector(".exchange");
  held = exchange && { exchange, top: exchange.getBoundingClientRect().top };
  const more = detail.ctx.sourceElement.closest?.("[data-more]");
  above = more?.contains(document.activeElement) ? more.previousElementSibling : null;
});

document.addEventListener("htmx:after:swap", () => {
  const row = above?.nextElementSibling;
  above = null;
  (row?.querySelector("a[href], summary") ?? row)?.focus({ preventScroll: true });
});

document.addEventListener("htmx:after:swap", () => {
  if (!held) return;
  const { exchange, top } = held;
  held = null;
  const moved = () => exchange.getBoundingClientRect().top - top;
  exchange.closest(".chat__scroll").scrollBy({ top: moved(), behavior: "instant" });
  scrollBy({ top: moved(), behavior: "instant" }); // on a phone the page scrolls and not the pane
  exchange.tabIndex = -1;
  exchange.focus({ preventScroll: true }); // the link that was pressed is gone
});
