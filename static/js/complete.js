// Completion in fields of the filter language: a combobox whose options the server gives for the part being written.
import { loadFragment, onElements } from "./dom.js";

class Completion {
  constructor(input) {
    this.input = input;
    this.list = document.getElementById(input.getAttribute("aria-controls"));
    this.at = -1;
    input.addEventListener("input", () => this.suggest());
    input.addEventListener("keydown", (event) => this.onKey(event));
    input.addEventListener("blur", () => this.close());
    // A press must not take the focus away, or the list is closed before it is told.
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const option = event.target.closest("[role=option]");
      if (option) this.accept(option);
    });
  }

  get options() {
    return [...this.list.querySelectorAll("[role=option]")];
  }

  /** The part that is being written: from the last blank outside quotes up to the caret. */
  get written() {
    const before = this.input.value.slice(0, this.input.selectionStart);
    return /(?:[^\s"]|"[^"]*(?:"|$))*$/.exec(before)[0];
  }

  async suggest({ evenIfEmpty = false } = {}) {
    const { written } = this;
    if (!written && !evenIfEmpty) return this.close();
    await loadFragment(`${this.input.dataset.completeUrl}?written=${encodeURIComponent(written)}`, this.list).catch(() => {});
    if (this.written !== written || document.activeElement !== this.input) return;
    this.move(-1);
    this.show(this.options.length > 0);
  }

  show(isOpen) {
    this.list.hidden = !isOpen;
    this.input.setAttribute("aria-expanded", String(isOpen));
  }

  close() {
    this.move(-1);
    this.show(false);
  }

  move(to) {
    this.at = to;
    this.options.forEach((option, place) => option.setAttribute("aria-selected", String(place === to)));
    const option = this.options[to];
    if (option) {
      this.input.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else {
      this.input.removeAttribute("aria-activedescendant");
    }
  }

  onKey(event) {
    const isOpen = !this.list.hidden;
    const count = this.options.length;
    if (event.key === "ArrowDown" && !isOpen) this.suggest({ evenIfEmpty: true });
    else if (event.key === "ArrowDown") this.move((this.at + 1) % count);
    else if (event.key === "ArrowUp" && isOpen) this.move((this.at - 1 + count) % count);
    else if (event.key === "Enter" && isOpen && this.at >= 0) this.accept(this.options[this.at]);
    else if (event.key === "Escape" && isOpen) this.close();
    else return;
    event.preventDefault();
  }

  accept(option) {
    const end = this.input.selectionStart;
    this.input.setRangeText(option.dataset.text, end - this.written.length, end, "end");
    this.close();
    // Whoever listens to the field sees it as typed; a key that now waits for its value is completed further.
    this.input.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

onElements("[data-complete-url]", (input) => new Completion(input));

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
