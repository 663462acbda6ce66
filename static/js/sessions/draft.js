// What a mount over an unsaved draft asks: save it, fork it, throw it away, or leave everything as it is [KB-8].
// A link beside the draft asks the same, without a message that waits for the answer; buttons mount the newest revision
// of the base, and take a source out of the draft. What is a form here is sent as one where no script runs.
import { csrfToken, loadFragment } from "../shell/dom.js";
import { toast, toastRefusal } from "../shell/ui.js";

const SILENT_MS = 120_000; // a save writes what the session learned, however much that is
// What changes the answer to "what is not saved, and would the base take it".
const NEWS = ["draft.changed", "units.promoted", "units.evicted", "units.changed", "context.loaded", "kb.mounted", "kb.revised"];

/**
 * Ask, and do what is answered; true once the draft no longer stops the base `kbId` from being mounted.
 * @param {string} [kbId] the base that a waiting message mounts; none where no message waits
 */
export async function settleDraft(dialog, kbId = "") {
  await showNews(dialog, kbId);
  if (dialog.open) return false; // asked twice at once
  const refusal = dialog.querySelector("[role=alert]");
  const done = new AbortController();
  let isSettled = false;

  async function act(event) {
    event.preventDefault();
    const refused = await sendForm(event.target);
    if (!refused) isSettled = true;
    refusal.textContent = dialog.open && refused ? refused.message : "";
    if (!dialog.open) return refused && toastRefusal(refused); // closed meanwhile: nothing is sent
    if (isSettled) dialog.close();
  }

  dialog.addEventListener("submit", act, { signal: done.signal });
  for (const kind of NEWS) document.addEventListener(`live:${kind}`, () => showNews(dialog, kbId), { signal: done.signal });
  refusal.textContent = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      done.abort();
      resolve(isSettled);
    }, { once: true });
  });
}

/** Show what is not saved now; what the reader has ticked and typed stays. */
const showNews = (dialog, kbId) => loadFragment(`${dialog.dataset.savingUrl}?kb_id=${encodeURIComponent(kbId)}`, dialog.querySelector("#saving"), "outerMorph").catch(() => {});

/** Send a form and say what it did; gives the error if it was refused, else null. */
async function sendForm(form) {
  const buttons = (form.closest("dialog") ?? form).querySelectorAll("[type=submit]");
  for (const button of buttons) button.disabled = true;
  const answer = await send(form.action, "POST", new URLSearchParams(new FormData(form)));
  for (const button of buttons) button.disabled = false;
  if (answer.error) return answer.error;
  const { message, ...options } = answer;
  toast(message, options);
  return null;
}

/** Send a request and give what the server says; an `error` if it said no, or nothing. */
async function send(url, method, body) {
  try {
    const headers = { Accept: "application/json", "X-CSRFToken": csrfToken() };
    const response = await fetch(url, { method, body, headers, signal: AbortSignal.timeout(SILENT_MS) });
    const text = await response.text();
    return text ? JSON.parse(text) : {};
  } catch {
    return { error: { message: "No answer came. Look whether it was done, then try again." } };
  }
}

/** The button that was pressed is about to go: what it changed is shown without it. */
const leaveButton = () => document.querySelector("form[data-composer] textarea")?.focus({ preventScroll: true });

document.addEventListener("click", async (event) => {
  if (!event.target.closest?.("[data-settle-draft]")) return;
  event.preventDefault();
  if (await settleDraft(document.getElementById("unsaved-draft"))) leaveButton();
});

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("form[data-act]") || event.defaultPrevented) return; // in the dialog it answers what that asks
  event.preventDefault();
  const refused = await sendForm(form);
  if (refused) toastRefusal(refused);
  else leaveButton();
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-unstage-url]");
  if (!button) return;
  button.disabled = true;
  const { error } = await send(button.dataset.unstageUrl, "DELETE");
  button.disabled = false;
  if (error) toastRefusal(error);
  else leaveButton();
});
