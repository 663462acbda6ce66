// Completion in the composer: what begins with a slash is a command, and the session's snapshot says which there are.
import { onElements } from "./dom.js";

class Completion {
  constructor(list) {
    this.list = list;
    this.field = list.closest("form")?.elements.namedItem("content");
    if (!this.field) return;
    this.field.setAttribute("aria-autocomplete", "list");
    this.field.setAttribute("aria-controls", list.id);
    this.field.addEventListener("input", () => this.show());
    this.field.addEventListener("blur", () => this.close());
    // Before the composer's own listener: an open list takes Enter.
    this.field.addEventListener("keydown", (event) => this.onKey(event), { capture: true });
    list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.take(event.target.closest("[role=option]"));
    });
  }

  get shown() {
    return [...this.list.children].filter((item) => !item.hidden);
  }

  get chosen() {
    return this.list.querySelector("[aria-selected=true]");
  }

  /** Show what goes on from the typed text; nothing once the command is written out. */
  show() {
    const typed = this.field.value;
    const isBeginning = typed.startsWith("/") && !typed.includes("\n");
    for (const item of this.list.children) {
      const { insert, after = "" } = item.dataset;
      item.hidden = !isBeginning || !typed.startsWith(after) || !insert.startsWith(typed) || insert === typed;
    }
    const first = this.shown[0];
    this.list.hidden = !first;
    this.choose(first ?? null);
  }

  choose(item) {
    this.chosen?.setAttribute("aria-selected", "false");
    item?.setAttribute("aria-selected", "true");
    item?.scrollIntoView({ block: "nearest" });
    if (item) this.field.setAttribute("aria-activedescendant", item.id);
    else this.field.removeAttribute("aria-activedescendant");
  }

  move(step) {
    const items = this.shown;
    const place = items.indexOf(this.chosen);
    this.choose(items[(place + step + items.length) % items.length]);
  }

  take(item) {
    if (!item) return;
    this.field.value = item.dataset.insert;
    this.field.focus();
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
    this.close();
  }

  close() {
    this.list.hidden = true;
    this.choose(null);
  }

  onKey(event) {
    if (this.list.hidden || event.isComposing || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    // A command that is written out is sent by Enter, whatever else might begin like it.
    const isWhole = [...this.list.children].some((item) => item.dataset.insert.trim() === this.field.value);
    const acts = {
      ArrowDown: () => this.move(1),
      ArrowUp: () => this.move(-1),
      Tab: () => this.take(this.chosen),
      Escape: () => this.close(),
      ...(isWhole ? {} : { Enter: () => this.take(this.chosen) }),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    acts[event.key]();
  }
}

onElements("[data-completion]", (list) => new Completion(list));
