// Keys for reading a conversation: from turn to turn, and into one.
import { isTyping } from "./dom.js";

const exchanges = () => [...document.querySelectorAll(".exchange")];

function step(by) {
  const all = exchanges();
  if (!all.length) return;
  const at = all.indexOf(document.activeElement.closest(".exchange"));
  // Nobody is at a turn yet: the newest is nearest.
  const to = at < 0 ? all.length - 1 : Math.min(Math.max(at + by, 0), all.length - 1);
  all[to].tabIndex = -1;
  all[to].focus({ preventScroll: true });
  all[to].scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "o") document.activeElement.closest(".exchange")?.querySelector("[data-open-turn]")?.click();
});
