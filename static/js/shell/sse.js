// Server-sent events in the response to a POST, which EventSource cannot send.

/**
 * Yield {event, data} for every frame of the stream; `data` is parsed JSON, or text if it is not JSON. Whoever has heard
 * enough leaves the loop, which ends the stream.
 * @param {Response} response
 * @param {number} silentMs how long the stream may be silent, comments included, before it counts as lost
 * @throws if the stream is lost or breaks
 */
export async function* readEvents(response, silentMs) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  try {
    for (;;) {
      const { value, done } = await inTime(reader, silentMs);
      waiting += value ?? "";
      const frames = waiting.split(/\r\n\r\n|\n\n|\r\r/);
      waiting = done ? "" : frames.pop();
      for (const frame of frames) {
        const event = parseFrame(frame);
        if (event) yield event;
      }
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function inTime(reader, silentMs) {
  let timer;
  const silence = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("the stream fell silent")), silentMs);
  });
  return Promise.race([reader.read(), silence]).finally(() => clearTimeout(timer));
}

export function parseFrame(frame) {
  let event = "message";
  const data = [];
  for (const line of frame.split(/\r\n|\n|\r/)) {
    if (line.startsWith(":")) continue;
    const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (field === "event") event = value;
    else if (field === "data") data.push(value);
  }
  if (!data.length) return null;
  const text = data.join("\n");
  try {
    return { event, data: JSON.parse(text) };
  } catch {
    return { event, data: text };
  }
}
