// What a tab keeps for the page that it opens next. Damaged data is taken away, and that is said.
import { toast } from "./ui.js";

/** Keep a value under a key. */
export const keep = (key, value) => sessionStorage.setItem(key, JSON.stringify(value));

/** Return the value that is kept under a key, null for none. */
export function kept(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    sessionStorage.removeItem(key);
    toast("What this tab had kept was damaged and has been reset.", { failed: true });
    return null;
  }
}
