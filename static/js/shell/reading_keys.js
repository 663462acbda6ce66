// Keys for reading: from turn to turn of a conversation, or from row to row of a list, and into one.
import { isElsewhere, isTyping } from "./dom.js";

/** Go to the next or previous element. `focusOf` returns the part of it that takes the focus. */
function step(all, by, first, focusOf) {
  if (!all.length) return;
  const at = all.findIndex((one) => one.contains(document.activeElement));
  const to = all[at < 0 ? first : Math.min(Math.max(at + by, 0), all.length - 1)];
  focusOf(to).focus({ preventScroll: true });
  to.scrollIntoView({ block: "nearest" });
}

function goTo(by) {
  const exchanges = [...document.querySelectorAll(".exchange")];
  for (const exchange of exchanges) exchange.tabIndex = -1;
  // Without a current turn begin at the newest: the last of a conversation, the first of a list.
  step(exchanges, by, exchanges.length - 1, (exchange) => exchange);
  step([...document.querySelectorAll("[data-row]")], by, 0, (row) => row.querySelector("[data-row-link]"));
}

document.addEventListener("keydown", (event) => {
  if (isTyping(event) || isElsewhere(event)) return;
  if (event.key === "j") goTo(1);
  else if (event.key === "k") goTo(-1);
  else if (event.key === "o") document.activeElement.closest(".exchange")?.querySelector("[data-open-turn]")?.click();
});
