// The command palette: everything the page can do and every page, session and turn, by typing a part of its name.
import { build, loadFragment, onElements } from "./dom.js";

const COMMANDS_SHOWN = 12;

class Palette {
  constructor(dialog) {
    this.dialog = dialog;
    this.input = dialog.querySelector("input");
    [this.commands, this.found] = dialog.querySelectorAll("[role=listbox]");
    this.none = dialog.querySelector(".palette__none");
    this.input.addEventListener("input", () => this.list());
    this.input.addEventListener("keydown", (event) => this.onKey(event));
    dialog.addEventListener("click", (event) => this.run(event.target.closest("[role=option]")));
    document.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      event.preventDefault();
      if (!dialog.open && !document.querySelector("dialog[open]")) this.open();
    });
  }

  open() {
    this.input.value = "";
    this.dialog.showModal();
    this.list();
  }

  get options() {
    return [...this.dialog.querySelectorAll("[role=option]")];
  }

  /** Give what the page offers now: its links to other pages and whatever names itself a command. */
  get offers() {
    const links = [...document.querySelectorAll(".nav a")].map((link) => [link.textContent.trim(), "page", link]);
    const acts = [...document.querySelectorAll("[data-command]")].filter((act) => !act.disabled).map((act) => [act.dataset.command, "command", act]);
    return [...new Map([...acts, ...links].map((offer) => [offer[0], offer])).values()];
  }

  async list() {
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = this.offers.filter(([name]) => words.every((word) => name.toLowerCase().includes(word)));
    this.targets = fits.slice(0, COMMANDS_SHOWN).map(([, , target]) => target);
    this.commands.replaceChildren(
      ...fits.slice(0, COMMANDS_SHOWN).map(([name, kind], place) =>
        build("li", { class: "combo__option", role: "option", id: `palette-${place}`, "data-place": place }, build("span", { text: name }), build("span", { class: "muted", text: kind })),
      ),
    );
    const asked = this.input.value.trim();
    if (asked) await loadFragment(`${this.dialog.dataset.paletteUrl}?q=${encodeURIComponent(asked)}`, this.found).catch(() => {});
    else this.found.replaceChildren();
    if (asked !== this.input.value.trim()) return;
    this.none.hidden = this.options.length > 0;
    this.move(0);
  }

  move(to) {
    const { options } = this;
    this.at = options.length ? (to + options.length) % options.length : -1;
    options.forEach((option, place) => option.setAttribute("aria-selected", String(place === this.at)));
    const option = options[this.at];
    if (option) this.input.setAttribute("aria-activedescendant", option.id);
    else this.input.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }

  onKey(event) {
    if (event.key === "ArrowDown") this.move(this.at + 1);
    else if (event.key === "ArrowUp") this.move(this.at - 1);
    else if (event.key === "Enter") this.run(this.options[this.at]);
    else return;
    event.preventDefault();
  }

  run(option) {
    if (!option) return;
    this.dialog.close();
    if (option.dataset.href) location.assign(option.dataset.href);
    else this.targets[option.dataset.place].click();
  }
}

onElements("#palette", (dialog) => new Palette(dialog));
