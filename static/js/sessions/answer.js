// What a running turn of this tab shows: one line of progress, drafts that validators have not approved, the answer.
import { build } from "../shell/dom.js";

export class LiveAnswer {
  /**
   * @param {HTMLElement} place the element for the question and its answer
   * @param {HTMLElement} progress the line of progress
   */
  constructor(place, progress) {
    this.place = place;
    this.progress = progress;
    this.line = progress.querySelector(".turn-progress__line > span");
    this.drafts = new Map();
    this.reply = null;
  }

  /** Show the question in place of the previous content. */
  begin(question) {
    this.clear();
    delete this.place.dataset.done;
    delete this.place.dataset.requestId;
    this.place.append(bubble("user", question));
    this.say("Sending");
    scrollToLatest();
  }

  /** Set the turn's id, by which the conversation recognises the turn. */
  belongTo(requestId) {
    this.place.dataset.requestId = requestId;
  }

  say(words) {
    this.progress.hidden = false;
    this.line.textContent = words;
  }

  /** Show one progress payload. */
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

  /** Mark as rejected what one plugin of the frame wrote, or everything in the frame. */
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

  /** Show the whole text in place of the streamed pieces. */
  complete(text) {
    this.addDelta("");
    textOf(this.reply).textContent = text;
    this.finish();
  }

  /** Keep what is shown until the conversation shows the ended turn. */
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

// The ended turn replaces the streamed text once the list contains it. A refresh that began earlier may lack it.
document.addEventListener("htmx:after:swap", () => {
  const place = document.querySelector("#turn-answer[data-done][data-request-id]");
  if (!place?.hasChildNodes()) return;
  if (document.querySelector(`#messages .exchange:not(.is-running)[data-request-id="${CSS.escape(place.dataset.requestId)}"]`)) {
    place.replaceChildren();
    scrollToLatest();
  }
});
