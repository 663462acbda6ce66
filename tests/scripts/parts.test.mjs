import assert from "node:assert/strict";
import { test } from "node:test";

import { eventNames } from "../../static/js/shell/parts.js";

test("a message becomes an event for its kind and one for each part that shows it", () => {
  const names = eventNames({ kind: "kb.mounted", payload: { kb_id: "a" } });
  assert.deepEqual(names, ["live:event", "live:kb.mounted", "live:knowledge", "live:saving"]);
});

test("what a turn sends is named with the turn too", () => {
  const names = eventNames({ kind: "turn.progressed", payload: { request_id: "r1" } });
  assert.deepEqual(names, ["live:event", "live:turn.progressed", "live:progress", "live:progress:r1"]);
});

test("the end of a turn reaches every part of its page and no draft", () => {
  const names = eventNames({ kind: "turn.failed", payload: { request_id: "r1" } });
  for (const part of ["progress", "pending", "end"]) assert.ok(names.includes(`live:${part}:r1`), part);
  assert.ok(!names.some((name) => name.startsWith("live:draft")));
});

test("a message that no part shows is still an event", () => {
  assert.deepEqual(eventNames({ kind: "session.created" }), ["live:event", "live:session.created"]);
});
