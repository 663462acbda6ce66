// The command palette: finds the page's actions and every page, session and turn by a part of the name.
import { Combobox } from "./combobox.js";
import { build, onElements } from "./dom.js";

const COMMANDS_SHOWN = 12;

class Palette extends Combobox {
  constructor(dialog) {
    super(dialog.querySelector("input"), dialog);
    [this.commands, this.found] = dialog.querySelectorAll("[role=listbox]");
    this.none = dialog.querySelector(".palette__none");
    this.field.addEventListener("input", () => this.list());
    this.field.addEventListener("htmx:config:request", (event) => this.field.value.trim() || event.preventDefault());
    this.field.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => ctx.request.signal.aborted || this.settle(Boolean(ctx.response?.raw.ok)));
    this.field.addEventListener("keydown", (event) => this.onKey(event));
    dialog.addEventListener("beforetoggle", ({ newState }) => newState === "open" && this.begin());
    dialog.addEventListener("click", (event) => this.leave(event.target.closest("[role=option]")));
    document.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) dialog.showModal();
    });
  }

  begin() {
    this.field.value = "";
    this.list();
  }

  /** Return the page's present commands: links to other pages, and elements marked as commands. */
  get offers() {
    const links = [...document.querySelectorAll(".nav a")].map((link) => [link.textContent.trim(), "page", link]);
    // Commands of this page come first, then those of every page.
    const here = document.querySelectorAll("main :is([data-command], a[aria-keyshortcuts], .menu__list > a, .tabs a)");
    const acts = [...here, ...document.querySelectorAll("[data-command]")]
      .filter((act) => !act.disabled && getComputedStyle(act).display !== "none")
      .map((act) => [act.dataset.command || act.title || act.textContent.trim(), "command", act]);
    return [...new Map([...acts, ...links].map((offer) => [offer[0], offer])).values()];
  }

  list() {
    this.isEntered = false;
    const words = this.field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = this.offers.filter(([name]) => words.every((word) => name.toLowerCase().includes(word)));
    this.targets = new Map();
    for (const [place, [name, kind, target]] of fits.slice(0, COMMANDS_SHOWN).entries()) {
      const words = [build("span", { text: name }), build("span", { class: "muted", text: kind })];
      this.targets.set(build("li", { class: "combo__option", role: "option", id: `palette-${place}` }, ...words), target);
    }
    this.commands.replaceChildren(...this.targets.keys());
    this.activate(this.commands.firstElementChild); // at once, because Enter may come before the server's answer
    if (!this.field.value.trim()) this.settle();
  }

  /** Activate the first option once the server has answered, or cannot be asked. */
  settle(isAnswered = true) {
    if (!this.field.value.trim() || !isAnswered) this.found.replaceChildren();
    this.none.textContent = isAnswered ? "No matches." : "The server could not be searched.";
    this.none.hidden = isAnswered && this.options.length > 0;
    if (!this.active) this.activate(this.options[0] ?? null);
    if (this.isEntered && this.root.open) this.active?.click();
  }

  onKey(event) {
    if (event.key === "ArrowDown") this.step(1);
    else if (event.key === "ArrowUp") this.step(-1);
    else if (event.key === "Enter") {
      this.isEntered = !this.active; // before the server's answer Enter means its first option
      this.active?.click();
    } else return;
    event.preventDefault();
  }

  /** Close and run the command. A link is followed by the browser. */
  leave(option) {
    if (!option) return;
    this.root.close();
    this.targets.get(option)?.click();
  }
}

onElements("#palette", (dialog) => new Palette(dialog));
