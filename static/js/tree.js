// The ARIA tree of the outline: arrows, Home, End, Enter; one stop of the Tab key.
import { onElements } from "./dom.js";

onElements("[role=tree]", (tree) => {
  const items = () => [...tree.querySelectorAll("[role=treeitem]")];
  const visible = () => items().filter((item) => !item.parentElement.closest("[role=treeitem][aria-expanded=false]"));

  const rove = (item, { focus = true } = {}) => {
    for (const other of items()) other.tabIndex = other === item ? 0 : -1;
    if (focus) item?.focus();
  };

  const setUp = () => {
    if (!tree.querySelector("[role=treeitem][tabindex='0']")) rove(items()[0], { focus: false });
  };
  setUp();
  new MutationObserver(setUp).observe(tree, { childList: true, subtree: true });

  tree.addEventListener("click", (event) => {
    const item = event.target.closest("[role=treeitem]");
    if (item) rove(item);
  });

  tree.addEventListener("keydown", (event) => {
    const item = event.target.closest("[role=treeitem]");
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = visible();
    const at = all.indexOf(item);
    const expanded = item.getAttribute("aria-expanded");
    const moves = {
      ArrowDown: () => rove(all[Math.min(at + 1, all.length - 1)]),
      ArrowUp: () => rove(all[Math.max(at - 1, 0)]),
      Home: () => rove(all[0]),
      End: () => rove(all.at(-1)),
      ArrowRight: () => {
        if (expanded === "false") item.setAttribute("aria-expanded", "true");
        else if (expanded === "true") rove(all[at + 1] ?? item);
      },
      ArrowLeft: () => {
        if (expanded === "true") item.setAttribute("aria-expanded", "false");
        else rove(item.parentElement.closest("[role=treeitem]") ?? item);
      },
      Enter: () => (item.querySelector(":scope > .outline__row") ?? item).click(),
      " ": () => (item.querySelector(":scope > .outline__row") ?? item).click(),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
  });
});
