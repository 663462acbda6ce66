// What a mount over an unsaved draft asks: save it, fork it, throw it away, or leave everything as it is [KB-8].
// A link beside the draft asks the same, without a message that waits for the answer; buttons mount the newest revision
// of the base, and take a source out of the draft. What is a form here is sent as one where no script runs.
import { csrfToken } from "./dom.js";
import { toastRefusal } from "./ui.js";

const SILENT_MS = 120_000; // a save writes what the session learned, however much that is

/**
 * Ask, and do what is answered; true once the draft no longer stops the base `kbId` from being mounted.
 * @param {{hasMessage?: boolean}} options whether a message waits for the answer
 */
export function settleDraft(dialog, kbId, { hasMessage = true } = {}) {
  dialog.querySelector("[data-draft-message]").hidden = !hasMessage;
  dialog.querySelector("[data-draft-alone]").hidden = hasMessage;
  const buttons = dialog.querySelectorAll("[data-draft-url]");
  const refusal = dialog.querySelector("[role=alert]");
  const done = new AbortController();
  let isSettled = false;

  async function act(event) {
    event.preventDefault();
    const button = event.currentTarget;
    for (const other of buttons) other.disabled = true;
    const body = button.hasAttribute("data-draft-discard") ? { kb_id: kbId, discard_draft: true } : {};
    const refused = await send(button.dataset.draftUrl, body);
    for (const other of buttons) other.disabled = false;
    refusal.textContent = refused?.message ?? "";
    if (!dialog.open) return refused && toastRefusal(refused); // closed meanwhile: nothing is sent
    isSettled = !refused;
    if (isSettled) dialog.close();
  }

  for (const button of buttons) button.addEventListener("click", act, { signal: done.signal });
  refusal.textContent = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      done.abort();
      resolve(isSettled);
    }, { once: true });
  });
}

/** Do what a button stands for; gives the error if it was refused, else null. */
async function send(url, body, method = "POST") {
  try {
    const response = await fetch(url, {
      method,
      signal: AbortSignal.timeout(SILENT_MS),
      headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": csrfToken() },
      body: body && JSON.stringify(body),
    });
    return response.ok ? null : (await response.json()).error;
  } catch {
    return { message: "No answer came. Look whether the draft is still unsaved, then try again." };
  }
}

/** The button that was pressed is about to go: what it changed is shown without it. */
const leaveButton = () => document.querySelector("form[data-composer] textarea")?.focus({ preventScroll: true });

document.addEventListener("click", async (event) => {
  const link = event.target.closest?.("[data-settle-draft]");
  if (!link) return;
  event.preventDefault();
  const dialog = document.getElementById("unsaved-draft");
  if (await settleDraft(dialog, link.dataset.settleDraft, { hasMessage: false })) leaveButton();
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-mount-url], [data-unstage-url]");
  if (!button) return;
  event.preventDefault();
  const { mountUrl, kbId, unstageUrl } = button.dataset;
  button.disabled = true;
  const refused = await (mountUrl ? send(mountUrl, { kb_id: kbId }) : send(unstageUrl, null, "DELETE"));
  button.disabled = false;
  if (refused) toastRefusal(refused);
  else leaveButton();
});
