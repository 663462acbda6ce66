// The chat form: sends a message, shows progress in one place and the answer in another, stops a turn.
import { build, csrfToken, onElements } from "./dom.js";
import { dispatch } from "./live.js";
import { readEvents } from "./sse.js";
import { toast } from "./ui.js";

const SESSION_KEY = "mrpvm.session";
const NEAR_PX = 80;
// Fields of the form that go into the request as they are, when they hold something [API-10].
const CHOICES = ["planner_plugin", "seed_detector_plugin", "kb_plugin", "goal_solver_plugin", "kb_id", "model"];

/** The session of this tab [UI-15]. */
export const tabSession = {
  get: () => sessionStorage.getItem(SESSION_KEY),
  set: (id) => sessionStorage.setItem(SESSION_KEY, id),
  clear: () => sessionStorage.removeItem(SESSION_KEY),
};

class Composer {
  constructor(form) {
    this.form = form;
    this.text = form.elements.namedItem("content");
    this.progress = document.querySelector("[data-turn-progress]");
    this.answer = document.querySelector("[data-turn-answer]");
    this.sessionId = form.dataset.sessionId || null;
    this.requestId = null;
    this.running = null;
    if (this.sessionId) tabSession.set(this.sessionId);
    this.controlsButton?.addEventListener("click", () => this.toggleControls());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.text.addEventListener("keydown", (event) => this.onKey(event));
    this.stopButton?.addEventListener("click", () => this.stop());
  }

  get stopButton() {
    return this.form.querySelector("[data-stop]");
  }

  get controlsButton() {
    return this.form.querySelector("[data-controls-toggle]");
  }

  toggleControls() {
    const opening = this.controlsButton.getAttribute("aria-expanded") !== "true";
    this.controlsButton.setAttribute("aria-expanded", String(opening));
    this.form.querySelector("[data-controls]").classList.toggle("is-open", opening);
  }

  get sendButton() {
    return this.form.querySelector("[type=submit]");
  }

  onKey(event) {
    // keyCode 229 is how some browsers tell of a key that still belongs to the input method.
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    if (event.shiftKey) return;
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) this.text.setRangeText("\n", this.text.selectionStart, this.text.selectionEnd, "end");
    else this.form.requestSubmit();
  }

  body(content) {
    const values = new FormData(this.form);
    const body = { messages: [{ role: "user", content }], stream: true };
    if (this.sessionId) body.session_id = this.sessionId;
    for (const name of CHOICES) if (values.get(name)) body[name] = values.get(name);
    if (values.get("deliberation_level")) body.deliberation_level = Number(values.get("deliberation_level"));
    return body;
  }

  async send() {
    const content = this.text.value.trimEnd(); // its first character decides whether it is a command
    if (!content || this.running) return;
    this.begin(content);
    let ended = false;
    try {
      const response = await fetch(this.form.dataset.chatUrl ?? "/api/chat/completions", {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "text/event-stream", "X-CSRFToken": csrfToken() },
        body: JSON.stringify(this.body(content)),
        signal: this.running.signal,
      });
      if (!response.ok) {
        this.fail(await errorOf(response), content);
        ended = true;
      } else {
        for await (const { event, data } of readEvents(response)) {
          ended = this.take(event, data, content) || ended;
        }
      }
    } catch (error) {
      // The turn goes on at the server; the live page shows its end.
      if (error.name !== "AbortError") this.fail({ message: "The connection was lost. The turn goes on and will appear here." });
      ended = true;
    }
    if (!ended) this.fail({ message: "The stream ended early. The turn goes on and will appear here." });
    this.end();
  }

  begin(content) {
    this.running = new AbortController();
    this.requestId = null;
    this.text.value = "";
    this.form.setAttribute("aria-busy", "true");
    this.sendButton.hidden = Boolean(this.stopButton);
    if (this.stopButton) {
      this.stopButton.hidden = false;
      this.stopButton.disabled = false;
    }
    this.showProgress("Sending");
    if (this.answer) {
      delete this.answer.dataset.done;
      delete this.answer.dataset.requestId;
      this.answer.replaceChildren(bubble("user", content));
      this.answer.hidden = false;
      scrollToLatest();
    }
  }

  /** Take one event of the stream; true when it is the last one. */
  take(event, data, content) {
    this.requestId ??= data.requestId ?? data.request_id ?? null;
    if (this.requestId && this.answer) this.answer.dataset.requestId = this.requestId;
    if (event === "progress") this.showProgress(data.message ?? data.stage ?? data.type ?? "Working");
    else if (event === "response.meta") this.adoptSession(data.session_id);
    else if (event === "response.delta") this.addDelta(data.delta ?? "");
    else if (event === "response.completed") {
      this.adoptSession(data.session_id);
      this.finish(data);
      return true;
    } else if (event === "error") {
      this.fail(data.error ?? data, content);
      return true;
    }
    return false;
  }

  adoptSession(id) {
    if (!id) return;
    tabSession.set(id);
    this.sessionId ??= id;
  }

  showProgress(words) {
    if (!this.progress) return;
    this.progress.hidden = false;
    const line = this.progress.querySelector("[data-progress-text]") ?? this.progress;
    line.textContent = words;
  }

  addDelta(delta) {
    if (!this.answer) return;
    if (!this.reply) {
      this.reply = bubble("assistant", "");
      this.reply.classList.add("is-streaming");
      this.answer.append(this.reply);
    }
    this.reply.querySelector(".bubble__text").append(delta);
    scrollToLatest();
  }

  finish(data) {
    if (this.answer) this.answer.dataset.done = "";
    // The full text wins over what was put together from deltas [O-1].
    const text = data.choices?.[0]?.message?.content;
    if (text != null && this.answer) {
      if (!this.reply) this.addDelta("");
      this.reply.querySelector(".bubble__text").textContent = text;
    }
    if (!this.form.dataset.sessionId && this.form.dataset.sessionUrl) {
      location.assign(this.form.dataset.sessionUrl.replace("__id__", encodeURIComponent(this.sessionId)));
      return;
    }
    // The socket says the same; a page whose socket is away still shows the turn.
    dispatch({ kind: "turn.committed", sequence: null, payload: { request_id: data.request_id } });
  }

  fail(error, content) {
    const code = error.code ? `${error.code}: ` : "";
    toast(`${code}${error.message ?? "The turn failed."}`, { failed: true });
    // A refused message is given back, so that nothing has to be typed again.
    if (content && !this.text.value) this.text.value = content;
    // What became a turn is shown by the conversation itself, what did not is in the field again.
    if (this.answer) {
      if (this.requestId) this.answer.dataset.done = "";
      else this.answer.replaceChildren();
    }
    dispatch({ kind: "turn.failed", sequence: null, payload: { request_id: error.requestId ?? this.requestId } });
  }

  end() {
    this.running = null;
    this.reply?.classList.remove("is-streaming");
    this.reply = null;
    this.form.removeAttribute("aria-busy");
    this.sendButton.hidden = false;
    if (this.stopButton) this.stopButton.hidden = true;
    if (this.progress) this.progress.hidden = true;
    this.text.focus({ preventScroll: true });
  }

  async stop() {
    const pattern = this.form.dataset.cancelUrl;
    if (!this.running || !this.requestId || !this.sessionId || !pattern) return;
    this.stopButton.disabled = true;
    this.showProgress("Stopping");
    const url = pattern.replace("__session__", encodeURIComponent(this.sessionId)).replace("__request__", encodeURIComponent(this.requestId));
    const response = await fetch(url, { method: "POST", headers: { "X-CSRFToken": csrfToken() } }).catch(() => null);
    if (!response?.ok && this.stopButton) this.stopButton.disabled = false;
  }
}

function bubble(role, text) {
  return build("article", { class: `bubble bubble--${role}` }, build("div", { class: "bubble__text", text }));
}

async function errorOf(response) {
  try {
    const { error } = await response.json();
    return error ?? {};
  } catch {
    return { message: `The server answered ${response.status}.` };
  }
}

onElements("form[data-composer]", (form) => new Composer(form));

// The ended turn replaces what was streamed, as soon as the list holds it; a refresh that was under way may not yet.
document.addEventListener("htmx:after:swap", () => {
  const answer = document.querySelector("[data-turn-answer][data-done][data-request-id]");
  if (!answer?.hasChildNodes()) return;
  if (document.querySelector(`[data-messages] [data-ended][data-request-id="${CSS.escape(answer.dataset.requestId)}"]`)) {
    answer.replaceChildren();
    scrollToLatest();
  }
});

const scrollToLatest = () => document.getElementById("latest")?.scrollIntoView({ block: "end" });

// A conversation opens at its end, unless the address names a place in it, and stays there while the reader does.
onElements("[data-scroll]", (pane) => {
  if (!location.hash && !new URL(location.href).searchParams.has("before")) scrollToLatest();
  let atEnd = true;
  pane.addEventListener("scroll", () => (atEnd = pane.scrollHeight - pane.scrollTop - pane.clientHeight < NEAR_PX), { passive: true });
  document.addEventListener("htmx:after:swap", () => atEnd && pane.scrollTo({ top: pane.scrollHeight }));
});

// "New conversation" forgets the tab's session; "continue" leads back to it.
document.addEventListener("click", (event) => {
  const forgotten = event.target.closest?.("[data-forget-session]")?.dataset.forgetSession;
  if (event.target.closest?.("[data-new-conversation]") || (forgotten && forgotten === tabSession.get())) tabSession.clear();
});

onElements("a[data-continue-url]", (link) => {
  const id = tabSession.get();
  link.hidden = !id;
  if (id) link.href = link.dataset.continueUrl.replace("__id__", encodeURIComponent(id));
});
