// Completion in fields of the filter language: a combobox whose options the server gives for the current term.
import { Combobox } from "./combobox.js";
import { onElements } from "./dom.js";

class FilterCompletion extends Combobox {
  constructor(input) {
    super(input, document.getElementById(input.getAttribute("aria-controls")));
    input.addEventListener("htmx:config:request", (event) => this.ask(event));
    input.addEventListener("htmx:after:swap", () => this.suggest());
    input.addEventListener("keydown", (event) => this.onKey(event));
    input.addEventListener("blur", () => this.close());
    this.takePressed(this.root, (option) => this.accept(option));
  }

  /** Return the current term: from the last blank outside quotes to the caret. */
  get written() {
    const before = this.field.value.slice(0, this.field.selectionStart);
    return /(?:[^\s"]|"[^"]*(?:"|$))*$/.exec(before)[0];
  }

  /** Request the completions of the current term, none if it is empty and the reader did not ask for them. */
  ask(event) {
    this.asked = this.written;
    const { sourceEvent, request } = event.detail.ctx;
    if (this.asked || sourceEvent.type === "completion:asked") return request.body.set("written", this.asked);
    event.preventDefault();
    this.close();
  }

  suggest() {
    if (this.written !== this.asked || document.activeElement !== this.field) return;
    this.activate(null);
    this.show(this.options.length > 0);
  }

  show(isOpen) {
    this.root.hidden = !isOpen;
    this.field.setAttribute("aria-expanded", String(isOpen));
  }

  close() {
    this.asked = null; // a later answer is ignored
    this.activate(null);
    this.show(false);
  }

  onKey(event) {
    const isOpen = !this.root.hidden;
    if (event.key === "ArrowDown" && !isOpen) this.field.dispatchEvent(new Event("completion:asked"));
    else if (event.key === "ArrowDown") this.step(1);
    else if (event.key === "ArrowUp" && isOpen) this.step(-1);
    else if (event.key === "Enter" && isOpen && this.active) this.accept(this.active);
    else if (event.key === "Escape" && isOpen) this.close();
    else return;
    event.preventDefault();
  }

  accept(option) {
    const end = this.field.selectionStart;
    this.field.setRangeText(option.dataset.insert, end - this.written.length, end, "end");
    this.close();
    // Listeners get it as typed text. After a filter's name its values are completed.
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

const FIELD = ".combo > input";

onElements(FIELD, (input) => new FilterCompletion(input));

// The suggestion replaces the term that was not understood.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-propose]");
  const input = link?.closest("[data-filtered]")?.querySelector(FIELD) ?? document.querySelector(FIELD);
  if (!link || !input) return;
  event.preventDefault();
  input.value = input.value.replace(link.dataset.propose, link.dataset.proposal);
  input.dispatchEvent(new Event("input", { bubbles: true }));
  input.focus();
});
