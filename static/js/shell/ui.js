// Copy buttons, dialogs, tabs, toasts, relative times, keyboard help.
import { build, isTyping, onElements } from "./dom.js";

const TOAST_MS = 8000;

// --- copy -----------------------------------------------------------------------------------------------------------

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  const source = button.dataset.copy ? document.getElementById(button.dataset.copy) : button.closest(".code")?.querySelector("pre");
  const text = button.value || readable(source);
  const label = button.querySelector("span") ?? button;
  const words = (label.dataset.words ??= label.textContent);
  try {
    await navigator.clipboard.writeText(text.trim());
    label.textContent = "Copied";
  } catch {
    // Without a secure context there is no clipboard: select the text for copying by keyboard.
    if (source) getSelection().selectAllChildren(source);
    label.textContent = "Press Ctrl+C";
  }
  setTimeout(() => (label.textContent = words), 1600);
});

/** Return the text of an element, with folded JSON as indented lines. */
function readable(source) {
  const text = source?.textContent ?? "";
  if (!source?.matches(".json")) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // A shortened part is not valid JSON.
  }
}

// --- menus and dialogs ----------------------------------------------------------------------------------------------

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

// The list of keys shows only keys that work on the page. A name to be changed is selected when it is focused: the toggle
// event comes later, when a part of the new name may have been typed.
document.addEventListener(
  "beforetoggle",
  ({ target: dialog, newState }) => {
    for (const row of dialog.querySelectorAll("[data-keys-if]")) row.hidden = !document.querySelector(row.dataset.keysIf);
    if (newState !== "open") return;
    dialog.addEventListener("focusin", ({ target: field }) => field.matches("input[autofocus]") && field.select(), { once: true });
  },
  true,
);

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    const menu = event.target.closest?.("details.menu[open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  }
  if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "?") {
    event.preventDefault();
    const help = document.getElementById("keys");
    if (help && !help.open) help.showModal();
  } else if (event.key === "/") {
    const search = document.querySelector("main [type=search]");
    if (search) {
      event.preventDefault();
      search.focus();
    }
  }
});

// --- tabs: role=tablist with role=tab[aria-controls] ---------------------------------------------------------------------

function selectTab(tab, { focus = false } = {}) {
  for (const other of tab.closest("[role=tablist]").querySelectorAll("[role=tab]")) {
    const selected = other === tab;
    other.setAttribute("aria-selected", String(selected));
    other.tabIndex = selected ? 0 : -1;
    const panel = document.getElementById(other.getAttribute("aria-controls"));
    if (panel) panel.hidden = !selected;
  }
  if (focus) tab.focus();
}

onElements("[role=tablist]", (list) => {
  const tabs = () => [...list.querySelectorAll("[role=tab]")];
  const first = tabs().find((tab) => tab.getAttribute("aria-selected") === "true") ?? tabs()[0];
  if (first) selectTab(first);
  list.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab) selectTab(tab);
  });
  list.addEventListener("keydown", (event) => {
    const all = tabs();
    const at = all.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    selectTab(all[(to + all.length) % all.length], { focus: true });
  });
});

// --- toasts ------------------------------------------------------------------------------------------------------------

/**
 * Show a short message; one with a link stays until it is dismissed.
 * @param {string} message
 * @param {{linkUrl?: string, linkLabel?: string, failed?: boolean, code?: string}} options
 */
export function toast(message, { linkUrl, linkLabel = "Show it", failed = false, code } = {}) {
  const text = build("span", { class: "toast__text", text: message });
  if (code) text.append(" ", build("code", { class: "small", text: code }));
  const box = build("div", { class: failed ? "status-error" : "" }, text);
  if (linkUrl) box.append(build("a", { class: "button button--small", href: linkUrl, text: linkLabel }));
  show(box);
}

function show(box) {
  const close = build("button", { class: "button button--quiet button--small", type: "button", "aria-label": "Dismiss", text: "×" });
  close.addEventListener("click", () => box.remove());
  box.append(close);
  box.classList.add("toast");
  for (const shown of document.querySelectorAll("#toasts .toast")) if (shown.textContent === box.textContent) shown.remove();
  document.getElementById("toasts").append(box);
  if (!box.querySelector("a")) dismissLater(box);
}

function dismissLater(box) {
  let timer = setTimeout(() => box.remove(), TOAST_MS);
  const hold = () => clearTimeout(timer);
  const release = () => {
    hold();
    timer = setTimeout(() => box.remove(), TOAST_MS / 2);
  };
  for (const name of ["pointerenter", "focusin"]) box.addEventListener(name, hold);
  for (const name of ["pointerleave", "focusout"]) box.addEventListener(name, release);
}

/** Show the `error` of an API answer: the sentence first, then the code. */
export const toastRefusal = ({ message, code }) => toast(message, { failed: true, code });

// A message that was rendered into the page.
onElements(".notice--said", (notice) => {
  notice.classList.remove("notice", "notice--said");
  show(notice);
});

// --- relative times ------------------------------------------------------------------------------------------------------

const UNITS = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60]];
const relative = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", { numeric: "auto" });

function showTime(element) {
  const at = Date.parse(element.dateTime);
  if (Number.isNaN(at)) return;
  const seconds = (at - Date.now()) / 1000;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  element.title ||= new Date(at).toLocaleString();
  element.textContent = Math.abs(seconds) < 45 ? (seconds > 0 ? "in a moment" : "just now") : relative.format(Math.round(seconds / size), unit);
}

const TIMES = "time[datetime][data-relative]";
const showTimes = () => document.querySelectorAll(TIMES).forEach(showTime);
onElements(TIMES, showTime);
setInterval(showTimes, 30000);
// A refreshed fragment contains the server's text for a time.
document.addEventListener("htmx:after:swap", showTimes);
