// The ARIA tree of the outline: arrows, Home, End, Enter, type-ahead; one Tab stop. Rows are flat and state
// their level. Only the visible rows of a long outline, and some around them, are in the document.
import { onElements } from "../shell/dom.js";
import { select, selectedId } from "./selection.js";
import { toast } from "../shell/ui.js";

const WINDOWED_FROM = 400;
const BESIDE_ROWS = 20;
const TYPING_MS = 700;

class Outline {
  constructor(tree) {
    this.tree = tree;
    this.scroller = tree.parentElement;
    this.adopt();
    this.showSelected(selectedId(), { reveal: true });
    tree.addEventListener("click", (event) => this.onClick(event));
    tree.addEventListener("keydown", (event) => this.onKey(event));
    document.addEventListener("turn:selected", (event) => this.showSelected(event.detail.id, { reveal: true }));
    document.addEventListener("htmx:after:swap", () => {
      if (!this.tree.isConnected) return;
      this.adopt();
      this.askForRest();
    });
    this.scroller.addEventListener("scroll", () => this.isWindowed && this.mount(), { passive: true });
    this.askForRest();
  }

  /** Have the rest of a long outline fetched once the page has time; that of a running turn at its end. */
  askForRest() {
    if (!this.tree.dataset.restUrl || this.isAsking || this.scroller.hasAttribute("hx-get")) return;
    this.isAsking = true;
    (globalThis.requestIdleCallback ?? setTimeout)(() => this.loadRest().finally(() => (this.isAsking = false)));
  }

  /** Fetch all rows; not by htmx, because most of them will never be in the document at once. */
  async loadRest() {
    const url = this.tree.dataset.restUrl;
    const response = await fetch(url, { headers: { "HX-Current-URL": location.href } }).catch(() => null);
    if (!response?.ok) return toast("The rest of the outline could not be loaded. Reload the page to see it.", { failed: true });
    const read = new DOMParser().parseFromString(`<ul>${await response.text()}</ul>`, "text/html");
    this.adopt([...read.querySelectorAll("[role=treeitem]")]);
    delete this.tree.dataset.restUrl;
    this.showSelected(selectedId(), { reveal: false });
  }

  /** Adopt rows: those in the document, or others that replace them. */
  adopt(found = [...this.tree.querySelectorAll("[role=treeitem]")]) {
    // Rows that this module inserted are known already.
    if (found.length && found.every((row) => this.places?.get(row.dataset.id)?.row === row)) return;
    this.rows = found;
    this.places = new Map(found.map((row, index) => [row.dataset.id, { row, index }]));
    this.levels = found.map((row) => Number(row.getAttribute("aria-level")));
    const height = this.tree.querySelector("[role=treeitem]")?.getBoundingClientRect().height;
    this.isWindowed = found.length > WINDOWED_FROM;
    if (this.isWindowed) {
      this.rowHeight = height || 26;
      this.before = spacer();
      this.after = spacer();
    }
    this.refold();
    if (!this.current || !this.places.has(this.current)) this.rove(this.rows[0], { focus: false });
    else this.rove(this.places.get(this.current).row, { focus: false });
  }

  /** Compute the rows that can be seen: those without a closed ancestor. */
  refold() {
    this.visible = [];
    this.visibleAt = new Map();
    let hiddenBelow = Infinity;
    this.rows.forEach((row, index) => {
      const level = this.levels[index];
      if (level > hiddenBelow) return this.isWindowed ? undefined : (row.hidden = true);
      row.hidden = false;
      hiddenBelow = row.getAttribute("aria-expanded") === "false" ? level : Infinity;
      this.visibleAt.set(row, this.visible.length);
      this.visible.push(row);
    });
    if (this.isWindowed) this.mount({ force: true });
  }

  /** Insert the visible rows into the document. */
  mount({ force = false } = {}) {
    const { scrollTop } = this.scroller;
    const first = Math.max(0, Math.floor((scrollTop - this.tree.offsetTop) / this.rowHeight) - BESIDE_ROWS);
    const count = Math.ceil(this.scroller.clientHeight / this.rowHeight) + 2 * BESIDE_ROWS;
    if (!force && this.mounted === first) return;
    this.mounted = first;
    const shown = this.visible.slice(first, first + count);
    const focused = document.activeElement?.dataset?.id;
    this.before.style.height = `${first * this.rowHeight}px`;
    this.after.style.height = `${Math.max(0, this.visible.length - first - shown.length) * this.rowHeight}px`;
    this.tree.replaceChildren(this.before, ...shown, this.after);
    // While the focused row is moved, a browser may lay out the empty tree.
    this.scroller.scrollTop = scrollTop;
    if (focused && this.tree.contains(this.places.get(focused)?.row)) this.places.get(focused).row.focus({ preventScroll: true });
  }

  /** Make a row the Tab stop, and scroll it into view. */
  rove(row, { focus = true } = {}) {
    if (!row) return;
    const before = this.places.get(this.current)?.row;
    if (before) before.tabIndex = -1;
    row.tabIndex = 0;
    this.current = row.dataset.id;
    if (focus) {
      this.bringIntoSight(row);
      row.focus({ preventScroll: true });
    }
  }

  bringIntoSight(row) {
    if (!this.isWindowed) return scrollWithin(this.scroller, row);
    const top = this.visibleAt.get(row) * this.rowHeight + this.tree.offsetTop;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top + this.rowHeight > scrollTop + clientHeight) this.scroller.scrollTop = top + this.rowHeight - clientHeight;
    this.mount({ force: true });
  }

  showSelected(id, { reveal }) {
    const before = this.places.get(this.selected)?.row;
    before?.setAttribute("aria-selected", "false");
    this.selected = id;
    const place = this.places.get(id);
    if (!place) return;
    place.row.setAttribute("aria-selected", "true");
    if (!this.visibleAt.has(place.row)) {
      for (const around of this.around(place.index)) around.setAttribute("aria-expanded", "true");
      this.refold();
    }
    this.rove(place.row, { focus: false });
    if (reveal) this.bringIntoSight(place.row);
  }

  /** Yield the ancestors of a row, the nearest first. */
  *around(index) {
    let level = this.levels[index];
    for (let place = index - 1; place >= 0 && level > 1; place -= 1) {
      if (this.levels[place] >= level) continue;
      level = this.levels[place];
      yield this.rows[place];
    }
  }

  fold(row, isOpen) {
    row.setAttribute("aria-expanded", String(isOpen));
    this.refold();
  }

  onClick(event) {
    const row = event.target.closest("[role=treeitem]");
    if (!row) return;
    // The sign before a frame's name opens and closes it.
    if (event.target.closest(".outline__fold")) return this.fold(row, row.getAttribute("aria-expanded") === "false");
    this.rove(row);
  }

  onKey(event) {
    const row = event.target.closest("[role=treeitem]");
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.visibleAt.get(row);
    const expanded = row.getAttribute("aria-expanded");
    const moves = {
      ArrowDown: () => this.rove(this.visible[Math.min(at + 1, this.visible.length - 1)]),
      ArrowUp: () => this.rove(this.visible[Math.max(at - 1, 0)]),
      Home: () => this.rove(this.visible[0]),
      End: () => this.rove(this.visible.at(-1)),
      ArrowRight: () => (expanded === "false" ? this.fold(row, true) : expanded === "true" && this.rove(this.visible[at + 1])),
      ArrowLeft: () => (expanded === "true" ? this.fold(row, false) : this.rove(this.around(this.places.get(row.dataset.id).index).next().value)),
      Enter: () => select(row.dataset.id),
      " ": () => (this.typed ? this.typeAhead(" ", at) : select(row.dataset.id)),
    };
    if (Object.hasOwn(moves, event.key)) {
      moves[event.key]();
      if (event.key !== " ") this.typed = "";
    } else if (event.key.length === 1 && /[\p{L}\p{N}]/u.test(event.key)) this.typeAhead(event.key, at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Go to the next row whose name begins with the typed letters. */
  typeAhead(key, at) {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => (this.typed = ""), TYPING_MS);
    this.typed = (this.typed ?? "") + key.toLowerCase();
    // The same letter again moves on. A longer beginning may match the current row.
    const sameLetter = [...this.typed].every((letter) => letter === this.typed[0]);
    const wanted = sameLetter ? this.typed[0] : this.typed;
    const from = sameLetter ? at + 1 : at;
    const order = [...this.visible.slice(from), ...this.visible.slice(0, from)];
    const found = order.find((row) => row.getAttribute("aria-label").toLowerCase().startsWith(wanted));
    if (found) this.rove(found);
  }
}

function spacer() {
  const element = document.createElement("li");
  element.setAttribute("role", "presentation");
  return element;
}

function scrollWithin(scroller, row) {
  const around = scroller.getBoundingClientRect();
  const box = row.getBoundingClientRect();
  if (box.top < around.top) scroller.scrollTop -= around.top - box.top;
  else if (box.bottom > around.bottom) scroller.scrollTop += box.bottom - around.bottom;
}

onElements("[role=tree]", (tree) => new Outline(tree));
