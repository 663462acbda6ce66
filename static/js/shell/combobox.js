// What every list of options below a field has in common: one of them is active, arrow keys go through them, and the
// field says which one it is. A list differs in where its options come from and in what taking one does.
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

  /** Make an option the active one; null leaves none. */
  activate(option) {
    this.active?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) this.field.setAttribute("aria-activedescendant", option.id);
    else this.field.removeAttribute("aria-activedescendant");
  }

  /** Go on by so many options, round the ends; from none, down to the first one and up to the last one. */
  step(by) {
    const { options } = this;
    const from = this.active ? options.indexOf(this.active) : Math.min(0, -by);
    this.activate(options[(from + by + options.length) % options.length] ?? null);
  }

  /** Take an option that is pressed. The press must not take the focus away, or the list is closed before it is told. */
  takePressed(list, take) {
    list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const option = event.target.closest("[role=option]");
      if (option) take(option);
    });
  }
}
