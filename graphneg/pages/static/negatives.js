// Handles the sliders on the histograms of scores: shows how many negatives the thresholds keep, and the command that
// applies them.
"use strict";

const section = document.getElementById("thresholds");
const figures = [...(section?.querySelectorAll("figure") || [])].map((figure) => {
  const { score, side, options, model } = figure.dataset;
  return {
    score, side, options, model,
    wrong: Number(figure.dataset.wrong),
    thresholds: figure.dataset.thresholds.split(" ").map(Number),
    lost: figure.dataset.lost.split(" ").map(Number),
    bars: [...figure.querySelectorAll("rect")],
    slider: figure.querySelector("input"),
    output: figure.querySelector("output"),
  };
});
const count = (number) => number.toLocaleString("en");
let asked = 0;

function show(figure) {
  const at = Number(figure.slider.value);
  const threshold = figure.thresholds[at];
  const kept = `${count(figure.wrong - figure.lost[at])} of ${count(figure.wrong)} kept`;
  figure.output.textContent = `${threshold}: ${kept}`;
  figure.slider.setAttribute("aria-valuetext", `${threshold}, ${kept}`);
  const step = (figure.thresholds.length - 1) / figure.bars.length;
  figure.bars.forEach((bar, i) => {
    bar.classList.toggle("lost", figure.side === "least" ? (i + 1) * step <= at : i * step >= at);
  });
}

const isSet = ({ side, slider }) => slider.value !== (side === "least" ? slider.min : slider.max);

// Return the command lines that apply the chosen thresholds. Those on perplexities need a second run of graphneg
// select, which reads the output of the first.
function commands(chosen) {
  const start = section.dataset.command;
  const byModel = (model) => chosen.filter((figure) => figure.options && (figure.model === "--model MODEL") === model);
  const line = (from, figures) => {
    const models = [...new Set(figures.map((figure) => figure.model))].filter(Boolean);
    const options = figures.map((figure) => `${figure.options}${figure.thresholds[figure.slider.value]}`);
    return [from, ...models, ...options].join(" ");
  };
  const [first, second] = [byModel(false), byModel(true)];
  const lines = [];
  if (first.length) lines.push(line(start, first));
  if (second.length) lines.push(line(first.length ? "graphneg select chosen.jsonl -o fitting.jsonl" : start, second));
  for (const figure of chosen.filter((one) => !one.options))
    lines.push(`# graphneg select has no option for ${JSON.stringify(figure.score)}: filter the table by this score instead`);
  return lines.join("\n") || `${start} …`;
}

async function together(chosen) {
  const place = document.getElementById("together");
  const own = ++asked;
  if (chosen.length < 2) { place.textContent = ""; return; }
  const query = new URLSearchParams({ file: section.dataset.file });
  for (const { side, score, thresholds, slider } of chosen) query.set(`${side}.${score}`, thresholds[slider.value]);
  const answer = await fetch(`/negatives/kept?${query}`);
  if (own !== asked) return;
  if (!answer.ok) { place.textContent = "no count: the server does not answer"; return; }
  const { kept, wrong } = await answer.json();
  place.textContent = `together: ${count(kept)} of ${count(wrong)} kept`;
}

for (const figure of figures) {
  figure.slider.disabled = false;
  show(figure);
  figure.slider.addEventListener("input", () => {
    show(figure);
    const chosen = figures.filter(isSet);
    document.getElementById("command").textContent = commands(chosen);
    together(chosen);
  });
}
