// Completion in fields of the filter language: a combobox whose options the server gives for the part being written.
import { Combobox } from "./combobox.js";
import { loadFragment, onElements } from "./dom.js";

class FilterCompletion extends Combobox {
  constructor(input) {
    super(input, document.getElementById(input.getAttribute("aria-controls")));
    input.addEventListener("input", () => this.suggest());
    input.addEventListener("keydown", (event) => this.onKey(event));
    input.addEventListener("blur", () => this.close());
    this.takePressed(this.root, (option) => this.accept(option));
  }

  /** The part that is being written: from the last blank outside quotes up to the caret. */
  get written() {
    const before = this.field.value.slice(0, this.field.selectionStart);
    return /(?:[^\s"]|"[^"]*(?:"|$))*$/.exec(before)[0];
  }

  async suggest({ evenIfEmpty = false } = {}) {
    const { written } = this;
    if (!written && !evenIfEmpty) return this.close();
    await loadFragment(`${this.field.dataset.completeUrl}?written=${encodeURIComponent(written)}`, this.root).catch(() => {});
    if (this.written !== written || document.activeElement !== this.field) return;
    this.activate(null);
    this.show(this.options.length > 0);
  }

  show(isOpen) {
    this.root.hidden = !isOpen;
    this.field.setAttribute("aria-expanded", String(isOpen));
  }

  close() {
    this.activate(null);
    this.show(false);
  }

  onKey(event) {
    const isOpen = !this.root.hidden;
    if (event.key === "ArrowDown" && !isOpen) this.suggest({ evenIfEmpty: true });
    else if (event.key === "ArrowDown") this.step(1);
    else if (event.key === "ArrowUp" && isOpen) this.step(-1);
    else if (event.key === "Enter" && isOpen && this.active) this.accept(this.active);
    else if (event.key === "Escape" && isOpen) this.close();
    else return;
    event.preventDefault();
  }

  accept(option) {
    const end = this.field.selectionStart;
    this.field.setRangeText(option.dataset.text, end - this.written.length, end, "end");
    this.close();
    // Whoever listens to the field sees it as typed; a key that now waits for its value is completed further.
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

onElements("[data-complete-url]", (input) => new FilterCompletion(input));

// What was proposed takes the place of what was not understood.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-propose]");
  const input = link?.closest("[data-filtered]")?.querySelector("[data-complete-url]") ?? document.querySelector("[data-complete-url]");
  if (!link || !input) return;
  event.preventDefault();
  input.value = input.value.replace(link.dataset.propose, link.dataset.proposal);
  input.dispatchEvent(new Event("input", { bubbles: true }));
  input.focus();
});
