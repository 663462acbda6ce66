import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { MAX_ZOOM, MIN_ZOOM, PanZoom } from "../../static/js/turns/panzoom.js";

/** Return a view of a canvas of 400 by 300 pixels that has no document around it. */
function view() {
  const canvas = { clientWidth: 400, clientHeight: 300, addEventListener() {} };
  const pan = new PanZoom(canvas, () => {});
  pan.show({ x: 0, y: 0, zoom: 1 }, { byHand: false });
  return pan;
}

beforeEach(() => {
  globalThis.requestAnimationFrame = () => 1;
});

test("zooming keeps the point under the pointer where it is", () => {
  const pan = view();
  const at = { x: 120, y: 80 };
  const pointOf = ({ x, y, zoom }) => [(at.x - x) / zoom, (at.y - y) / zoom];
  const before = pointOf(pan.view);
  for (const factor of [1.25, 2, 0.5]) pan.zoomBy(factor, at);
  const after = pointOf(pan.view);
  for (const axis of [0, 1]) assert.ok(Math.abs(after[axis] - before[axis]) < 1e-9);
});

test("zooming stops at its limits", () => {
  const pan = view();
  for (let turn = 0; turn < 40; turn += 1) pan.zoomBy(2);
  assert.equal(pan.view.zoom, MAX_ZOOM);
  for (let turn = 0; turn < 80; turn += 1) pan.zoomBy(0.5);
  assert.equal(pan.view.zoom, MIN_ZOOM);
});

test("a view that the reader moved is known as such", () => {
  const pan = view();
  assert.ok(!pan.touched);
  pan.by(10, -5);
  assert.deepEqual(pan.view, { x: 10, y: -5, zoom: 1 });
  assert.ok(pan.touched);
});
