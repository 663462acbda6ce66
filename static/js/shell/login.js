// A login that ends while a page is open: written text is kept, and the new login returns to the page.
import { keep, kept } from "./kept.js";
import { toast } from "./ui.js";

const KEPT = "mrpvm.written"; // the values of a form, for the page after the login

let hasEnded = false;

/** Show the message once. */
export function tellLoginEnded() {
  if (hasEnded) return;
  hasEnded = true;
  const linkUrl = `/login?next=${encodeURIComponent(location.pathname + location.search)}`;
  toast("Your login has expired. What you wrote is kept.", { failed: true, linkUrl, linkLabel: "Log in" });
}

/** Store a form's values when the page is left for the login, and restore them afterwards. */
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

const isWritten = (field) => field.value !== field.defaultValue;

// A fragment got the login page: ask for a new login at once, unless written text would be lost.
document.addEventListener("htmx:before:response", (event) => {
  const { raw } = event.detail.ctx.response;
  if (!raw.redirected || new URL(raw.url).pathname !== "/login") return;
  event.preventDefault();
  if ([...document.querySelectorAll("textarea")].some(isWritten)) tellLoginEnded();
  else location.reload();
});
