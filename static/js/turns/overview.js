// Draw the overview's charts from the series in the page. The table below has the same figures as text.
const place = document.querySelector("[data-charts]");

const HEIGHT = 220;

/** Return the page's present colours. */
function colours() {
  const style = getComputedStyle(document.documentElement);
  const probe = document.createElement("span");
  document.body.append(probe);
  const read = (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const found = {
    text: read("--text-2"), line: read("--line"), accent: read("--accent"), warn: read("--warn"), error: read("--error"),
    active: read("--active"), font: `12px ${style.getPropertyValue("--font")}`,
  };
  probe.remove();
  return found;
}

/** Return the indexes of isolated values, or null if all points are drawn anyway. */
function isolated(chart, number, areShown) {
  const values = chart.data[number];
  const alone = (place) => values[place] != null && values[place - 1] == null && values[place + 1] == null;
  return areShown ? null : [...values.keys()].filter(alone);
}

function line(label, stroke, { unit = "", dash } = {}) {
  return { label, stroke, dash, width: 2, points: { size: 5, filter: isolated }, spanGaps: false, value: (_, value) => (value === null ? "–" : `${value.toLocaleString()}${unit}`) };
}

/** Return the series of each chart. */
function charts(series, colour) {
  return {
    turns: {
      lines: [line("Turns", colour.accent), line("Unanswered", colour.warn), line("Failed", colour.error, { dash: [6, 3] })],
      values: [series.turns, series.unanswered, series.failed],
    },
    time: {
      lines: [line("p50", colour.active, { unit: " ms" }), line("p95", colour.warn, { unit: " ms" })],
      values: [series.p50, series.p95],
    },
    tokens: { lines: [line("Tokens", colour.accent)], values: [series.tokens] },
  };
}

/** Return the labels of points in time: hours within a day, otherwise dates. */
function moments(ticks, times) {
  const isOneDay = times.at(-1) - times[0] <= 86_400;
  return ticks.map((tick) => {
    const written = new Date(tick * 1000).toISOString();
    return isOneDay ? written.slice(11, 16) : written.slice(5, 10);
  });
}

const shown = new Map(); // charts by their element

function draw() {
  const series = JSON.parse(place.dataset.charts);
  const colour = colours();
  const axis = { stroke: colour.text, font: colour.font, grid: { stroke: colour.line, width: 1 }, ticks: { stroke: colour.line, width: 1 } };
  const drawn = charts(series, colour);
  for (const target of place.querySelectorAll("[data-chart]")) {
    const { lines, values } = drawn[target.dataset.chart];
    shown.get(target)?.destroy();
    const chart = new uPlot(
      {
        width: target.clientWidth,
        height: HEIGHT,
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
        series: [{ label: "From (UTC)", value: "{YYYY}-{MM}-{DD} {HH}:{mm}" }, ...lines],
        axes: [{ ...axis, values: (_, ticks) => moments(ticks, series.times) }, { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => tick.toLocaleString()) }],
        scales: { y: { range: (_, least, most) => [0, Math.max(most ?? 0, 1) * 1.05] } },
        cursor: { drag: { x: false, y: false } },
      },
      [series.times, ...values],
      target,
    );
    shown.set(target, chart);
  }
}

if (place) {
  draw();
  const resizes = new ResizeObserver(() => shown.forEach((chart, target) => chart.setSize({ width: target.clientWidth, height: HEIGHT })));
  for (const target of shown.keys()) resizes.observe(target);
  // A canvas does not follow a change of theme.
  document.documentElement.addEventListener("themechange", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
