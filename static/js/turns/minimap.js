// A small view of the whole graph if it does not fit, with the visible part outlined. A press moves that part.

const SVG = "http://www.w3.org/2000/svg";
const WIDEST = 180;
const TALLEST = 120;

const draw = (name, attributes) => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};

export class Minimap {
  /** @param {(x: number, y: number) => void} moveTo  centres a point of the graph */
  constructor(canvas, moveTo) {
    this.canvas = canvas;
    this.moveTo = moveTo;
    this.svg = draw("svg", { class: "minimap", "aria-hidden": "true" });
    this.svg.addEventListener("pointerdown", (event) => this.onPointer(event));
    this.svg.addEventListener("pointermove", (event) => event.buttons === 1 && this.onPointer(event));
  }

  /** Draw the boxes of a graph again. */
  adopt(graph, size) {
    this.size = size;
    const scale = Math.min(WIDEST / size.width, TALLEST / size.height);
    this.svg.setAttribute("width", Math.max(size.width * scale, 24));
    this.svg.setAttribute("height", Math.max(size.height * scale, 24));
    this.svg.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
    const boxes = [...graph.querySelectorAll(".frame-ground, .node-box")].map((box) => {
      const tone = box.closest("[class*='status-']")?.getAttribute("class").match(/status-\w+/)?.[0] ?? "";
      const place = Object.fromEntries(["x", "y", "width", "height"].map((name) => [name, box.getAttribute(name)]));
      return draw("rect", { class: `${box.classList[0] === "node-box" ? "minimap__node" : "minimap__frame"} ${tone}`, ...place });
    });
    this.window = draw("rect", { class: "minimap__window" });
    this.svg.replaceChildren(...boxes, this.window);
  }

  /** Outline the visible part. Hide the map while everything is visible. */
  update({ x, y, zoom }) {
    const { clientWidth, clientHeight } = this.canvas;
    const shown = { x: -x / zoom, y: -y / zoom, width: clientWidth / zoom, height: clientHeight / zoom };
    const fits = shown.x <= 1 && shown.y <= 1 && shown.x + shown.width >= this.size.width - 1 && shown.y + shown.height >= this.size.height - 1;
    if (fits) return this.svg.remove();
    for (const [name, value] of Object.entries(shown)) this.window.setAttribute(name, value);
    if (!this.svg.isConnected) this.canvas.append(this.svg);
  }

  onPointer(event) {
    event.preventDefault();
    const frame = this.svg.getBoundingClientRect();
    this.moveTo(((event.clientX - frame.left) / frame.width) * this.size.width, ((event.clientY - frame.top) / frame.height) * this.size.height);
  }
}
