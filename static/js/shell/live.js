// Live pages: one socket for each element with data-live-url. Events carry ids and small facts; whoever shows more
// fetches it again. Fragments say what they depend on: data-refresh-on="turn.committed units.pending".
import { loadFragment, onElements } from "./dom.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15000;
const DEBOUNCE_MS = 120;
const POLL_MS = 4000;
// A steady stream of events must not hold a refresh back for ever.
const LONGEST_HOLD_MS = 600;
// The server closes with these when the reader may not see the session; asking again would not help.
const REFUSED = new Set([4401, 4403]);

class LiveSocket {
  constructor(element) {
    this.url = new URL(element.dataset.liveUrl, location.href);
    this.url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.since = Number(element.dataset.liveSince ?? 0);
    this.failures = 0;
    this.element = element;
    this.open();
    addEventListener("online", () => this.retryNow());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.retryNow());
  }

  open() {
    clearTimeout(this.timer);
    this.url.searchParams.set("since", this.since);
    this.socket = new WebSocket(this.url);
    this.socket.addEventListener("open", () => this.onOpen());
    this.socket.addEventListener("message", (event) => this.onMessage(event));
    this.socket.addEventListener("close", (event) => this.onClose(event));
  }

  onOpen() {
    this.failures = 0;
    this.show("open", "Live");
    // Progress has no number and is not sent again: what shows it is fetched once after a gap, and once at the start,
    // because the turn went on between the page and its socket.
    dispatch({ kind: "turn.progressed", sequence: null, payload: {}, resumed: true });
  }

  onMessage(event) {
    const message = JSON.parse(event.data);
    if (!message.kind) return;
    if (message.sequence != null) {
      if (message.sequence <= this.since) return;
      this.since = message.sequence;
    }
    // The page was away for so long that what it has missed is no longer told one by one.
    if (message.kind === "events.compacted") return location.reload();
    dispatch(message);
  }

  onClose(event) {
    if (REFUSED.has(event.code)) {
      this.stopped = true;
      this.show("refused", "Not allowed to follow this session");
      document.dispatchEvent(new CustomEvent("live:refused", { detail: { code: event.code } }));
      return;
    }
    if (!this.element.isConnected) return;
    this.failures += 1;
    this.show("waiting", "Reconnecting");
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.failures - 1));
    // Spread, so that all pages of a restarted server do not return in the same instant.
    this.timer = setTimeout(() => this.open(), wait * (0.5 + Math.random() / 2));
  }

  retryNow() {
    if (!this.stopped && this.socket.readyState === WebSocket.CLOSED) this.open();
  }

  show(state, words) {
    for (const dot of document.querySelectorAll("[data-live-state]")) {
      dot.dataset.state = state;
      dot.textContent = words;
    }
  }
}

/** Tell the page about an event and refresh the fragments that depend on it. */
export function dispatch(message) {
  document.dispatchEvent(new CustomEvent("live:event", { detail: message }));
  document.dispatchEvent(new CustomEvent(`live:${message.kind}`, { detail: message }));
  for (const element of document.querySelectorAll("[data-refresh-on]")) {
    if (dependsOn(element, message)) refreshSoon(element);
  }
}

function dependsOn(element, message) {
  const { refreshOn, refreshRequest, refreshIfSeen } = element.dataset;
  if (!refreshOn.split(/\s+/).includes(message.kind)) return false;
  if (refreshIfSeen !== undefined && !element.checkVisibility()) return false;
  // A fragment of one turn does not care about others.
  const request = message.payload?.request_id;
  return !refreshRequest || !request || refreshRequest === request;
}

const pending = new WeakMap();

function refreshSoon(element) {
  const state = pending.get(element) ?? { timer: 0, firstAt: 0, busy: false, again: false };
  pending.set(element, state);
  if (state.busy) {
    state.again = true;
    return;
  }
  const now = performance.now();
  if (!state.timer) state.firstAt = now;
  clearTimeout(state.timer);
  const wait = Math.max(0, Math.min(DEBOUNCE_MS, state.firstAt + LONGEST_HOLD_MS - now));
  state.timer = setTimeout(() => refresh(element, state), wait);
}

async function refresh(element, state) {
  state.timer = 0;
  if (!element.isConnected) return;
  // What the reader is loading into the fragment would be lost under an answer that knows nothing of it.
  if (element.querySelector(".htmx-request")) return refreshSoon(element);
  state.busy = true;
  state.again = false;
  try {
    if (element.dataset.refreshSelf !== undefined) {
      // It knows better what to ask for: a graph adds what the reader opened and shut.
      element.dispatchEvent(new CustomEvent("fragment:reload"));
    } else {
      // Morphing keeps focus, scroll position and what a reader opened.
      await loadFragment(withCounts(element.dataset.refreshUrl, element), element, "outerMorph");
      askAgain(element);
    }
  } catch {
    // A failed refresh is made good by the next event.
  }
  state.busy = false;
  if (state.again) refreshSoon(element);
}

/** A filter that was typed while the answer was on its way is not in it, and the morph has ended its waiting. */
function askAgain(element) {
  for (const input of element.querySelectorAll("[data-filtered] input[name]")) {
    if (input.value.trim() !== input.defaultValue.trim()) input.form.requestSubmit();
  }
}

/** Ask for as many items as the reader has loaded: a list says by data-count-as how its length is called. */
function withCounts(address, element) {
  const url = new URL(address, location.href);
  for (const list of element.querySelectorAll("[data-count-as]")) url.searchParams.set(list.dataset.countAs, list.children.length);
  return url.pathname + url.search;
}

// Lists that no socket tells about are asked for again now and then, while somebody looks and nobody types in them.
// The next one waits for the answer to the last, which it would take the place of.
onElements("[data-poll-url]", (element) => {
  const poll = async () => {
    if (!element.isConnected) return;
    if (document.visibilityState === "visible" && !element.querySelector("[data-rename-form]:not([hidden])")) {
      await loadFragment(withCounts(element.dataset.pollUrl, element), element, "outerMorph").catch(() => {});
    }
    setTimeout(poll, POLL_MS);
  };
  setTimeout(poll, POLL_MS);
});

onElements("[data-live-url]", (element) => new LiveSocket(element));
