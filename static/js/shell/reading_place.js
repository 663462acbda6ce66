// When earlier messages are inserted above, the text being read keeps its place on the screen and the focus.
let held = null;

document.addEventListener("htmx:before:swap", ({ detail }) => {
  const exchange = detail.ctx.sourceElement.closest?.(".chat__older")?.parentElement.querySelector(".exchange");
  held = exchange && { exchange, top: exchange.getBoundingClientRect().top };
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
