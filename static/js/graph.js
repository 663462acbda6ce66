// The graph's canvas: pan, zoom, fit, centre, select, open. The SVG inside may be replaced at any time while a turn runs;
// the view, the selection and the focus outlive it.
import { isTyping, loadFragment, onElements, reducedMotion } from "./dom.js";
import { nearest } from "./graph_keys.js";

const MIN_ZOOM = 0.08;
const MAX_ZOOM = 3;
// Below this zoom labels cannot be read: a large graph then begins at its top left corner instead of wholly in view.
const READABLE_ZOOM = 0.55;
const FAR_ZOOM = 0.45;
const FIT_PADDING = 16;
const STEP_PX = 60;
const DRAG_PX = 4;

class GraphView {
  constructor(canvas) {
    this.canvas = canvas;
    this.view = null;
    this.selectedId = new URL(location.href).searchParams.get("sel");
    this.pointers = new Map();
    this.dragged = false;
    canvas.classList.add("is-live");
    this.listen();
    this.adopt();
    new MutationObserver(() => this.adopt()).observe(canvas, { childList: true });
    new ResizeObserver(() => this.untouched && this.start()).observe(canvas);
    if (this.selectedId) this.loadDetail();
  }

  // --- the drawing ---------------------------------------------------------------------------------------------------

  /** Take over the SVG that now lies in the canvas. */
  adopt() {
    const svg = this.canvas.querySelector("svg.graph");
    if (!svg || svg === this.svg) return;
    const focused = this.focusedId;
    this.svg = svg;
    this.viewport = svg.querySelector(".viewport");
    this.size = { width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height };
    // From here on one unit is one pixel and the group is moved instead.
    svg.removeAttribute("viewBox");
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    if (this.view && !this.untouched) this.apply();
    else this.start();
    this.showSelection();
    if (focused) this.item(focused)?.focus({ preventScroll: true });
  }

  item(id) {
    return this.svg?.querySelector(`[data-id="${CSS.escape(id)}"]`);
  }

  boxOf(group) {
    const rectangle = group.querySelector("rect");
    const read = (name) => Number(rectangle.getAttribute(name));
    return { x: read("x"), y: read("y"), width: read("width"), height: read("height") };
  }

  // --- the view ------------------------------------------------------------------------------------------------------

  apply() {
    const { x, y, zoom } = this.view;
    this.viewport.setAttribute("transform", `translate(${x} ${y}) scale(${zoom})`);
    this.svg.classList.toggle("is-far", zoom < FAR_ZOOM);
  }

  schedule() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.apply();
    });
  }

  /** Show the whole graph, or its readable beginning. */
  start() {
    this.untouched = true;
    this.fit({ readable: true });
    const chosen = this.selectedId && this.item(this.selectedId);
    if (chosen) this.reveal(chosen);
    this.untouched = true;
  }

  fit({ readable = false } = {}) {
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth || !this.size?.width) return;
    const across = (clientWidth - 2 * FIT_PADDING) / this.size.width;
    const down = (clientHeight - 2 * FIT_PADDING) / this.size.height;
    let zoom = Math.min(across, down, 1.25);
    if (readable && zoom < READABLE_ZOOM) zoom = Math.max(READABLE_ZOOM, Math.min(across, 1));
    zoom = Math.max(zoom, MIN_ZOOM);
    this.view = {
      zoom,
      x: Math.max((clientWidth - this.size.width * zoom) / 2, FIT_PADDING),
      y: readable || this.size.height * zoom > clientHeight ? FIT_PADDING : (clientHeight - this.size.height * zoom) / 2,
    };
    this.untouched = false;
    this.schedule();
  }

  zoomBy(factor, at = { x: this.canvas.clientWidth / 2, y: this.canvas.clientHeight / 2 }) {
    const { x, y, zoom } = this.view;
    const next = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, zoom * factor));
    this.move({ zoom: next, x: at.x - ((at.x - x) * next) / zoom, y: at.y - ((at.y - y) * next) / zoom });
  }

  panBy(dx, dy) {
    this.move({ ...this.view, x: this.view.x + dx, y: this.view.y + dy });
  }

  move(view) {
    this.view = view;
    this.untouched = false;
    this.schedule();
  }

  centre(group, { zoom = Math.max(this.view.zoom, 0.9) } = {}) {
    const box = this.boxOf(group);
    const { clientWidth, clientHeight } = this.canvas;
    // A frame taller than the canvas is shown from its header on.
    const height = Math.min(box.height, (clientHeight - 2 * FIT_PADDING) / zoom);
    const width = Math.min(box.width, (clientWidth - 2 * FIT_PADDING) / zoom);
    const target = {
      zoom,
      x: clientWidth / 2 - zoom * (box.x + width / 2),
      y: clientHeight / 2 - zoom * (box.y + height / 2),
    };
    this.glide(target);
  }

  /** Move only as far as it takes to see the item. */
  reveal(group) {
    const box = this.boxOf(group);
    const { x, y, zoom } = this.view;
    const left = x + zoom * box.x;
    const top = y + zoom * box.y;
    const shownHeight = Math.min(box.height, 60) * zoom;
    const inside =
      left >= 0 && top >= 0 && left + Math.min(box.width, 180) * zoom <= this.canvas.clientWidth && top + shownHeight <= this.canvas.clientHeight;
    if (!inside) this.centre(group, { zoom });
  }

  glide(target) {
    if (reducedMotion()) return this.move(target);
    const from = this.view;
    const began = performance.now();
    const step = (now) => {
      const part = Math.min((now - began) / 180, 1);
      const eased = 1 - (1 - part) ** 3;
      const mix = (name) => from[name] + (target[name] - from[name]) * eased;
      this.move({ x: mix("x"), y: mix("y"), zoom: mix("zoom") });
      if (part < 1) this.gliding = requestAnimationFrame(step);
    };
    cancelAnimationFrame(this.gliding);
    this.gliding = requestAnimationFrame(step);
  }

  // --- selection ------------------------------------------------------------------------------------------------------

  select(id, { open = true } = {}) {
    this.selectedId = id;
    this.showSelection();
    const url = new URL(location.href);
    if (id) url.searchParams.set("sel", id);
    else url.searchParams.delete("sel");
    history.replaceState(history.state, "", url);
    document.dispatchEvent(new CustomEvent("graph:selected", { detail: { id } }));
    if (id && open) this.loadDetail();
  }

  /** Mark the selected item, its edges and the attempts that replaced it or that it replaced. */
  showSelection() {
    if (!this.svg) return;
    for (const element of this.svg.querySelectorAll(".is-selected, .is-related, .is-linked")) {
      element.classList.remove("is-selected", "is-related", "is-linked");
      element.removeAttribute("aria-current");
      const kind = element.dataset.kind;
      if (kind) element.setAttribute("marker-end", `url(#${this.svg.dataset.uid}-arrow-${kind})`);
    }
    const chosen = this.selectedId && this.item(this.selectedId);
    this.svg.classList.toggle("has-selection", Boolean(chosen));
    if (!chosen) return;
    chosen.classList.add("is-selected");
    chosen.setAttribute("aria-current", "true");
    const edges = [...this.svg.querySelectorAll(".edge")];
    const reached = new Set([this.selectedId]);
    // Retries form a chain; everything tried in this place belongs together.
    for (let before = 0; before !== reached.size; ) {
      before = reached.size;
      for (const { dataset } of edges) {
        if (dataset.kind !== "retry") continue;
        if (reached.has(dataset.from) || reached.has(dataset.to)) reached.add(dataset.from).add(dataset.to);
      }
    }
    for (const edge of edges) {
      const { from, to, kind } = edge.dataset;
      const own = from === this.selectedId || to === this.selectedId;
      if (!own && !(kind === "retry" && reached.has(from))) continue;
      edge.classList.add("is-linked");
      edge.setAttribute("marker-end", `url(#${this.svg.dataset.uid}-arrow-linked)`);
    }
    for (const id of reached) if (id !== this.selectedId) this.item(id)?.classList.add("is-related");
  }

  loadDetail() {
    const detail = document.getElementById("detail");
    const pattern = this.canvas.dataset.detailUrl;
    if (!detail || !pattern) return;
    const ref = this.item(this.selectedId)?.dataset.ref ?? this.selectedId;
    detail.classList.add("is-open");
    loadFragment(pattern.replace("__ref__", encodeURIComponent(ref)), detail);
  }

  /** Open or shut one frame: the server lays out the graph anew. */
  toggle(button) {
    const url = new URL(location.href);
    const id = button.dataset.toggle;
    const opening = button.getAttribute("aria-expanded") === "false";
    const lists = { open: new Set(url.searchParams.getAll("open")), shut: new Set(url.searchParams.getAll("shut")) };
    lists[opening ? "open" : "shut"].add(id);
    lists[opening ? "shut" : "open"].delete(id);
    for (const [name, ids] of Object.entries(lists)) {
      url.searchParams.delete(name);
      for (const each of ids) url.searchParams.append(name, each);
    }
    history.replaceState(history.state, "", url);
    this.untouched = false;
    this.reload();
  }

  /** Fetch the drawing again; live.js asks for this whenever the running turn grew. */
  reload() {
    const source = this.canvas.dataset.graphUrl;
    if (!source) return Promise.resolve();
    const url = new URL(source, location.href);
    const shown = new URL(location.href).searchParams;
    for (const name of ["open", "shut"]) for (const id of shown.getAll(name)) url.searchParams.append(name, id);
    return loadFragment(url.pathname + url.search, this.canvas);
  }

  // --- input ------------------------------------------------------------------------------------------------------------

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.onPointerDown(event));
    canvas.addEventListener("pointermove", (event) => this.onPointerMove(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.onPointerEnd(event));
    canvas.addEventListener("click", (event) => this.onClick(event));
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    canvas.addEventListener("focusin", (event) => {
      const group = event.target.closest?.("[data-id]");
      this.focusedId = group?.dataset.id ?? null;
      if (group && event.target.matches(":focus-visible") && this.pointers.size === 0) this.reveal(group);
    });
    canvas.addEventListener("graph:reload", () => this.reload());
    document.addEventListener("graph:select", (event) => {
      this.select(event.detail.id);
      const group = this.item(event.detail.id);
      if (group) this.reveal(group);
    });
    canvas.closest(".graph-figure")?.addEventListener("click", (event) => {
      const button = event.target.closest("[data-graph-action]");
      if (button) this.act(button.dataset.graphAction);
    });
  }

  act(action) {
    const chosen = this.selectedId && this.item(this.selectedId);
    if (action === "in") this.zoomBy(1.25);
    else if (action === "out") this.zoomBy(0.8);
    else if (action === "fit") this.fit();
    else if (action === "centre" && chosen) this.centre(chosen);
    else if (action === "centre") this.start();
  }

  at(event) {
    const frame = this.canvas.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  }

  onWheel(event) {
    event.preventDefault();
    // A wheel zooms, a two-finger swipe sideways pans; pinching arrives as a wheel with Ctrl.
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return this.panBy(-event.deltaX, 0);
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 16 : event.deltaY;
    this.zoomBy(Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.0016)), this.at(event));
  }

  onPointerDown(event) {
    if (event.button !== 0) return;
    this.pointers.set(event.pointerId, this.at(event));
    this.dragged = false;
    this.origin = this.at(event);
    cancelAnimationFrame(this.gliding);
  }

  onPointerMove(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = this.at(event);
    if (!this.dragged && Math.hypot(now.x - this.origin.x, now.y - this.origin.y) > DRAG_PX) {
      this.dragged = true;
      this.canvas.setPointerCapture(event.pointerId);
      this.canvas.classList.add("is-panning");
    }
    if (this.pointers.size === 2) this.pinch(event.pointerId, before, now);
    else if (this.dragged) this.panBy(now.x - before.x, now.y - before.y);
    this.pointers.set(event.pointerId, now);
  }

  pinch(id, before, now) {
    const other = [...this.pointers].find(([key]) => key !== id)[1];
    const apart = (point) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
    this.panBy((now.x - before.x) / 2, (now.y - before.y) / 2);
    this.zoomBy(apart(now) / apart(before), { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
  }

  onPointerEnd(event) {
    this.pointers.delete(event.pointerId);
    if (this.pointers.size === 0) this.canvas.classList.remove("is-panning");
  }

  onClick(event) {
    if (this.dragged) {
      this.dragged = false;
      return;
    }
    const toggle = event.target.closest("[data-toggle]");
    if (toggle) return this.toggle(toggle);
    const group = event.target.closest("[data-id]");
    if (group) this.select(group.dataset.id);
    else if (event.target.closest("svg")) this.select(null);
  }

  onKey(event) {
    if (isTyping(event) || event.metaKey || event.altKey || event.ctrlKey) return;
    const group = event.target.closest("[data-id]");
    const toggle = event.target.closest("[data-toggle]");
    const actions = {
      "+": () => this.act("in"),
      "=": () => this.act("in"),
      "-": () => this.act("out"),
      0: () => this.act("fit"),
      c: () => this.act("centre"),
      Escape: () => this.select(null),
      Enter: () => (toggle ? this.toggle(toggle) : group && this.select(group.dataset.id)),
      " ": () => (toggle ? this.toggle(toggle) : group && this.select(group.dataset.id)),
      ArrowDown: () => this.arrow(group, 0, 1, event),
      ArrowUp: () => this.arrow(group, 0, -1, event),
      ArrowRight: () => this.arrow(group, 1, 0, event),
      ArrowLeft: () => this.arrow(group, -1, 0, event),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  /** Go to the next box in a direction; with Shift, or without a box in focus, the picture itself moves. */
  arrow(group, dx, dy, event) {
    if (!group || event.shiftKey) return this.panBy(-dx * STEP_PX, -dy * STEP_PX);
    const groups = [...this.svg.querySelectorAll("[data-id]")];
    const next = nearest(groups.map((each) => ({ group: each, box: this.boxOf(each) })), group, dx, dy);
    if (!next) return;
    next.focus({ preventScroll: true });
    this.reveal(next);
  }
}

onElements(".graph-canvas", (canvas) => new GraphView(canvas));

// Outline rows and links elsewhere choose an item by its id.
document.addEventListener("click", (event) => {
  const row = event.target.closest?.("[data-select]");
  if (!row || !document.querySelector(".graph-canvas")) return;
  event.preventDefault();
  document.dispatchEvent(new CustomEvent("graph:select", { detail: { id: row.dataset.select } }));
});

document.addEventListener("graph:selected", (event) => {
  for (const item of document.querySelectorAll("[role=treeitem][data-id]")) {
    item.setAttribute("aria-selected", String(item.dataset.id === event.detail.id));
  }
});

// The bottom sheet on a phone.
document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-detail-close]")) return;
  document.getElementById("detail")?.classList.remove("is-open");
});
