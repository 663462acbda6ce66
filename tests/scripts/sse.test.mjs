import assert from "node:assert/strict";
import { test } from "node:test";

import { parseFrame, readEvents } from "../../static/js/shell/sse.js";

/** Return a response whose body arrives in the given pieces. */
const response = (...pieces) => new Response(ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece))));

const eventsOf = (...pieces) => Array.fromAsync(readEvents(response(...pieces), 1000));

test("a frame gives its event and its parsed data", () => {
  assert.deepEqual(parseFrame('event: progress\ndata: {"done": 1}'), { event: "progress", data: { done: 1 } });
});

test("data lines are joined and text that is no JSON stays text", () => {
  assert.deepEqual(parseFrame("data: one\ndata: two"), { event: "message", data: "one\ntwo" });
});

test("comments and frames without data give nothing", () => {
  assert.equal(parseFrame(": still here"), null);
  assert.equal(parseFrame("event: progress"), null);
});

test("a carriage return ends a line as a newline does", () => {
  assert.deepEqual(parseFrame("event: a\r\ndata: 1"), { event: "a", data: 1 });
});

test("frames are read wherever the network cut them", async () => {
  const stream = 'event: a\ndata: {"n": 1}\n\n: alive\n\ndata: 2\n\n';
  const whole = await eventsOf(stream);
  assert.deepEqual(whole, [{ event: "a", data: { n: 1 } }, { event: "message", data: 2 }]);
  for (let cut = 1; cut < stream.length; cut += 1) {
    assert.deepEqual(await eventsOf(stream.slice(0, cut), stream.slice(cut)), whole);
  }
});

test("a last frame without its blank line is read too", async () => {
  assert.deepEqual(await eventsOf("data: 1\n\ndata: 2"), [
    { event: "message", data: 1 },
    { event: "message", data: 2 },
  ]);
});

test("a stream that falls silent is given up", async () => {
  const silent = new Response(new ReadableStream({ start() {} }));
  await assert.rejects(Array.fromAsync(readEvents(silent, 5)), /fell silent/);
});

test("whoever has heard enough ends the stream", async () => {
  let isEnded = false;
  const start = (stream) => stream.enqueue(new TextEncoder().encode("data: 1\n\n"));
  const endless = new Response(new ReadableStream({ start, cancel: () => (isEnded = true) }));
  for await (const { data } of readEvents(endless, 1000)) if (data === 1) break;
  await new Promise(setImmediate);
  assert.equal(isEnded, true);
});
