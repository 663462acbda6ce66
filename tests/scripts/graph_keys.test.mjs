import assert from "node:assert/strict";
import { test } from "node:test";

import { nearest } from "../../static/js/turns/graph_keys.js";

const item = (group, x, y, width = 176, height = 42) => ({ group, box: { x, y, width, height } });

const ROOT = item("root", 0, 0, 500, 400);
const LEFT = item("left", 20, 60);
const RIGHT = item("right", 240, 60);
const BELOW = item("below", 20, 160);
const ITEMS = [ROOT, LEFT, RIGHT, BELOW];

test("an arrow goes to the next box in its direction", () => {
  assert.equal(nearest(ITEMS, "left", 1, 0), "right");
  assert.equal(nearest(ITEMS, "right", -1, 0), "left");
  assert.equal(nearest(ITEMS, "left", 0, 1), "below");
});

test("the frame around a box is reached with the arrow up", () => {
  assert.equal(nearest(ITEMS, "left", 0, -1), "root");
});

test("a near box on the line wins over one that is nearer but aside", () => {
  const aside = item("aside", 130, 120);
  assert.equal(nearest([...ITEMS, aside], "left", 1, 0), "right");
});

test("there is nothing beyond the last box, and nothing from a box that is gone", () => {
  assert.equal(nearest(ITEMS, "below", 0, 1), null);
  assert.equal(nearest(ITEMS, "gone", 1, 0), null);
});
