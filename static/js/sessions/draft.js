// What a mount over an unsaved draft asks: save it, fork it, throw it away, or leave everything as it is.
// A link beside the draft asks the same without a message that waits for the answer.

/** Ask what becomes of the draft; true once it no longer stops the base `kbId` from being mounted. */
export function settleDraft(dialog, kbId) {
  dialog.querySelector("#waiting-base").value = kbId;
  dialog.dispatchEvent(new Event("draft:asked"));
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "settled"), { once: true });
  });
}

const draftDialog = () => document.getElementById("unsaved-draft");

// The dialog opens once it holds what is asked; news that come after it was closed do not open it again.
document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  const isNews = ctx.sourceEvent?.type.startsWith("live:");
  if (ctx.target !== document.getElementById("saving") || isNews || draftDialog().open) return;
  draftDialog().querySelector("[role=alert]").textContent = "";
  draftDialog().returnValue = "";
  draftDialog().showModal();
});

// A form whose answer is a message was done: its dialog closes, and what it changed is shown without the button.
document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  if (!ctx.sourceElement.matches("form[hx-target='#toasts']") || ctx.response?.status !== 200) return;
  ctx.sourceElement.closest("dialog[open]")?.close("settled");
  document.querySelector("form.composer textarea")?.focus({ preventScroll: true });
});

document.addEventListener("close", ({ target }) => target === draftDialog() && (target.querySelector("#waiting-base").value = ""), true);
