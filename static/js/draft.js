// What a mount over an unsaved draft asks: save it, fork it, throw it away, or leave everything as it is [KB-8].
// A button beside the draft asks the same, without a message that waits for the answer.
import { csrfToken } from "./dom.js";
import { toast } from "./ui.js";

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

  async function act({ currentTarget: button }) {
    for (const other of buttons) other.disabled = true;
    const refused = await post(button, kbId);
    for (const other of buttons) other.disabled = false;
    refusal.textContent = refused;
    if (!dialog.open) return refused && toast(refused, { failed: true }); // closed meanwhile: nothing is sent
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

/** Do what a button stands for; gives why it was refused, empty if it was not. */
async function post(button, kbId) {
  const body = button.hasAttribute("data-draft-discard") ? { kb_id: kbId, discard_draft: true } : {};
  try {
    const response = await fetch(button.dataset.draftUrl, {
      method: "POST",
      signal: AbortSignal.timeout(SILENT_MS),
      headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": csrfToken() },
      body: JSON.stringify(body),
    });
    return response.ok ? "" : (await response.json()).error.message;
  } catch {
    return "No answer came. Close this and look whether the draft is still unsaved, then send again.";
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-settle-draft]");
  if (!button) return;
  const isSettled = await settleDraft(document.getElementById("unsaved-draft"), button.dataset.settleDraft, { hasMessage: false });
  if (isSettled) document.querySelector("form[data-composer] textarea")?.focus({ preventScroll: true }); // the button goes
});
