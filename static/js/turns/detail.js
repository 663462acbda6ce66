// The detail panel: it shows the chosen node alone, searches within it, shows its texts, and goes to siblings.
import { build, isElsewhere, isTyping, onElements } from "../shell/dom.js";
import { select, selectedId } from "./selection.js";

const LONG_TEXT = 60;

onElements("#detail", (detail) => {
  document.addEventListener("turn:selected", (event) => {
    const { id } = event.detail;
    detail.classList.toggle("is-open", Boolean(id));
    if (!id) detail.replaceChildren();
  });
  detail.addEventListener("htmx:config:request", (event) => {
    if (event.target === detail && !selectedId()) event.preventDefault();
  });
  detail.addEventListener("click", (event) => {
    if (event.target.closest(".detail__close")) select(null);
    const kind = event.target.closest("[name=shown-as]");
    if (kind) showAs(kind.closest("[role=tabpanel]"), kind.value);
  });
  detail.addEventListener("input", (event) => event.target.matches(".detail__find input") && find(detail, event.target.value, 0));
  detail.addEventListener("keydown", (event) => {
    if (!event.target.matches(".detail__find input") || event.key !== "Enter") return;
    event.preventDefault();
    find(detail, event.target.value, event.shiftKey ? -1 : 1);
  });
  document.addEventListener("htmx:after:swap", (event) => {
    if (!detail.contains(event.target) && event.target !== detail) return;
    detail.scrollTop = 0;
    matches = [];
    CSS.highlights?.clear();
  });
});

document.addEventListener("keydown", (event) => {
  if (isTyping(event) || isElsewhere(event) || event.target.closest("[role=tree]") || !selectedId()) return;
  const rel = { j: "next", k: "prev" }[event.key];
  if (rel) document.querySelector(`#detail [rel=${rel}]`)?.click();
});

// --- search within the payload ------------------------------------------------------------------------------------------

let matches = [];
let current = 0;

/** Mark every occurrence of a text in the open tab. `step` moves to the next or previous one. */
function find(detail, text, step) {
  const panel = detail.querySelector("[role=tabpanel]:not([hidden])");
  if (step === 0) {
    matches = text && panel ? rangesOf(panel, text.toLowerCase()) : [];
    current = 0;
  } else if (matches.length) current = (current + step + matches.length) % matches.length;
  const count = detail.querySelector(".detail__find output");
  count.textContent = text ? (matches.length ? `${current + 1} of ${matches.length}` : "none") : "";
  if (!globalThis.Highlight) return;
  CSS.highlights.set("found", new Highlight(...matches));
  CSS.highlights.set("found-current", new Highlight(...matches.slice(current, current + 1)));
  const here = matches[current]?.startContainer.parentElement;
  for (let fold = here?.closest("details:not([open])"); fold; fold = fold.parentElement.closest("details:not([open])")) fold.open = true;
  here?.scrollIntoView({ block: "nearest" });
}

function rangesOf(panel, wanted) {
  const found = [];
  const walker = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest("pre, .texts") ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT,
  );
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      found.push(range);
    }
  }
  return found;
}

// --- JSON, or the texts in it ---------------------------------------------------------------------------------------------

function showAs(panel, kind) {
  const code = panel.querySelector(".code--json");
  let texts = panel.querySelector(".texts");
  if (kind === "text" && !texts) {
    texts = textsOf(code.querySelector("pre").textContent);
    code.after(texts);
  }
  code.hidden = kind === "text";
  if (texts) texts.hidden = kind !== "text";
  for (const button of panel.querySelectorAll("[name=shown-as]")) button.setAttribute("aria-pressed", String(button.value === kind));
}

/** Build a list of the longer texts in a JSON document, each under its path. */
function textsOf(json) {
  const list = build("div", { class: "texts" });
  let value;
  try {
    value = JSON.parse(json);
  } catch {
    value = json; // A shortened part is not valid JSON.
  }
  const visit = (item, path) => {
    if (typeof item === "string") {
      if (path && item.length < LONG_TEXT && !item.includes("\n")) return;
      if (path) list.append(build("h3", { text: path }));
      list.append(build("p", { text: item }));
    } else if (item && typeof item === "object") {
      for (const [key, part] of Object.entries(item)) visit(part, path ? `${path} › ${key}` : key);
    }
  };
  visit(value, "");
  if (!list.children.length) list.append(build("p", { class: "muted", text: "There is no longer text in it." }));
  return list;
}
