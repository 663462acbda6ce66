// Text that was written and not sent is kept for the page's next load, also after a login that ended meanwhile, and after
// the session's end for the next new conversation.
import { drop, keep, kept } from "./kept.js";
import { toast } from "./ui.js";

const WRITTEN = "mrpvm.written:"; // the values of a form, under the address of its page
const UNSENT = `${WRITTEN}unsent`; // the message that was being written when its session ended

let hasEnded = false;
let isLoggingOut = false;

/** Show the message once. Only what is in the composer is kept. */
export function tellLoginEnded() {
  if (hasEnded) return;
  hasEnded = true;
  const linkUrl = `/login?next=${encodeURIComponent(location.pathname + location.search)}`;
  const isKept = written().every((field) => field.form?.matches(".composer"));
  const words = isKept ? "What you wrote is kept." : "Copy what you wrote before you log in.";
  toast(`Your login has expired. ${words}`, { failed: true, linkUrl, linkLabel: "Log in" });
}

/** Store the values of a form with a written message when the page is left, and restore them at its next load. */
export function keepWritten(form) {
  const key = WRITTEN + location.pathname;
  const restored = kept(key) ?? takenOver();
  if (restored && !form.elements.namedItem("content").value) {
    const missing = fill(form, restored);
    if (missing.some(([, value]) => value)) fillOptions(form, missing);
  }
  addEventListener("pagehide", () => {
    const fields = [...new FormData(form)].filter(([name]) => !["csrfmiddlewaretoken", "page_project"].includes(name));
    if (form.elements.namedItem("content").value.trim() && !isLoggingOut) keep(key, fields);
    else drop(key);
  });
  document.addEventListener("htmx:after:swap", function leave() {
    if (form.isConnected) return;
    document.removeEventListener("htmx:after:swap", leave);
    const { value } = form.elements.namedItem("content");
    if (!value.trim()) return;
    keep(UNSENT, [["content", value]]);
    toast("What you wrote is kept for your next new conversation.");
  });
}

/** Return, once and in an empty conversation, what was written when another session ended. */
function takenOver() {
  if (!document.querySelector("#messages .empty")) return null;
  const message = kept(UNSENT);
  drop(UNSENT);
  return message;
}

/** Fill the fields that the form has, and return the others. */
const fill = (form, fields) =>
  fields.filter(([name, value]) => {
    const field = form.elements.namedItem(name);
    if (field) field.value = value;
    return !field;
  });

/** Open the options, which are loaded from the server, and fill them once they are loaded. */
function fillOptions(form, fields) {
  const waiting = new AbortController();
  form.addEventListener(
    "htmx:after:swap",
    () => {
      if (fill(form, fields).length) return;
      waiting.abort();
      form.dispatchEvent(new Event("change"));
    },
    { signal: waiting.signal },
  );
  form.querySelector(".composer__options").open = true;
}

// Who logs in to the same tab next must not see what was written before.
document.addEventListener("submit", (event) => {
  if (new URL(event.target.action, location.href).pathname !== "/logout") return;
  isLoggingOut = true;
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(WRITTEN)) drop(key);
});

/** Return the fields with text that is not sent. */
const written = () => [...document.querySelectorAll("textarea")].filter((field) => field.value !== field.defaultValue);

// A fragment got the login page: ask for a new login at once, unless written text would be lost.
document.addEventListener("htmx:before:response", (event) => {
  const { raw } = event.detail.ctx.response;
  if (!raw.redirected || new URL(raw.url).pathname !== "/login") return;
  event.preventDefault();
  if (written().length) tellLoginEnded();
  else location.reload();
});
