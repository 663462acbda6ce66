// Live pages: one socket for each element with data-live-url. Its messages become DOM events of the document; fragments
// fetch themselves again by htmx: hx-trigger="live:messages from:document delay:120ms" (parts.js has the names).
import { onElements } from "./dom.js";
import { eventNames } from "./parts.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15000;
// The close code of a deleted session, and those for a reader without access. Connecting again would not help.
export const DELETED = 4404;
const REFUSED = new Set([4401, 4403, DELETED]);

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
    // Progress has no number and is not sent again. Fragments that show it are fetched after a gap and at the start,
    // because the turn went on between the page load and the connection.
    dispatch({ kind: "turn.progressed", sequence: null, payload: { request_id: this.element.dataset.liveTurn } });
  }

  onMessage(event) {
    const message = JSON.parse(event.data);
    if (!message.kind) return;
    if (message.sequence != null) {
      if (message.sequence <= this.since) return;
      this.since = message.sequence;
    }
    // The missed events are no longer stored one by one.
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
    // Random, so that the pages of a restarted server do not reconnect at the same moment.
    this.timer = setTimeout(() => this.open(), wait * (0.5 + Math.random() / 2));
  }

  retryNow() {
    if (!this.stopped && this.socket.readyState === WebSocket.CLOSED) this.open();
  }

  show(state, words) {
    for (const dot of document.querySelectorAll("#live-state")) {
      dot.dataset.state = state;
      dot.textContent = words;
    }
  }
}

/** Turn a message into DOM events. */
export function dispatch(message) {
  for (const name of eventNames(message)) document.dispatchEvent(new CustomEvent(name, { detail: message }));
}

/** Return how many items of a list are loaded; the one that leads to more is none. */
const loaded = (list) => list.querySelectorAll(":scope > :not([data-more])").length;

/** Ask for as many items as are loaded; data-count-as names the parameter. */
function askForLoaded(element, parameters) {
  for (const list of element.querySelectorAll("[data-count-as]")) parameters.set(list.dataset.countAs, loaded(list));
}

document.addEventListener("htmx:config:request", (event) => {
  const { ctx } = event.detail;
  const { sourceElement, sourceEvent, request } = ctx;
  // A list that no socket tells about asks while somebody looks, nobody types in it, and no more rows are loaded than an
  // answer has; a draft and what a save asks while they are shown.
  const isTimed = sourceEvent?.type === "every";
  if (isTimed && "isOver" in sourceElement.dataset) return event.preventDefault();
  const isLonger = [...sourceElement.querySelectorAll("[data-count-most]")].some((list) => loaded(list) > list.dataset.countMost);
  const isIdle = document.visibilityState !== "visible" || sourceElement.querySelector("dialog[open]") || isLonger;
  const isHidden = /^live:(draft|saving)/.test(sourceEvent?.type) && !sourceElement.checkVisibility();
  if ((isTimed && isIdle) || isHidden) return event.preventDefault();
  askForLoaded(sourceElement, request.body);
  if (sourceEvent?.type?.startsWith("live:")) ctx.address = sourceElement.getAttribute("hx-get");
});

// While a refresh waited for another request, that one's response may have changed the filter, which would be undone,
// or have shown that the turn ended, which takes the address away.
document.addEventListener("htmx:before:request", (event) => {
  const { ctx } = event.detail;
  const address = ctx.sourceElement.getAttribute("hx-get");
  if (ctx.address === undefined || ctx.address === address) return;
  if (address === null) return event.preventDefault();
  const url = new URL(address, document.baseURI);
  askForLoaded(ctx.sourceElement, url.searchParams);
  ctx.request.action = url.pathname + url.search;
});

// A response does not contain a filter that was typed after its request, and the morph cancelled the field's delay.
document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  if (!ctx.sourceEvent?.type?.startsWith("live:")) return;
  for (const input of document.querySelectorAll("[data-filtered] input[name]")) {
    if (input.value.trim() !== input.defaultValue.trim()) input.form.requestSubmit();
  }
});

onElements("[data-live-url]", (element) => new LiveSocket(element));
