// Upload of dropped or chosen files as sources, one after the other, with the progress of each.
import { csrfToken, onElements } from "../shell/dom.js";
import { keep, kept } from "../shell/kept.js";
import { parseFrame } from "../shell/sse.js";
import { toast } from "../shell/ui.js";

const KEPT = "mrpvm.uploaded"; // the outcome of the files, for the next page

const SILENT_MS = 600_000; // longer than a source may wait for others; the server sends signs of life

const STAGES = {
  reading: (name, { done, of }) => `${name}: reading part ${done + 1} of ${of}`,
  storing: (name, { done, of }) => `${name}: storing unit ${done} of ${of}`,
};

class Uploads {
  constructor(form) {
    this.form = form;
    this.dialog = form.closest("dialog"); // the page with the dialog is live and is not loaded again
    this.input = form.querySelector("input[type=file]");
    this.button = form.querySelector("button[type=submit]");
    this.bar = form.querySelector("progress");
    this.status = form.querySelector("[role=status]");
    this.place = form.querySelector("select"); // absent if the base has no source
    this.proposed = "";
    this.input.multiple = true; // the form without scripts takes one file
    this.input.addEventListener("change", () => this.propose(this.input.files));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send([...this.input.files]);
    });
    for (const name of ["dragenter", "dragover"]) form.addEventListener(name, (event) => this.drag(event));
    for (const name of ["dragleave", "drop"]) form.addEventListener(name, () => form.classList.remove("is-target"));
    form.addEventListener("drop", (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      this.drop(event.dataTransfer.files);
    });
    this.dialog?.addEventListener("close", () => {
      if (this.button.disabled) return; // files are still being sent
      this.calm();
      this.say("");
    });
    this.tell();
  }

  /** Propose that a file replaces the source of the same name; return whether there is one. The reader decides. */
  propose(files) {
    if (!this.place) return false;
    const names = [...files].map((file) => file.name);
    const known = names.length === 1 && [...this.place.options].find((option) => option.dataset.name === names[0]);
    if (known) this.place.value = this.proposed = known.value;
    else if (this.place.value === this.proposed) this.place.value = ""; // the reader's own choice stays
    return Boolean(known);
  }

  /** Send dropped files at once. A file that may replace a source waits for the button, like a chosen one. */
  drop(files) {
    if (this.button.disabled) return;
    if (files.length !== 1 || !this.propose(files)) return this.send([...files]);
    this.input.files = files;
    this.calm();
    this.say(`There is a source “${files[0].name}” already. Look whether this one takes its place, then press “Add source”.`);
    this.button.focus();
  }

  drag(event) {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault(); // also during an upload, otherwise the browser opens the dropped file
    if (!this.button.disabled) this.form.classList.add("is-target");
  }

  /** Send all files. Load the page again if at least one was accepted. */
  async send(files) {
    if (this.button.disabled || !files.length) return;
    const place = this.place?.selectedOptions[0];
    const replaced = place?.value ? place.dataset.name : "";
    if (replaced && files.length > 1) return this.fail("Only one file can take the place of a source.");
    this.begin();
    const refused = [];
    const added = [];
    for (const file of files) {
      const { refusal, unitCount, unchanged } = await this.sendOne(file);
      if (refusal) refused.push(`${file.name}: ${refusal}`);
      else added.push({ name: file.name, unitCount, unchanged });
    }
    if (this.dialog) return this.finish(added, refused);
    if (!added.length) return this.fail(refused.join(" "));
    const { upload: address, units } = this.form.dataset;
    keep(KEPT, { address, units: Number(units), added, refused, replaced });
    location.assign(location.pathname);
  }

  /** Reset the dialog, and close it unless a file was refused. */
  finish(added, refused) {
    this.form.reset();
    this.disable(false);
    this.form.classList.remove("is-busy");
    this.say("");
    if (added.length) toast(outcome({ added, replaced: "" }, added.reduce((sum, file) => sum + file.unitCount, 0)));
    if (!refused.length) return this.dialog.close();
    if (!this.dialog.open) return toast(refused.join(" "), { failed: true });
    this.fail(refused.join(" "));
  }

  /** Show the outcome of the files that the previous page sent. */
  tell() {
    const sent = kept(KEPT);
    sessionStorage.removeItem(KEPT);
    const { upload: address, units } = this.form.dataset;
    if (sent?.address !== address) return;
    toast(outcome(sent, Number(units) - sent.units));
    if (sent.refused.length) this.fail(sent.refused.join(" "));
  }

  begin() {
    this.disable(true);
    this.calm();
    this.form.classList.add("is-busy");
  }

  calm() {
    this.input.removeAttribute("aria-invalid");
    this.status.classList.remove("field__error");
  }

  disable(isBusy) {
    for (const control of [this.button, this.input, this.place]) if (control) control.disabled = isBusy;
  }

  fail(words) {
    this.disable(false);
    this.input.setAttribute("aria-invalid", "true");
    this.status.classList.add("field__error");
    this.form.classList.remove("is-busy");
    this.say(words);
    this.input.focus();
  }

  say(words) {
    this.status.textContent = words;
  }

  /** Send one file. Return why it was refused, or how many units it gave. */
  sendOne(file) {
    if (!file.size) return Promise.resolve({ refusal: "the file is empty." });
    const request = new XMLHttpRequest(); // fetch does not report the progress of an upload
    const body = new FormData();
    body.append("file", file);
    if (this.place?.value) body.append("source_id", this.place.value);
    request.open("POST", this.form.dataset.upload);
    request.setRequestHeader("X-CSRFToken", csrfToken());
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      this.bar.value = total ? loaded / total : 0;
      this.say(`${file.name}: ${kilobytes(loaded)} of ${kilobytes(total)} kB sent`);
    });
    request.upload.addEventListener("load", () => {
      this.bar.removeAttribute("value"); // the total is not known yet
      this.say(`${file.name}: sent, waiting to be read`);
    });
    return new Promise((resolve) => {
      let heard = 0;
      let last = null;
      const refuse = (refusal) => resolve({ refusal });
      const hear = () => {
        const frames = request.responseText.slice(heard).split("\n\n");
        heard += request.responseText.length - heard - frames.pop().length;
        for (const frame of frames.map(parseFrame)) {
          if (frame?.event === "progress") this.show(file.name, frame.data);
          if (frame) last = frame;
        }
      };
      request.addEventListener("progress", () => request.status === 200 && hear());
      request.addEventListener("load", () => {
        if (request.status !== 200) return refuse(refusalOf(request));
        hear();
        if (last?.event === "response.completed") resolve(last.data);
        else refuse(last?.data.error?.message ?? "The server broke off.");
      });
      request.addEventListener("error", () => refuse("The server cannot be reached."));
      request.addEventListener("abort", () => refuse("The server fell silent; it may still store the file."));
      let silence;
      const listen = () => {
        clearTimeout(silence);
        silence = setTimeout(() => request.abort(), SILENT_MS);
      };
      for (const source of [request, request.upload]) source.addEventListener("progress", listen);
      request.addEventListener("loadend", () => clearTimeout(silence));
      listen();
      request.send(body);
    });
  }

  show(name, data) {
    this.bar.value = data.of ? data.done / data.of : 0;
    this.say(STAGES[data.stage]?.(name, data) ?? name);
  }
}

/** Return the message about the added files. `gained` is how many units the base gained. */
function outcome({ added, replaced }, gained) {
  const quoted = (files) => files.map((file) => `“${file.name}”`).join(", ");
  if (added.every((file) => file.unchanged)) return `${quoted(added)} ${added.length === 1 ? "is" : "are"} already there, unchanged.`;
  const without = added.filter((file) => !file.unitCount);
  let words = added.length === 1 ? `${quoted(added)} was added` : `${added.length} files were added`;
  if (replaced) words = added[0].name === replaced ? `${quoted(added)} was replaced by the new file` : `${quoted(added)} took the place of “${replaced}”`;
  else if (gained > 0) words += `: ${gained} new unit${gained === 1 ? "" : "s"}`;
  else if (without.length < added.length) words += "; the base had all of that";
  if (!without.length) return `${words}.`;
  const [who, them] = [added.length === 1 ? "it" : quoted(without), without.length === 1 ? "it" : "them"];
  return `${words}; ${who} gave no unit: nothing in ${them} could be read as a statement.`;
}

function refusalOf(request) {
  try {
    return JSON.parse(request.responseText).error.message;
  } catch {
    return `The server answered ${request.status}.`;
  }
}

const kilobytes = (bytes) => Math.ceil(bytes / 1024).toLocaleString("en");

onElements("form[data-upload]", (form) => new Uploads(form));
