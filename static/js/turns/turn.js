// The turn page's own switches: which view, which tab; and the graph as a picture to keep.
import { build, loadFragment, onElements } from "../shell/dom.js";
import { setParameter } from "./selection.js";
import { toast } from "../shell/ui.js";

// --- views and tabs: links that work without scripts, and do not leave the page with them ----------------------------

onElements(".turn", (turn) => {
  const panel = document.getElementById("turn-panel");
  const mark = (name, chosen) => {
    for (const link of document.querySelectorAll(`[data-${name}-link]`)) {
      if (link.dataset[`${name}Link`] === chosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };

  const view = (chosen) => {
    turn.dataset.view = chosen;
    mark("view", chosen);
    setParameter("view", chosen === "graph" ? "" : chosen);
    document.dispatchEvent(new CustomEvent("turn:viewed"));
  };

  const tab = async (link) => {
    const chosen = link.dataset.tabLink;
    mark("tab", chosen);
    setParameter("tab", chosen === "run" ? "" : chosen);
    if (link.dataset.tabUrl && panel.dataset.tab !== chosen) await loadFragment(link.dataset.tabUrl, panel);
    panel.dataset.tab = chosen;
    turn.dataset.tab = chosen;
    panel.scrollTop = 0;
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-view-link], [data-tab-link]");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (link.dataset.viewLink) {
      view(link.dataset.viewLink);
      if (turn.dataset.tab !== "run") tab(document.querySelector("[data-tab-link='run']"));
    } else tab(link);
  });
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
  const response = await fetch(href);
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
