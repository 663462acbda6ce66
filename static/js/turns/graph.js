// The graph's canvas: fit, centre, select, open. The SVG inside may be replaced at any time while a turn runs; the view,
// the selection and the focus stay.
import { isTyping, onElements } from "../shell/dom.js";
import { nearest } from "./graph_keys.js";
import { Minimap } from "./minimap.js";
import { MIN_ZOOM, PanZoom } from "./panzoom.js";
import { focusKeeper, noteAll, noteToggle, select, selectedId } from "./selection.js";

// The smallest text is 11 px at this zoom: a larger graph begins at its top left corner and is scrolled.
const READABLE_ZOOM = 1;
const FAR_ZOOM = 0.45;
const FIT_PADDING = 16;
// A small graph is enlarged only on a very large screen, which is read from farther away.
const FIT_ZOOM = 1.25;
const FIT_ZOOM_WIDE = 1.75;
const WIDE_PX = 1800;
const STEP_PX = 60;

class GraphView {
  constructor(canvas) {
    this.canvas = canvas;
    this.pan = new PanZoom(canvas, (view) => this.draw(view));
    this.map = new Minimap(canvas, (x, y) => this.middle(x, y));
    this.keepFocus = focusKeeper(canvas);
    canvas.classList.add("is-live");
    this.listen();
    this.adopt();
    new ResizeObserver(() => this.onResize()).observe(canvas);
  }

  // --- the drawing ---------------------------------------------------------------------------------------------------

  /** Adopt the SVG that is in the canvas now. */
  adopt() {
    const svg = this.canvas.querySelector("svg.graph");
    if (!svg || svg === this.svg) return;
    this.svg = svg;
    this.viewport = svg.querySelector(".viewport");
    this.size = { width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height };
    // From now on one unit is one pixel, and the group is transformed.
    svg.removeAttribute("viewBox");
    svg.removeAttribute("width");
    svg.removeAttribute("height");
    this.map.adopt(svg, this.size);
    if (this.pan.view && (this.pan.touched || this.fits(this.pan.view))) this.draw(this.pan.view);
    else this.start();
    this.showSelection();
    if (this.awaited) this.revealSoon(this.awaited);
    this.keepFocus();
  }

  item(id) {
    return this.svg?.querySelector(`[data-id="${CSS.escape(id)}"]`);
  }

  get chosen() {
    const id = selectedId();
    return id ? this.item(id) : null;
  }

  boxOf(group) {
    const rectangle = group.querySelector("rect");
    const read = (name) => Number(rectangle.getAttribute(name));
    return { x: read("x"), y: read("y"), width: read("width"), height: read("height") };
  }

  // --- the view ------------------------------------------------------------------------------------------------------

  draw(view) {
    this.viewport.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.zoom})`);
    this.svg.classList.toggle("is-far", view.zoom < FAR_ZOOM);
    this.map.update(view);
  }

  /** Show the whole graph for printing, as large as the paper allows. */
  unroll() {
    this.svg?.setAttribute("viewBox", `0 0 ${this.size.width} ${this.size.height}`);
    this.viewport?.removeAttribute("transform");
  }

  rollUp() {
    this.svg?.removeAttribute("viewBox");
    if (this.pan.view) this.draw(this.pan.view);
  }

  onResize() {
    if (!this.svg || !this.canvas.clientWidth) return;
    // The detail panel takes space beside the graph, which must not move.
    if (this.pan.view && (this.pan.touched || this.chosen)) this.map.update(this.pan.view);
    else this.start();
    if (this.chosen) this.reveal(this.chosen);
  }

  /** Return whether the whole graph is visible: then a growing graph does not move. */
  fits({ x, y, zoom }) {
    const { clientWidth, clientHeight } = this.canvas;
    return x >= 0 && y >= 0 && x + this.size.width * zoom <= clientWidth && y + this.size.height * zoom <= clientHeight;
  }

  /** Show the whole graph, or its readable beginning. */
  start() {
    this.fit({ readable: true });
    if (this.chosen) this.reveal(this.chosen);
    this.pan.touched = false;
  }

  fit({ readable = false } = {}) {
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth || !this.size?.width) return;
    const across = (clientWidth - 2 * FIT_PADDING) / this.size.width;
    const down = (clientHeight - 2 * FIT_PADDING) / this.size.height;
    let zoom = Math.min(across, down, clientWidth > WIDE_PX ? FIT_ZOOM_WIDE : FIT_ZOOM);
    if (readable && zoom < READABLE_ZOOM) zoom = READABLE_ZOOM;
    zoom = Math.max(zoom, MIN_ZOOM);
    this.pan.show({
      zoom,
      x: Math.max((clientWidth - this.size.width * zoom) / 2, FIT_PADDING),
      // At the top, so that a growing graph does not move.
      y: FIT_PADDING,
    });
  }

  middle(x, y) {
    const { zoom } = this.pan.view;
    this.pan.show({ zoom, x: this.canvas.clientWidth / 2 - zoom * x, y: this.canvas.clientHeight / 2 - zoom * y });
  }

  centre(group, { zoom = Math.max(this.pan.view.zoom, 0.9) } = {}) {
    const box = this.boxOf(group);
    const { clientWidth, clientHeight } = this.canvas;
    // A frame taller than the canvas is shown from its header.
    const height = Math.min(box.height, (clientHeight - 2 * FIT_PADDING) / zoom);
    const width = Math.min(box.width, (clientWidth - 2 * FIT_PADDING) / zoom);
    this.pan.glide({
      zoom,
      x: clientWidth / 2 - zoom * (box.x + width / 2),
      y: clientHeight / 2 - zoom * (box.y + height / 2),
    });
  }

  /** Move only as far as needed to show the item. */
  reveal(group) {
    if (!this.pan.view || !this.canvas.clientWidth) return;
    const box = this.boxOf(group);
    const { x, y, zoom } = this.pan.view;
    const left = x + zoom * box.x;
    const top = y + zoom * box.y;
    const right = left + Math.min(box.width, 180) * zoom;
    const bottom = top + Math.min(box.height, 60) * zoom;
    if (left < 0 || top < 0 || right > this.canvas.clientWidth || bottom > this.canvas.clientHeight) this.centre(group, { zoom });
  }

  // --- selection ------------------------------------------------------------------------------------------------------

  onSelected({ id, reveal }) {
    this.showSelection();
    if (!id || !reveal) return;
    const group = this.item(id);
    if (group) return this.reveal(group);
    // It is in a closed frame: the server opens the frames around it.
    this.awaited = id;
    this.canvas.dispatchEvent(new Event("turn:unseen"));
  }

  revealSoon(id) {
    const group = this.item(id);
    if (!group) return;
    this.awaited = null;
    this.reveal(group);
  }

  /** Mark the selected item, its edges, and the attempts before and after it. */
  showSelection() {
    if (!this.svg) return;
    for (const element of this.svg.querySelectorAll(".is-selected, .is-related, .is-linked")) {
      element.classList.remove("is-selected", "is-related", "is-linked");
      element.removeAttribute("aria-current");
      const { head } = element.dataset;
      if (head) element.setAttribute("marker-end", `url(#${this.svg.dataset.uid}-arrow-${head})`);
    }
    const { chosen } = this;
    this.svg.classList.toggle("has-selection", Boolean(chosen));
    if (!chosen) return;
    const id = chosen.dataset.id;
    chosen.classList.add("is-selected");
    chosen.setAttribute("aria-current", "true");
    const edges = [...this.svg.querySelectorAll(".edge")];
    const reached = attemptsAround(id, edges);
    for (const edge of edges) {
      const { from, to, kind } = edge.dataset;
      if (from !== id && to !== id && !(kind === "retry" && reached.has(from))) continue;
      edge.classList.add("is-linked");
      edge.setAttribute("marker-end", `url(#${this.svg.dataset.uid}-arrow-linked)`);
    }
    for (const each of reached) if (each !== id) this.item(each)?.classList.add("is-related");
  }

  /** Open or close one frame. The server lays the graph out again. */
  toggle(button) {
    noteToggle(button.dataset.toggle, button.getAttribute("aria-expanded") === "false");
    this.pan.touched = true;
    document.dispatchEvent(new CustomEvent("turn:folded"));
  }

  /** Open or close all frames inside the root frame. */
  toggleAll(isOpening) {
    noteAll(isOpening);
    this.pan.touched = false;
    this.pan.view = null;
    document.dispatchEvent(new CustomEvent("turn:folded"));
  }

  // --- input ------------------------------------------------------------------------------------------------------------

  listen() {
    const { canvas } = this;
    canvas.addEventListener("click", (event) => this.onClick(event));
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    canvas.addEventListener("focusin", (event) => {
      const group = event.target.closest?.("[data-id]");
      if (group && event.target.matches(":focus-visible") && this.pan.pointers.size === 0) this.reveal(group);
    });
    document.addEventListener("turn:selected", (event) => this.onSelected(event.detail));
    addEventListener("beforeprint", () => this.unroll());
    addEventListener("afterprint", () => this.rollUp());
    canvas.closest(".stage")?.addEventListener("click", (event) => {
      const button = event.target.closest("button[name=graph]");
      if (button) this.act(button.value);
    });
  }

  act(action) {
    const { chosen } = this;
    if (action === "in") this.pan.zoomBy(1.25);
    else if (action === "out") this.pan.zoomBy(0.8);
    else if (action === "fit") this.fit();
    else if (action === "centre" && chosen) this.centre(chosen);
    else if (action === "centre") this.start();
    else if (action === "open-all") this.toggleAll(true);
    else if (action === "shut-all") this.toggleAll(false);
  }

  onClick(event) {
    if (this.pan.wasDragged() || event.target.closest(".minimap")) return;
    const toggle = event.target.closest("[data-toggle]");
    if (toggle) return this.toggle(toggle);
    const group = event.target.closest("[data-id]");
    if (group) select(group.dataset.id, { reveal: false });
    else if (event.target.closest("svg")) select(null);
  }

  onKey(event) {
    if (isTyping(event) || event.metaKey || event.altKey || event.ctrlKey) return;
    const group = event.target.closest("[data-id]");
    const toggle = event.target.closest("[data-toggle]");
    const press = () => (toggle ? this.toggle(toggle) : group && select(group.dataset.id, { reveal: false }));
    const actions = {
      "+": () => this.act("in"),
      "=": () => this.act("in"),
      "-": () => this.act("out"),
      0: () => this.act("fit"),
      c: () => this.act("centre"),
      Escape: () => select(null),
      Enter: press,
      " ": press,
      ArrowDown: () => this.arrow(group, 0, 1, event),
      ArrowUp: () => this.arrow(group, 0, -1, event),
      ArrowRight: () => this.arrow(group, 1, 0, event),
      ArrowLeft: () => this.arrow(group, -1, 0, event),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
  }

  /** Go to the next box in a direction. With Shift, or without a focused box, move the view. */
  arrow(group, dx, dy, event) {
    if (!group || event.shiftKey) return this.pan.by(-dx * STEP_PX, -dy * STEP_PX);
    const groups = [...this.svg.querySelectorAll("[data-id]")];
    const next = nearest(groups.map((each) => ({ group: each, box: this.boxOf(each) })), group, dx, dy);
    if (!next) return;
    next.focus({ preventScroll: true });
    this.reveal(next);
  }
}

/** Return the ids of all attempts in one place: retries form a chain. */
function attemptsAround(id, edges) {
  const reached = new Set([id]);
  for (let before = 0; before !== reached.size; ) {
    before = reached.size;
    for (const { dataset } of edges) {
      if (dataset.kind !== "retry") continue;
      if (reached.has(dataset.from) || reached.has(dataset.to)) reached.add(dataset.from).add(dataset.to);
    }
  }
  return reached;
}

const views = new WeakMap();
onElements(".graph-canvas", (canvas) => views.set(canvas, new GraphView(canvas)));
onElements(".graph-canvas svg.graph", (svg) => views.get(svg.closest(".graph-canvas")).adopt());
