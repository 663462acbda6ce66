// The turn page's switches for view and tab, and the graph as an image file.
import { build, onElements } from "../shell/dom.js";
import { setParameter } from "./selection.js";
import { toast } from "../shell/ui.js";

// --- views and tabs: links that work without scripts, and switch within the page with them ---------------------------

const nameIn = (link, parameter, usual) => new URL(link.href).searchParams.get(parameter) ?? usual;

onElements(".turn", (turn) => {
  const panel = document.getElementById("turn-panel");
  const tabs = [...document.querySelectorAll(".turn-tabs a[href^='?']")];
  const views = [...turn.querySelectorAll(".views a")];

  /** Mark a link of a group as chosen, and set it in the address. */
  const choose = (links, chosen, parameter, usual) => {
    for (const link of links) {
      if (link === chosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    const name = nameIn(chosen, parameter, usual);
    setParameter(parameter, name === usual ? "" : name);
    return name;
  };

  const show = (tab) => {
    turn.dataset.tab = nameIn(tab, "tab", "run");
    panel.scrollTop = 0;
  };

  for (const view of views) {
    view.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      turn.dataset.view = choose(views, view, "view", "graph");
      document.dispatchEvent(new CustomEvent("turn:viewed"));
      tabs[0].click();
    });
  }

  for (const tab of tabs) {
    tab.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      choose(tabs, tab, "tab", "run");
      if (!tab.hasAttribute("hx-get")) show(tab); // the others are shown once their panel is loaded
    });
    tab.addEventListener("htmx:after:swap", () => tab.hasAttribute("aria-current") && show(tab));
  }
});

// --- how long a running turn has taken so far -----------------------------------------------------------------------

onElements("[data-elapsed-since]", (place) => {
  const since = Date.parse(place.dataset.elapsedSince);
  const tick = () => {
    if (!place.isConnected) return clearInterval(timer);
    place.textContent = `${Math.max(0, (Date.now() - since) / 1000).toFixed(1)} s`;
  };
  const timer = setInterval(tick, 100);
});

// --- the graph as PNG ---------------------------------------------------------------------------------------------------

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[download$='.png']");
  if (!link || link.href.startsWith("data:")) return;
  event.preventDefault();
  savePng(link).catch(() => toast("The picture could not be made. Try again.", { failed: true }));
});

async function savePng({ href, download }) {
  const response = await fetch(href); // not by htmx: the SVG is drawn on a canvas, it never becomes part of the page
  if (!response.ok) throw new Error(`status ${response.status}`);
  const source = await response.text();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
  await image.decode();
  const scale = Math.min(2, 8000 / Math.max(image.naturalWidth, image.naturalHeight));
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(image.naturalWidth * scale);
  canvas.height = Math.ceil(image.naturalHeight * scale);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  build("a", { download, href: canvas.toDataURL("image/png") }).click();
}
