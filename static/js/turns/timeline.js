// The timeline: choose, move and fold as in the graph. Its bars need no script. It is fetched when first shown.
import { isTyping, onElements } from "../shell/dom.js";
import { chosenView, focusKeeper, noteToggle, select, selectedId } from "./selection.js";

class Timeline {
  constructor(place) {
    this.place = place;
    place.addEventListener("click", (event) => this.press(event.target));
    place.addEventListener("keydown", (event) => this.onKey(event));
    // It is fetched when first shown, and refreshed with the turn only from then on.
    place.addEventListener("htmx:config:request", (event) => this.isWanted(event.detail.ctx.sourceEvent) || event.preventDefault());
    document.addEventListener("turn:selected", (event) => this.onSelected(event.detail));
    const keepFocus = focusKeeper(place);
    document.addEventListener("htmx:after:swap", () => {
      this.mark();
      keepFocus();
    });
    this.mark();
  }

  get isEmpty() {
    return !this.place.querySelector("svg");
  }

  isWanted({ type }) {
    return type === "turn:viewed" ? chosenView() === "timeline" && this.isEmpty : chosenView() === "timeline" || !this.isEmpty;
  }

  onSelected({ id, reveal }) {
    this.revealed = id && reveal ? id : null;
    if (this.revealed && !this.isEmpty && !this.item(id)) return this.place.dispatchEvent(new Event("turn:unseen"));
    this.mark();
  }

  item(id) {
    return this.place.querySelector(`[data-id="${CSS.escape(id)}"]`);
  }

  mark() {
    for (const before of this.place.querySelectorAll(".is-selected")) {
      before.classList.remove("is-selected");
      before.removeAttribute("aria-current");
    }
    const chosen = selectedId() && this.item(selectedId());
    chosen?.classList.add("is-selected");
    chosen?.setAttribute("aria-current", "true");
    if (!chosen || chosen.dataset.id !== this.revealed) return;
    this.revealed = null;
    chosen.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  press(target) {
    const toggle = target.closest("[data-toggle]");
    if (toggle) {
      noteToggle(toggle.dataset.toggle, toggle.getAttribute("aria-expanded") === "false");
      return document.dispatchEvent(new CustomEvent("turn:folded"));
    }
    const item = target.closest("[data-id]");
    if (item) select(item.dataset.id, { reveal: false });
  }

  onKey(event) {
    if (isTyping(event) || event.metaKey || event.altKey || event.ctrlKey) return;
    const stops = [...this.place.querySelectorAll("[data-id]")];
    const at = stops.indexOf(event.target.closest("[data-id]"));
    const moves = {
      ArrowDown: () => stops[Math.min(at + 1, stops.length - 1)]?.focus(),
      ArrowUp: () => stops[Math.max(at - 1, 0)]?.focus(),
      Home: () => stops[0]?.focus(),
      End: () => stops.at(-1)?.focus(),
      Enter: () => this.press(event.target),
      " ": () => this.press(event.target),
      Escape: () => select(null),
    };
    if (!Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    moves[event.key]();
  }
}

onElements(".timeline-place", (place) => new Timeline(place));
