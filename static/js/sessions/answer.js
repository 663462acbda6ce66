// What a turn of this tab shows while it runs: one line of progress, drafts that have yet to be approved, the answer.
import { build } from "../shell/dom.js";

export class LiveAnswer {
  /**
   * @param {HTMLElement} place where the question and its answer grow
   * @param {HTMLElement} progress the line that overwrites itself
   */
  constructor(place, progress) {
    this.place = place;
    this.progress = progress;
    this.line = progress.querySelector(".turn-progress__line > span");
    this.drafts = new Map();
    this.reply = null;
  }

  /** Show the question and forget what stood here. */
  begin(question) {
    this.clear();
    delete this.place.dataset.done;
    delete this.place.dataset.requestId;
    this.place.append(bubble("user", question));
    this.say("Sending");
    scrollToLatest();
  }

  /** Name the turn, so that the conversation knows when it shows the same. */
  belongTo(requestId) {
    this.place.dataset.requestId = requestId;
  }

  say(words) {
    this.progress.hidden = false;
    this.line.textContent = words;
  }

  /** Take one progress payload. */
  hear(data) {
    this.say(data.message);
    if (data.draft != null) this.addDraft(data);
    if (data.event === "retry") this.setAside(data.frameId, data.pluginId);
  }

  addDraft({ executionId, frameId, pluginId, draft }) {
    if (!this.drafts.has(executionId)) {
      const made = bubble("assistant", "", `Draft of ${pluginId}, not approved yet`);
      made.classList.add("bubble--draft", "is-streaming");
      Object.assign(made.dataset, { frameId, pluginId });
      this.drafts.set(executionId, made);
      this.place.append(made);
    }
    textOf(this.drafts.get(executionId)).append(draft);
    scrollToLatest();
  }

  /** Mark what did not hold: what one plugin of the frame wrote, or everything in it. */
  setAside(frameId, pluginId) {
    for (const draft of this.drafts.values()) {
      if (draft.dataset.frameId !== frameId || (pluginId && draft.dataset.pluginId !== pluginId)) continue;
      draft.classList.add("is-set-aside");
      draft.classList.remove("is-streaming");
      draft.querySelector(".bubble__head").textContent = `Draft of ${draft.dataset.pluginId}, set aside: it did not hold`;
    }
  }

  addDelta(delta) {
    if (!this.reply) {
      this.dropDrafts();
      this.reply = bubble("assistant", "");
      this.reply.classList.add("is-streaming");
      this.place.append(this.reply);
    }
    textOf(this.reply).append(delta);
    scrollToLatest();
  }

  /** Show the whole text, which wins over what was put together from pieces. */
  complete(text) {
    this.addDelta("");
    textOf(this.reply).textContent = text;
    this.finish();
  }

  /** Leave what is shown until the conversation itself shows how the turn ended. */
  finish() {
    this.place.dataset.done = "";
    for (const shown of this.place.querySelectorAll(".is-streaming")) shown.classList.remove("is-streaming");
  }

  dropDrafts() {
    for (const draft of this.drafts.values()) draft.remove();
    this.drafts.clear();
  }

  clear() {
    this.drafts.clear();
    this.reply = null;
    this.place.replaceChildren();
  }

  /** End the line of progress. */
  rest() {
    this.reply = null;
    this.progress.hidden = true;
  }
}

function bubble(role, text, head = "") {
  const heading = head ? [build("div", { class: "bubble__head", text: head })] : [];
  return build("article", { class: `bubble bubble--${role}` }, ...heading, build("div", { class: "bubble__text", text }));
}

const textOf = (shown) => shown.querySelector(".bubble__text");

export const scrollToLatest = () => document.getElementById("latest")?.scrollIntoView({ block: "end" });

// The ended turn replaces what was streamed, as soon as the list holds it; a refresh that was under way may not yet.
document.addEventListener("htmx:after:swap", () => {
  const place = document.querySelector("#turn-answer[data-done][data-request-id]");
  if (!place?.hasChildNodes()) return;
  if (document.querySelector(`#messages .exchange:not(.is-running)[data-request-id="${CSS.escape(place.dataset.requestId)}"]`)) {
    place.replaceChildren();
    scrollToLatest();
  }
});
