// The question before a mount over an unsaved draft: save it, fork it, discard it, or cancel.
// A link beside the draft opens the same dialog without a waiting message.

/** Ask what to do with the draft. Return whether the base `kbId` can be mounted now; not if it cannot be asked. */
export function settleDraft(dialog, kbId) {
  dialog.querySelector("#waiting-base").value = kbId;
  dialog.dispatchEvent(new Event("draft:asked"));
  return new Promise((resolve) => {
    const asked = new AbortController();
    const end = (isSettled) => {
      asked.abort();
      resolve(isSettled);
    };
    const { signal } = asked;
    dialog.addEventListener("close", () => end(dialog.returnValue === "settled"), { signal });
    dialog.addEventListener("htmx:finally:request", () => dialog.open || end(false), { signal }); // it opens with the answer
  });
}

const draftDialog = () => document.getElementById("unsaved-draft");

// The dialog opens once its content is loaded. A later refresh does not open it again.
document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  const isNews = ctx.sourceEvent?.type.startsWith("live:");
  if (ctx.target !== document.getElementById("saving") || isNews || draftDialog().open) return;
  draftDialog().querySelector("[role=alert]").textContent = "";
  draftDialog().returnValue = "";
  draftDialog().showModal();
});

// The same for that link's address, opened from another page.
if (location.hash === "#unsaved-draft" && document.querySelector("#saving h2")) {
  draftDialog().showModal();
  history.replaceState(null, "", location.pathname);
}

// A response with a message means success: the dialog closes, and the page shows the change.
document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  if (!ctx.sourceElement.matches("form[hx-target='#toasts']") || ctx.response?.status !== 200) return;
  ctx.sourceElement.closest("dialog[open]")?.close("settled");
  document.querySelector("form.composer textarea")?.focus({ preventScroll: true });
});

document.addEventListener("close", ({ target }) => target === draftDialog() && (target.querySelector("#waiting-base").value = ""), true);
