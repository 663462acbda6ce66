// Values that a tab stores for its next page. Damaged data is removed with a message.
import { toast } from "./ui.js";

/** Store a value under a key. */
export const keep = (key, value) => sessionStorage.setItem(key, JSON.stringify(value));

/** Remove what is stored under a key. */
export const drop = (key) => sessionStorage.removeItem(key);

/** Return the value stored under a key, or null. */
export function kept(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    drop(key);
    toast("What this tab had kept was damaged and has been reset.", { failed: true });
    return null;
  }
}
