// A login that has ended while a page is open: what was written stays, and the way to a new login leads back here.
import { keep, kept } from "./kept.js";
import { toast } from "./ui.js";

const KEPT = "mrpvm.written"; // what a form held, for the page as it is opened after the login

let hasEnded = false;

/** Say so once. */
export function tellLoginEnded() {
  if (hasEnded) return;
  hasEnded = true;
  const linkUrl = `/login?next=${encodeURIComponent(location.pathname + location.search)}`;
  toast("Your login has expired. What you wrote is kept.", { failed: true, linkUrl, linkLabel: "Log in" });
}

/** Hand on what a form holds when its page is left for the login, and take it up again. */
export function keepOverLogin(form) {
  const written = kept(KEPT);
  if (written?.address === location.pathname) {
    sessionStorage.removeItem(KEPT);
    const missing = fill(form, written.fields);
    if (missing.some(([, value]) => value)) fillOptions(form, missing);
  }
  addEventListener("pagehide", () => {
    if (!hasEnded) return;
    const fields = [...new FormData(form)].filter(([name]) => name !== "csrfmiddlewaretoken");
    keep(KEPT, { address: location.pathname, fields });
  });
}

/** Fill what the form has of the fields; give those that it has not. */
const fill = (form, fields) =>
  fields.filter(([name, value]) => {
    const field = form.elements.namedItem(name);
    if (field) field.value = value;
    return !field;
  });

/** Open the options, whose fields come from the server, and fill them as soon as they are there. */
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

const isWritten = (field) => field.value !== field.defaultValue;

// A fragment that was answered by the login page: the page asks for a new login at once, unless something would be lost.
document.addEventListener("htmx:before:response", (event) => {
  const { raw } = event.detail.ctx.response;
  if (!raw.redirected || new URL(raw.url).pathname !== "/login") return;
  event.preventDefault();
  if ([...document.querySelectorAll("textarea")].some(isWritten)) tellLoginEnded();
  else location.reload();
});
