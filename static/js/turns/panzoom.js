// A view that pointer, wheel and calls move and scale. Its owner draws it.
import { reducedMotion } from "../shell/dom.js";

export const MIN_ZOOM = 0.08;
export const MAX_ZOOM = 3;
const GLIDE_MS = 180;
const DRAG_PX = 4;

export class PanZoom {
  /**
   * @param {HTMLElement} canvas  receives the pointer events
   * @param {(view: {x: number, y: number, zoom: number}) => void} draw  called at most once per animation frame
   */
  constructor(canvas, draw) {
    this.canvas = canvas;
    this.draw = draw;
    this.view = null;
    this.pointers = new Map();
    this.dragged = false;
    canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.onDown(event));
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.onEnd(event));
  }

  /** Show a view. `byHand` says that the reader moved it. */
  show(view, { byHand = true } = {}) {
    this.view = view;
    if (byHand) this.touched = true;
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (this.view) this.draw(this.view);
    });
  }

  by(dx, dy) {
    this.show({ ...this.view, x: this.view.x + dx, y: this.view.y + dy });
  }

  zoomBy(factor, at = { x: this.canvas.clientWidth / 2, y: this.canvas.clientHeight / 2 }) {
    const { x, y, zoom } = this.view;
    const next = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, zoom * factor));
    this.show({ zoom: next, x: at.x - ((at.x - x) * next) / zoom, y: at.y - ((at.y - y) * next) / zoom });
  }

  glide(target) {
    cancelAnimationFrame(this.gliding);
    if (reducedMotion() || !this.view) return this.show(target);
    const from = this.view;
    const began = performance.now();
    const step = (now) => {
      const part = Math.min((now - began) / GLIDE_MS, 1);
      const eased = 1 - (1 - part) ** 3;
      const mix = (name) => from[name] + (target[name] - from[name]) * eased;
      this.show({ x: mix("x"), y: mix("y"), zoom: mix("zoom") });
      if (part < 1) this.gliding = requestAnimationFrame(step);
    };
    this.gliding = requestAnimationFrame(step);
  }

  /** Return whether the last press moved the view. The click after it asks once. */
  wasDragged() {
    const { dragged } = this;
    this.dragged = false;
    return dragged;
  }

  at(event) {
    const frame = this.canvas.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  }

  onWheel(event) {
    event.preventDefault();
    // The wheel scrolls, with Ctrl it zooms. A pinch is reported as wheel with Ctrl.
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.ctrlKey || event.metaKey) return this.zoomBy(Math.exp(-event.deltaY * unit * 0.01), this.at(event));
    const [dx, dy] = event.shiftKey ? [event.deltaY, event.deltaX] : [event.deltaX, event.deltaY];
    this.by(-dx * unit, -dy * unit);
  }

  onDown(event) {
    if (event.button !== 0 || event.target.closest(".minimap")) return;
    this.pointers.set(event.pointerId, this.at(event));
    this.dragged = false;
    this.origin = this.at(event);
    cancelAnimationFrame(this.gliding);
  }

  onMove(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = this.at(event);
    if (!this.dragged && Math.hypot(now.x - this.origin.x, now.y - this.origin.y) > DRAG_PX) {
      this.dragged = true;
      this.canvas.setPointerCapture(event.pointerId);
      this.canvas.classList.add("is-panning");
    }
    if (this.pointers.size === 2) this.pinch(event.pointerId, before, now);
    else if (this.dragged) this.by(now.x - before.x, now.y - before.y);
    this.pointers.set(event.pointerId, now);
  }

  pinch(id, before, now) {
    const other = [...this.pointers].find(([key]) => key !== id)[1];
    const apart = (point) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
    this.by((now.x - before.x) / 2, (now.y - before.y) / 2);
    this.zoomBy(apart(now) / apart(before), { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
  }

  onEnd(event) {
    this.pointers.delete(event.pointerId);
    if (this.pointers.size === 0) this.canvas.classList.remove("is-panning");
  }
}
