// Small behaviours of pages: time to expiry, keys for links, the end of a live page.
import { isElsewhere, isTyping, onElements } from "./dom.js";
import { DELETED, dispatch } from "./live.js";
import { toast } from "./ui.js";

// --- time to expiry -------------------------------------------------------------------------------------------------

const two = (number) => String(number).padStart(2, "0");

function showCountdown(element) {
  const seconds = Math.max(0, Math.ceil((Date.parse(element.dateTime) - Date.now()) / 1000));
  const minutes = Math.floor(seconds / 60);
  element.title ||= new Date(element.dateTime).toLocaleString();
  element.textContent = minutes >= 120 ? `in ${Math.round(minutes / 60)} h` : `in ${minutes}:${two(seconds % 60)}`;
  return seconds;
}

onElements("[data-countdown]", (element) => {
  const tick = () => {
    if (!element.isConnected) return clearInterval(timer);
    // The server tells it a little later; the countdown must end on time.
    if (showCountdown(element) === 0) {
      clearInterval(timer);
      setTimeout(() => dispatch({ kind: "session.expired", sequence: null, payload: {} }), 1000);
    }
  };
  const timer = setInterval(tick, 1000);
  tick();
});

document.addEventListener("htmx:after:swap", () => document.querySelectorAll("[data-countdown]").forEach(showCountdown));

// --- the way to a turn that is not among the newest -------------------------------------------------------------------

function showTurn() {
  const turn = /^#turn-(\d+)$/.exec(location.hash);
  const address = new URL(location.href);
  if (!turn || document.getElementById(`turn-${turn[1]}`) || Number(address.searchParams.get("before")) === Number(turn[1]) + 1) return;
  address.searchParams.set("before", Number(turn[1]) + 1);
  location.replace(address);
}

onElements("#messages", showTurn);
addEventListener("hashchange", showTurn);

// Scroll the current page's or tab's link into view if the links do not all fit.
onElements(".tabs [aria-current]", (link) => {
  link.parentElement.scrollLeft = link.offsetLeft - link.parentElement.offsetLeft - link.offsetWidth;
});

// The new links take the focus of a pressed one that was replaced.
document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  const pressed = ctx.sourceEvent?.target?.closest?.(".tabs a");
  if (!pressed || pressed.isConnected || document.activeElement !== document.body) return;
  ctx.target.querySelector(".tabs [aria-current]")?.focus({ preventScroll: true });
});

// --- keys for links and buttons -------------------------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  // In a tree, letters search for a name.
  if (isTyping(event) || isElsewhere(event) || event.target.closest("[role=tree]")) return;
  document.querySelector(`:is(a, button)[aria-keyshortcuts="${CSS.escape(event.key)}"]`)?.click();
});

// --- the project of a form --------------------------------------------------------------------------------------------

// Another tab may have switched to another project since. The server refuses the form then (web/shell/access.py).
document.addEventListener("formdata", ({ target, formData }) => {
  const { project } = document.body.dataset;
  if (project && target.method === "post") formData.set("page_project", project);
});

// --- what cannot be shown any more ----------------------------------------------------------------------------------

// The page stays as it is, and a failed request is explained. What is asked for from time to time is asked for again,
// unless the answer will not change.
document.addEventListener("htmx:response:error", (event) => {
  const { request, response: { status }, sourceElement, sourceEvent } = event.detail.ctx;
  if (status === 422) return; // the response says why
  if (sourceEvent?.type === "every") {
    if (status >= 500) return;
    sourceElement.dataset.isOver = "";
  }
  toast(status === 404 ? "This is no longer there." : `The server answered ${status}.`, { failed: true });
  // A refresh that is refused is not answered by refreshes.
  if (status === 403 && request.method !== "GET") dispatch({ kind: "role.changed", sequence: null, payload: {} });
});

document.addEventListener("htmx:error", ({ detail: { ctx } }) => {
  const isReading = ctx?.request.method === "GET";
  if (!ctx || /^(every|load|live:)/.test(ctx.sourceEvent?.type)) return; // a failed refresh changes nothing
  const words = isReading
    ? "The server could not be reached."
    : "No answer came. Look whether it was done, then try again.";
  const place = ctx.sourceElement.closest("dialog[open]")?.querySelector("[role=alert]");
  if (place) place.textContent = words;
  else toast(words, { failed: true });
});

// A page that may no longer be read gives way to the answer that says why; that of a deleted session offers to bring it
// back. The page of a turn stays then, and so does one that still opens, for a proxy may refuse sockets alone.
document.addEventListener("live:refused", async ({ detail: { code } }) => {
  const answer = await fetch(location.href).catch(() => null);
  const isGone = answer?.status === 404 && (code !== DELETED || document.getElementById("session-head"));
  if (answer?.status === 403 || answer?.redirected || isGone) location.reload();
  else toast("This session was deleted, or you may no longer see it.", { failed: true });
});

// Scroll to an opened note, which may lie below the visible part. The event comes after the click: the reader may already
// be in another field.
document.addEventListener(
  "toggle",
  (event) => {
    if (!event.target.matches?.(".rating__note[open]")) return;
    event.target.scrollIntoView({ block: "nearest" });
    if (![document.body, event.target.querySelector("summary")].includes(document.activeElement)) return;
    event.target.querySelector("textarea").focus({ preventScroll: true });
  },
  true,
);
