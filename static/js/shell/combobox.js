// The base of every list of options below a field: one option is active, arrow keys move through them, and the
// field names the active one. Lists differ in where their options come from and in what choosing one does.
export class Combobox {
  /** `root` holds the options, in one listbox or several. */
  constructor(field, root) {
    this.field = field;
    this.root = root;
  }

  get options() {
    return [...this.root.querySelectorAll("[role=option]:not([hidden])")];
  }

  get active() {
    return this.root.querySelector("[role=option][aria-selected=true]");
  }

  /** Make an option the active one; null deactivates all. */
  activate(option) {
    this.active?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) this.field.setAttribute("aria-activedescendant", option.id);
    else this.field.removeAttribute("aria-activedescendant");
  }

  /** Move by this many options and wrap at the ends. From none, move down to the first and up to the last. */
  step(by) {
    const { options } = this;
    const from = this.active ? options.indexOf(this.active) : Math.min(0, -by);
    this.activate(options[(from + by + options.length) % options.length] ?? null);
  }

  /** Choose a clicked option. A press must not move the focus, which would close the list; one may scroll the list. */
  takePressed(list, take) {
    list.addEventListener("pointerdown", (event) => event.preventDefault());
    list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) take(option);
    });
  }
}
