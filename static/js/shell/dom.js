// Document helpers that several modules share.

export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Build an element; `text` becomes text, never markup. */
export function build(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") element.textContent = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const watches = [];

/** Run `setUp` once for every matching element, now and after each swap. */
export function onElements(selector, setUp) {
  const watch = { selector, setUp, done: new WeakSet() };
  watches.push(watch);
  scan(document.documentElement, watch);
}

function scan(root, { selector, setUp, done }) {
  const elements = root.matches(selector) ? [root] : [];
  for (const element of [...elements, ...root.querySelectorAll(selector)]) {
    if (done.has(element)) continue;
    done.add(element);
    setUp(element);
  }
}

// One observer for all. In node's tests there is no document.
if (globalThis.document) {
  new MutationObserver((records) => {
    for (const { addedNodes } of records) {
      for (const node of addedNodes) {
        if (node.nodeType === Node.ELEMENT_NODE) for (const watch of watches) scan(node, watch);
      }
    }
  }).observe(document.documentElement, { childList: true, subtree: true });
}

/** Return whether a key press is meant for a field and not for the page. */
export const isTyping = (event) =>
  event.target.closest?.("input, textarea, select, [contenteditable]") != null;

/** Return whether a key press is meant for the browser or an open dialog and not for the page. */
export const isElsewhere = (event) => event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") != null;

/** Return Django's CSRF token, which every writing request needs, from the body's hx-headers. */
export function csrfToken() {
  const headers = document.body.getAttribute("hx-headers:inherited");
  return headers ? JSON.parse(headers)["X-CSRFToken"] : "";
}
