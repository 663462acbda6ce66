// Completion in the composer: a text that begins with a slash is a command of the session's snapshot.
import { Combobox } from "../shell/combobox.js";
import { onElements } from "../shell/dom.js";

class CommandCompletion extends Combobox {
  constructor(list) {
    super(list.closest("form")?.elements.namedItem("content"), list);
    if (!this.field) return;
    this.field.setAttribute("aria-autocomplete", "list");
    this.field.setAttribute("aria-controls", list.id);
    this.field.addEventListener("input", () => this.show());
    this.field.addEventListener("blur", () => this.close());
    // Before the composer's own listener: an open list takes Enter.
    this.field.addEventListener("keydown", (event) => this.onKey(event), { capture: true });
    this.takePressed(list, (option) => this.take(option));
    list.addEventListener("htmx:after:swap", () => {
      this.isAsked = true;
      if (document.activeElement === this.field) this.show();
    });
  }

  /** Show the completions of the typed text, none once the command is complete. */
  show() {
    const typed = this.field.value;
    if (typed.startsWith("/") && !this.isAsked) this.root.dispatchEvent(new Event("completion:asked"));
    const isBeginning = typed.startsWith("/") && !typed.includes("\n");
    for (const item of this.root.children) {
      const { insert, after = "" } = item.dataset;
      item.hidden = !isBeginning || !typed.startsWith(after) || !insert.startsWith(typed) || insert === typed;
    }
    const first = this.options[0];
    this.root.hidden = !first;
    this.activate(first ?? null);
  }

  take(item) {
    if (!item) return;
    this.field.value = item.dataset.insert;
    this.field.focus();
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
    this.close();
  }

  close() {
    this.root.hidden = true;
    this.activate(null);
  }

  onKey(event) {
    if (this.root.hidden || event.isComposing || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    // Enter sends a complete command, even if it is the beginning of another one.
    const isWhole = [...this.root.children].some((item) => item.dataset.insert.trim() === this.field.value);
    const acts = {
      ArrowDown: () => this.step(1),
      ArrowUp: () => this.step(-1),
      Tab: () => this.take(this.active),
      Escape: () => this.close(),
      ...(isWhole ? {} : { Enter: () => this.take(this.active) }),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    acts[event.key]();
  }
}

onElements("#completion", (list) => new CommandCompletion(list));
