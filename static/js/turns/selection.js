// The reader's choices on the turn page. The address holds them: the node (sel), view, tab, and the frames opened and
// closed. Graph, timeline, outline and details listen to `turn:selected` and show the same node.

const read = (name) => new URL(location.href).searchParams.get(name);

export const selectedId = () => read("sel");
export const chosenView = () => read("view") ?? "graph";

/** Set a parameter of the address without a new history entry. An empty value removes it. */
export function setParameter(name, value) {
  const url = new URL(location.href);
  if (value) url.searchParams.set(name, value);
  else url.searchParams.delete(name);
  history.replaceState(history.state, "", url);
}

/**
 * Choose a node, or none.
 * @param {string | null} id
 * @param {{reveal?: boolean}} options  reveal: whether views scroll to the node
 */
export function select(id, { reveal = true } = {}) {
  setParameter("sel", id);
  document.dispatchEvent(new CustomEvent("turn:selected", { detail: { id, reveal } }));
}

/** Record in the address that a frame was opened or closed. */
export function noteToggle(id, isOpening) {
  const url = new URL(location.href);
  const lists = { open: new Set(url.searchParams.getAll("open")), shut: new Set(url.searchParams.getAll("shut")) };
  lists[isOpening ? "open" : "shut"].add(id);
  lists[isOpening ? "shut" : "open"].delete(id);
  writeLists(url, lists);
}

/** Record in the address that every frame is open or closed. */
export function noteAll(isOpening) {
  writeLists(new URL(location.href), { open: isOpening ? ["all"] : [], shut: isOpening ? [] : ["all"] });
}

function writeLists(url, lists) {
  for (const [name, ids] of Object.entries(lists)) {
    url.searchParams.delete(name);
    for (const each of ids) url.searchParams.append(name, each);
  }
  history.replaceState(history.state, "", url);
}

/** Return a function that puts a focus which was lost with replaced content back: on the same node or frame's button. */
export function focusKeeper(place) {
  let stop = null;
  place.addEventListener("focusin", ({ target }) => {
    const name = ["toggle", "id"].find((each) => target.dataset[each]);
    stop = name && `[data-${name}="${CSS.escape(target.dataset[name])}"]`;
  });
  return () => stop && document.activeElement === document.body && place.querySelector(stop)?.focus({ preventScroll: true });
}

// Requests for graph, timeline and details carry the reader's choices.
document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
  if (!ctx.sourceElement.matches(".graph-canvas, #timeline, #detail")) return;
  const shown = new URL(location.href).searchParams;
  for (const name of ["open", "shut", "sel"]) for (const id of shown.getAll(name)) ctx.request.body.append(name, id);
});

// Rows, links and buttons of the whole page choose a node by its id.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-select]");
  if (!link || event.ctrlKey || event.metaKey || !document.querySelector(".turn, .compare")) return;
  event.preventDefault();
  select(link.dataset.select);
});
