// The chat form: sends a message, passes the response to the live answer, stops a turn.
import { LiveAnswer, scrollToLatest } from "./answer.js";
import { csrfToken, onElements } from "../shell/dom.js";
import { settleDraft } from "./draft.js";
import { dispatch } from "../shell/live.js";
import { keepWritten, tellLoginEnded } from "../shell/login.js";
import { readEvents } from "../shell/sse.js";
import { toast, toastRefusal } from "../shell/ui.js";

const SESSION_KEY = "mrpvm.session";
const NEAR_PX = 80;
const SILENT_MS = 120_000; // during a turn the server sends a sign of life every 15 s
// Fields of the form that go into the request unchanged if they are not empty.
const CHOICES = ["planner_plugin", "seed_detector_plugin", "kb_plugin", "goal_solver_plugin", "kb_id", "model", "grounding"];

/** The session of this tab. */
export const tabSession = {
  get: () => sessionStorage.getItem(SESSION_KEY),
  set: (id) => sessionStorage.setItem(SESSION_KEY, id),
  clear: () => sessionStorage.removeItem(SESSION_KEY),
};

class Composer {
  constructor(form) {
    this.form = form;
    this.text = form.elements.namedItem("content");
    this.answer = new LiveAnswer(document.querySelector("#turn-answer"), document.querySelector(".turn-progress"));
    this.requestId = null;
    this.isRunning = false;
    this.isStopWanted = false;
    this.sent = ""; // the message that was sent last
    this.isAgain = false; // it came from the conversation and not from the field
    this.renewals = 0;
    tabSession.set(form.dataset.sessionId);
    this.tellControls();
    this.controls.addEventListener("toggle", () => this.tellControls());
    this.controlsButton.addEventListener("click", () => this.toggleControls());
    form.addEventListener("change", () => this.countChoices());
    keepWritten(form);
    this.countChoices();
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.text.addEventListener("keydown", (event) => this.onKey(event));
    this.stopButton.addEventListener("click", () => this.stop());
    this.showElsewhere();
    document.addEventListener("htmx:after:swap", () => this.showElsewhere());
    const renewing = ["kb.mounted", "preferences.changed"];
    for (const kind of renewing) document.addEventListener(`live:${kind}`, () => this.renewControls());
  }

  get stopButton() {
    return this.form.elements.namedItem("stop");
  }

  get sendButton() {
    return this.form.querySelector("[type=submit]");
  }

  /** Return whether a turn of another tab or client is running in this session. */
  get isElsewhere() {
    const running = document.querySelector("#messages .exchange.is-running");
    return !this.isRunning && running !== null && running.dataset.requestId !== this.requestId;
  }

  showElsewhere() {
    this.sendButton.disabled = this.isElsewhere;
    this.sendButton.title = this.isElsewhere ? "Another turn is running in this session" : "";
  }

  get controls() {
    return this.form.querySelector(".composer__options");
  }

  get controlsButton() {
    return this.form.querySelector("[aria-controls='composer-controls']");
  }

  toggleControls() {
    this.controls.open = !this.controls.open;
    this.form.scrollIntoView({ block: "nearest" });
  }

  tellControls() {
    this.controlsButton.setAttribute("aria-expanded", String(this.controls.open));
  }

  /** Show beside the closed options how many are set, because they apply to every message. */
  countChoices() {
    const values = new FormData(this.form);
    const count = [...CHOICES, "deliberation_level"].filter((name) => values.get(name)).length;
    const shown = this.form.querySelector(".composer__bar .badge");
    shown.hidden = count === 0;
    shown.textContent = `${count} chosen`;
  }

  /** Update the options after another base was mounted or other plugins are preferred. Choices stay. */
  async renewControls() {
    if (!this.form.querySelector(".composer__options select")) return; // not loaded yet
    const asked = (this.renewals += 1);
    // Not by htmx: only the options are replaced, so that a chosen one that is still offered stays chosen.
    const response = await fetch(this.form.closest("[hx-get]").getAttribute("hx-get")).catch(() => null);
    if (!response?.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    if (asked !== this.renewals) return;
    for (const select of this.form.querySelectorAll(".composer__options select")) {
      const chosen = select.value;
      select.replaceChildren(...(fresh.getElementById(select.id) ?? select).options);
      select.value = chosen;
      if (select.selectedIndex < 0) select.value = ""; // the chosen base is the mounted one now
    }
    this.countChoices();
  }

  onKey(event) {
    // Some browsers report keyCode 229 for a key that an input method handles.
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    if (event.shiftKey) return;
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) this.text.setRangeText("\n", this.text.selectionStart, this.text.selectionEnd, "end");
    else this.form.requestSubmit();
  }

  body(content) {
    const values = new FormData(this.form);
    const body = { session_id: this.form.dataset.sessionId, messages: [{ role: "user", content }], stream: true };
    for (const name of CHOICES) if (values.get(name)) body[name] = values.get(name);
    if (values.get("deliberation_level")) body.deliberation_level = Number(values.get("deliberation_level"));
    return body;
  }

  /** Send the message in the field, or one of the conversation again: what is in the field then stays. */
  async send(again) {
    const content = again ?? this.text.value.trimEnd(); // the first character decides whether it is a command
    if (!content) return;
    if (this.isRunning || this.isElsewhere) return toastRefusal({ message: "Another turn is running in this session.", code: "TURN_IN_PROGRESS" });
    this.sent = content;
    this.isAgain = again !== undefined;
    this.begin();
    const patience = new AbortController();
    const silence = setTimeout(() => patience.abort(), SILENT_MS);
    try {
      // Not by htmx: the API takes JSON, and its answer is a stream that is shown while it comes.
      const response = await fetch(this.form.dataset.chatUrl, {
        method: "POST",
        signal: patience.signal,
        headers: { "Content-Type": "application/json", Accept: "text/event-stream", "X-CSRFToken": csrfToken() },
        body: JSON.stringify(this.body(content)),
      });
      clearTimeout(silence);
      if (response.ok) await this.readAnswer(response);
      else this.fail(await errorOf(response));
    } catch {
      this.lose();
    }
    this.end();
  }

  async readAnswer(response) {
    for await (const { event, data } of readEvents(response, SILENT_MS)) if (this.take(event, data)) return;
    this.lose();
  }

  begin() {
    this.isRunning = true;
    this.isStopWanted = false;
    this.requestId = null;
    if (!this.isAgain) this.text.value = "";
    this.form.setAttribute("aria-busy", "true");
    this.sendButton.hidden = true;
    this.stopButton.hidden = false;
    this.stopButton.disabled = false;
    this.answer.begin(this.sent);
  }

  /** Handle one event of the stream. Return whether it is the last one. */
  take(event, data) {
    this.learnRequest(data.requestId ?? data.request_id);
    if (event === "progress" && !this.isStopWanted) this.answer.hear(data);
    else if (event === "response.delta") this.answer.addDelta(data.delta);
    else if (event === "response.completed") this.complete(data);
    else if (event === "error") this.fail(data.error);
    return event === "response.completed" || event === "error";
  }

  learnRequest(id) {
    if (!id || this.requestId) return;
    this.requestId = id;
    this.answer.belongTo(id);
    if (this.isStopWanted) this.cancel();
  }

  complete(data) {
    this.answer.complete(data.choices[0].message.content);
    // The socket tells the same, but a page without its socket must show the turn too.
    dispatch({ kind: "turn.committed", sequence: null, payload: { request_id: data.request_id } });
  }

  fail(error) {
    this.giveBack();
    if (error.code === "TURN_CANCELLED") return this.tellStopped();
    if (error.code === "UNAUTHENTICATED") return this.awaitLogin();
    if (error.code === "WORKSPACE_DIRTY") this.settle();
    else toastRefusal({ message: "The turn failed.", ...error });
    if (error.code === "FORBIDDEN") dispatch({ kind: "role.changed", sequence: null, payload: {} });
    // The conversation shows the turn if there is one.
    if (this.requestId) this.answer.finish();
    else this.answer.clear();
    dispatch({ kind: "turn.failed", sequence: null, payload: { request_id: this.requestId } });
  }

  /** Put the text of a stopped turn back into the field. The conversation shows that the turn was stopped. */
  tellStopped() {
    this.answer.finish();
    dispatch({ kind: "turn.cancelled", sequence: null, payload: { request_id: this.requestId } });
  }

  /** Handle an ended login. Nothing is fetched again: every fragment would get the login page. */
  awaitLogin() {
    tellLoginEnded();
    this.answer.clear();
  }

  /** Ask the reader what to do with the draft, then send the message. */
  async settle() {
    const isSettled = await settleDraft(document.getElementById("unsaved-draft"), new FormData(this.form).get("kb_id"));
    if (isSettled) this.send(this.isAgain ? this.sent : undefined);
    else this.text.focus({ preventScroll: true });
  }

  /** Handle a stream that ended early. A turn that began goes on at the server, and the page shows it. */
  lose() {
    if (this.requestId) {
      toast("The connection was lost. The turn goes on and will appear here.", { failed: true });
    } else {
      toast(`The server could not be reached.${this.isAgain ? "" : " Your message is in the field again."}`, { failed: true });
      this.giveBack();
    }
    this.answer.clear();
    dispatch({ kind: "turn.failed", sequence: null, payload: { request_id: this.requestId } });
  }

  /** Put the unanswered message back into the field, above what was written since unless the conversation shows it. */
  giveBack() {
    if (this.isAgain) return;
    if (!this.text.value) this.text.value = this.sent;
    else if (!this.requestId) this.text.value = `${this.sent}\n\n${this.text.value}`;
  }

  end() {
    this.isRunning = false;
    this.form.removeAttribute("aria-busy");
    this.sendButton.hidden = false;
    this.stopButton.hidden = true;
    this.answer.rest();
    this.text.focus({ preventScroll: true });
  }

  /** Stop the turn, at once or as soon as its id is known. */
  stop() {
    this.isStopWanted = true;
    this.stopButton.disabled = true;
    this.answer.say("Stopping");
    if (this.requestId) this.cancel();
  }

  async cancel() {
    const names = { __session__: this.form.dataset.sessionId, __request__: this.requestId };
    const url = this.form.dataset.cancelUrl.replace(/__\w+?__/g, (name) => encodeURIComponent(names[name]));
    // Not by htmx: the turn's id comes with the stream, and a turn can be stopped before it is known.
    const response = await fetch(url, { method: "POST", headers: { "X-CSRFToken": csrfToken() } }).catch(() => null);
    // The turn may have ended meanwhile.
    if (response?.ok || response?.status === 409) return;
    this.isStopWanted = false;
    this.stopButton.disabled = false;
    toast("The turn could not be stopped. Try again.", { failed: true });
  }
}

const composers = new WeakMap();

// The composer sends a failed or stopped message again, with its present options.
document.addEventListener("submit", (event) => {
  const again = event.target;
  const form = document.querySelector("form.composer");
  if (again === form || again.action !== form?.action) return;
  event.preventDefault();
  composers.get(form).send(again.elements.namedItem("content").value);
});

async function errorOf(response) {
  try {
    return (await response.json()).error ?? {};
  } catch {
    return { message: `The server answered ${response.status}.` };
  }
}

onElements("form.composer", (form) => composers.set(form, new Composer(form)));

// A conversation opens at its end unless the address names a place in it. It follows the end until the reader scrolls.
onElements(".chat__scroll", (pane) => {
  if (!location.hash && !new URL(location.href).searchParams.has("before")) scrollToLatest();
  let atEnd = true;
  pane.addEventListener("scroll", () => (atEnd = pane.scrollHeight - pane.scrollTop - pane.clientHeight < NEAR_PX), { passive: true });
  const stayAtEnd = () => atEnd && pane.scrollTo({ top: pane.scrollHeight });
  document.addEventListener("htmx:after:swap", stayAtEnd);
  // The composer grows with its options and its text. Keep the latest message in view.
  new ResizeObserver(stayAtEnd).observe(pane);
});

// "New conversation" drops the tab's session; "continue" returns to it.
document.addEventListener("click", (event) => {
  const forgotten = event.target.closest?.("[data-forget-session]")?.dataset.forgetSession;
  if (event.target.closest?.("[data-new-conversation]") || (forgotten && forgotten === tabSession.get())) tabSession.clear();
});

onElements("a#continue", (link) => {
  const id = tabSession.get();
  link.hidden = !id;
  if (id) link.href = link.getAttribute("href").replace("__id__", encodeURIComponent(id));
});
