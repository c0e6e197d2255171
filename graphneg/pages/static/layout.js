// Computes a force-directed layout in a worker, so that the page stays responsive.
// It receives {topics: number, edges: [from, to, ...], sides: [-1 | 0 | 1, ...] or null, places: [x, y, ...] or null}.
// It sends {places: Float32Array of x, y, ..., done}, repeatedly until the layout has settled.
"use strict";
for (const part of ["dispatch", "quadtree", "timer", "force"]) importScripts(`vendor/d3/d3-${part}.min.js`);

const MESSAGE_MS = 100; // milliseconds of computation between two messages
const SPREAD = 240; // distance in pixels from the middle to which topics with side -1 (left) or 1 (right) are pulled
let latest = 0;

onmessage = ({ data }) => {
  const request = ++latest;
  const nodes = Array.from({ length: data.topics }, (_, i) => {
    const known = data.places && !Number.isNaN(data.places[2 * i]);
    return known ? { x: data.places[2 * i], y: data.places[2 * i + 1] } : {};
  });
  const links = [];
  for (let i = 0; i < data.edges.length; i += 2)
    if (data.edges[i] !== data.edges[i + 1]) links.push({ source: data.edges[i], target: data.edges[i + 1] });
  const many = data.topics > 300;
  const simulation = d3.forceSimulation(nodes).stop()
    .force("links", d3.forceLink(links).distance(many ? 80 : 130))
    .force("apart", d3.forceManyBody().strength(many ? -110 : -420).distanceMax(many ? 600 : 1200).theta(1.1))
    .force("x", d3.forceX((_, i) => (data.sides ? data.sides[i] * SPREAD : 0)).strength(data.sides ? 0.25 : 0.05))
    .force("y", d3.forceY().strength(0.05));
  if (!many) simulation.force("room", d3.forceCollide(26));
  if (many) simulation.alphaDecay(0.05).alphaMin(0.01);
  if (data.places) simulation.alpha(0.5);
  const step = () => {
    if (request !== latest) return;
    const until = performance.now() + MESSAGE_MS;
    do simulation.tick(); while (performance.now() < until && simulation.alpha() > simulation.alphaMin());
    const places = new Float32Array(2 * nodes.length);
    nodes.forEach((node, i) => { places[2 * i] = node.x; places[2 * i + 1] = node.y; });
    const done = simulation.alpha() <= simulation.alphaMin();
    postMessage({ places, done }, [places.buffer]);
    if (!done) setTimeout(step);
  };
  step();
};
