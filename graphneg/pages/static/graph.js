// Controls the drawing on the pages of the shift graph. A click on a topic adds its shifts to the drawing. A click on a
// shift shows the utterances in which it occurs.
"use strict";

const GROWN = 300; // a click on a topic adds its shifts, as long as the drawing has at most this number of topics
const canvas = document.querySelector("canvas[data-layout]");
const page = (path, values) => `${path}?${new URLSearchParams(values)}`;
let drawing = null;
let shown = null;

async function parsed(address) {
  const answer = await fetch(address);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

const graphOf = (root) => JSON.parse(root.getElementById("graph").textContent);

// Merge the current graph with a new one, without repeating topics and shifts that are in both.
function merged(before, after) {
  const topics = after.topics.map((topic) => ({ ...topic }));
  const names = new Map(topics.map((topic, i) => [topic.name, i]));
  for (const topic of before.topics) {
    if (names.has(topic.name)) {
      const known = topics[names.get(topic.name)];
      known.amount = Math.max(known.amount, topic.amount);
    } else names.set(topic.name, topics.push({ ...topic }) - 1);
  }
  const shifts = new Map();
  for (const graph of [after, before])
    for (const { from, to, amount } of graph.shifts) {
      const ends = [names.get(graph.topics[from].name), names.get(graph.topics[to].name)];
      if (!shifts.has(ends.join())) shifts.set(ends.join(), { from: ends[0], to: ends[1], amount });
    }
  return { topics, shifts: [...shifts.values()] };
}

async function goTo(address, isBack = false) {
  const found = await parsed(address);
  const lists = found.getElementById("lists");
  if (!lists) { location.assign(address); return; }
  document.getElementById("lists").replaceWith(document.adoptNode(lists));
  document.title = found.title;
  const graph = graphOf(found);
  shown = shown.topics.length + graph.topics.length > GROWN ? graph : merged(shown, graph);
  drawing.show(shown);
  if (!isBack) history.pushState(null, "", address);
}

async function showBehind(address) {
  const found = await parsed(address);
  const place = document.getElementById("behind");
  const part = found.getElementById("pairs") || found.querySelector("[role=alert]");
  if (!place || !part) { location.assign(address); return; }
  place.replaceChildren(document.adoptNode(part));
  place.scrollIntoView({ block: "nearest" });
  place.focus({ preventScroll: true });
}

// Show the page of a topic. A node in the result of a query has no page, so show its properties instead.
function onTopic(topic) {
  if (topic.detail !== undefined) document.getElementById("behind").textContent = topic.detail;
  else if (document.getElementById("lists")) goTo(page("/graph", { topic: topic.name }));
  else location.assign(page("/graph", { topic: topic.name }));
}

function onShift(shift) {
  if (canvas.dataset.topics === "0") return;
  const [focus, perspective] = [shown.topics[shift.from].name, shown.topics[shift.to].name];
  const address = page("/graph/behind", { focus, perspective });
  if (document.getElementById("lists")) showBehind(address);
  else location.assign(address);
}

async function begin() {
  drawing = new GraphDrawing(canvas, { onTopic, onShift });
  canvas.drawing = drawing;
  for (const button of document.querySelectorAll("[data-zoom]"))
    button.addEventListener("click", () => {
      const factor = Number(button.dataset.zoom);
      if (factor) drawing.zoom(factor);
      else drawing.fit();
    });
  if (canvas.dataset.source) {
    const status = document.getElementById("told");
    status.textContent = "loading …";
    const answer = await fetch(canvas.dataset.source);
    if (!answer.ok) {
      const found = new DOMParser().parseFromString(await answer.text(), "text/html");
      status.textContent = found.querySelector("[role=alert]")?.textContent || "the server does not answer";
      return;
    }
    shown = await answer.json();
    status.textContent = `${shown.topics.length.toLocaleString("en")} topics, ${shown.shifts.length.toLocaleString("en")} shifts`;
  } else shown = graphOf(document);
  drawing.show(shown);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("#lists a.topic, #lists a.behind");
  if (!link || !drawing || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  if (link.classList.contains("topic")) goTo(link.href);
  else showBehind(link.href);
});
addEventListener("popstate", () => document.getElementById("lists") && goTo(location.href, true));
if (canvas) begin();
