// Draws a graph on a canvas that can be panned and zoomed, and reports clicks on topics and shifts.
// A graph is {topics: [{name, amount, side?}], shifts: [{from, to, amount}]}, where from and to are indices of topics.
"use strict";

const FINE = 400; // maximum number of shifts that are drawn with arrowheads; if there are more, all are drawn as plain lines
const ROUGH = 2500; // maximum number of shifts that are drawn while the layout settles; the most frequent are drawn
const BESIDE = 0.25; // margin of the cached picture on each side, as a share of the view
const STILL_MS = 140; // milliseconds without movement after which the cached picture is drawn again
const LABELS = 120; // maximum number of names that are drawn
const ROOMY = 40; // maximum number of topics for which all names are drawn, even if they overlap
const REACH = 8; // maximum distance in pixels between a click and the topic or shift that it hits

class GraphDrawing {
  constructor(canvas, { onTopic, onShift }) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.onTopic = onTopic;
    this.onShift = onShift;
    this.graph = { topics: [], shifts: [] };
    this.places = new Float32Array(0);
    this.view = { x: 0, y: 0, scale: 1 };
    this.fitted = true; // true until the visitor moves the view: the view then always shows the whole graph
    this.frames = []; // drawing times of the last frames, in milliseconds
    this.worker = new Worker(canvas.dataset.layout);
    this.worker.onmessage = ({ data }) => this.#placed(data);
    new ResizeObserver(() => this.#resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#paint());
    this.#listen();
    this.#paint();
  }

  // Show a graph. Topics that were also in the previous graph stay near their positions.
  show(graph) {
    const known = new Map(this.graph.topics.map((topic, i) => [topic.name, i]));
    const places = new Float32Array(2 * graph.topics.length).fill(NaN);
    graph.topics.forEach((topic, i) => {
      const before = known.get(topic.name);
      if (before !== undefined) places.set(this.places.subarray(2 * before, 2 * before + 2), 2 * i);
    });
    const continued = known.size > 0 && this.places.length > 0;
    this.graph = graph;
    this.sizes = graph.topics.map((topic) => 4 + 1.6 * Math.log2(1 + topic.amount));
    this.byAmount = graph.topics.map((_, i) => i).sort((a, b) => this.sizes[b] - this.sizes[a]);
    this.shifts = [...graph.shifts].sort((a, b) => b.amount - a.amount);
    this.most = Math.max(5, ...this.shifts.slice(0, 1).map((shift) => shift.amount));
    this.pairs = new Set(this.shifts.map((shift) => `${shift.from} ${shift.to}`));
    this.settled = false;
    this.picture = null;
    // In a drawing of a single topic, the topics from which replies move to it have the side -1.
    const sided = graph.topics.some((topic) => topic.side === -1);
    this.worker.postMessage({
      topics: graph.topics.length,
      edges: graph.shifts.flatMap((shift) => [shift.from, shift.to]),
      sides: sided ? graph.topics.map((topic) => topic.side || 0) : null,
      places: continued ? places : null,
    });
  }

  #placed({ places, done }) {
    if (places.length !== 2 * this.graph.topics.length) return; // ignore a late message about the previous graph
    this.places = places;
    this.settled = done;
    this.canvas.dataset.settled = String(done);
    if (this.fitted) this.fit();
    this.#draw();
  }

  // Move and scale the view to show the whole graph.
  fit() {
    this.fitted = true;
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < this.places.length; i += 2) {
      left = Math.min(left, this.places[i]); right = Math.max(right, this.places[i]);
      top = Math.min(top, this.places[i + 1]); bottom = Math.max(bottom, this.places[i + 1]);
    }
    if (left > right) return;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const scale = Math.min(1.6, (width - 120) / Math.max(1, right - left), (height - 70) / Math.max(1, bottom - top));
    this.view.scale = Math.max(0.02, scale);
    this.view.x = width / 2 - (this.view.scale * (left + right)) / 2;
    this.view.y = height / 2 - (this.view.scale * (top + bottom)) / 2;
    this.#draw();
  }

  move(dx, dy) {
    this.fitted = false;
    this.view.x += dx;
    this.view.y += dy;
    this.#moved();
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    this.fitted = false;
    const scale = Math.min(8, Math.max(0.02, this.view.scale * factor));
    this.view.x = x - ((x - this.view.x) * scale) / this.view.scale;
    this.view.y = y - ((y - this.view.y) * scale) / this.view.scale;
    this.view.scale = scale;
    this.#moved();
  }

  #moved() {
    this.moving = true;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => { this.moving = false; this.#draw(); }, STILL_MS);
    this.#draw();
  }

  #resize() {
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(this.canvas.clientWidth * ratio);
    this.canvas.height = Math.round(this.canvas.clientHeight * ratio);
    if (this.fitted) this.fit();
    this.#draw();
  }

  #paint() {
    const style = getComputedStyle(this.canvas);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.colours = { "-1": colour("--from"), 0: colour("--here"), 1: colour("--to"), line: colour("--line"),
      chosen: colour("--chosen"), text: style.color, ground: colour("--ground") };
    this.#draw();
  }

  #draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const began = performance.now();
      this.#frame();
      this.frames.push(performance.now() - began);
      if (this.frames.length > 240) this.frames.shift();
    });
  }

  #frame() {
    const { context, canvas, view } = this;
    const ratio = devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    if (!this.places.length || !this.shifts) return;
    if (this.#isFine || !this.settled) {
      this.#render(context, view, canvas.clientWidth, canvas.clientHeight);
      return;
    }
    // Drawing many shifts is slow. So draw a picture that is larger than the view once, and while the visitor moves
    // the view, only move and scale this picture.
    if (!this.moving || !this.picture) this.#takePicture(ratio);
    const { image, of, margin } = this.picture;
    const scale = view.scale / of.scale;
    const [x, y] = [view.x - scale * (of.x + margin.x), view.y - scale * (of.y + margin.y)];
    context.drawImage(image, x, y, (scale * image.width) / ratio, (scale * image.height) / ratio);
  }

  #takePicture(ratio) {
    const { canvas, view } = this;
    const margin = { x: BESIDE * canvas.clientWidth, y: BESIDE * canvas.clientHeight };
    const [width, height] = [canvas.clientWidth + 2 * margin.x, canvas.clientHeight + 2 * margin.y];
    const image = this.picture?.image || document.createElement("canvas");
    image.width = Math.round(width * ratio);
    image.height = Math.round(height * ratio);
    const context = image.getContext("2d");
    context.scale(ratio, ratio);
    this.#render(context, { x: view.x + margin.x, y: view.y + margin.y, scale: view.scale }, width, height);
    this.picture = { image, of: { ...view }, margin };
  }

  #render(context, view, width, height) {
    const at = (i) => [view.x + view.scale * this.places[2 * i], view.y + view.scale * this.places[2 * i + 1]];
    const seen = ([x, y]) => x > -40 && y > -40 && x < width + 40 && y < height + 40;
    this.pen = context;
    if (this.#isFine) for (const shift of this.shifts) this.#arrow(shift, at);
    else this.#lines(at, seen);
    this.#dots(at, seen);
    this.#labels(at, seen);
  }

  // Draw many shifts as lines. There are only three widths, depending on the counts, so that each width needs only one
  // call of stroke().
  #lines(at, seen) {
    const context = this.pen;
    const shown = this.#isBusy ? this.shifts.slice(0, ROUGH) : this.shifts;
    context.strokeStyle = this.colours.line;
    for (const [least, most, width] of [[0, 0.05, 0.5], [0.05, 0.3, 1], [0.3, Infinity, 2.2]]) {
      context.beginPath();
      for (const { from, to, amount } of shown) {
        if (amount / this.most < least || amount / this.most >= most || from === to) continue;
        const [start, end] = [at(from), at(to)];
        if (!seen(start) && !seen(end)) continue;
        context.moveTo(start[0], start[1]);
        context.lineTo(end[0], end[1]);
      }
      context.lineWidth = width;
      context.globalAlpha = width < 1 ? 0.4 : 1;
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  #arrow(shift, at) {
    const context = this.pen;
    const chosen = this.chosen && this.chosen.from === shift.from && this.chosen.to === shift.to;
    context.strokeStyle = context.fillStyle = chosen ? this.colours.chosen : this.colours.line;
    context.lineWidth = 1 + (5 * shift.amount) / this.most;
    const curve = this.#curve(shift, at);
    context.beginPath();
    context.moveTo(curve.x, curve.y);
    context.bezierCurveTo(curve.ax, curve.ay, curve.bx, curve.by, curve.tx, curve.ty);
    context.stroke();
    const angle = Math.atan2(curve.ty - curve.by, curve.tx - curve.bx);
    const head = 6 + context.lineWidth;
    context.beginPath();
    context.moveTo(curve.tx + 3 * Math.cos(angle), curve.ty + 3 * Math.sin(angle));
    for (const side of [-1, 1])
      context.lineTo(curve.tx - head * Math.cos(angle + side * 0.45), curve.ty - head * Math.sin(angle + side * 0.45));
    context.fill();
    if (this.shifts.length <= 80) this.#text(shift.label || shift.amount.toLocaleString("en"), curve.mx, curve.my, "11px");
  }

  // Return a cubic curve from the edge of one dot to the edge of the other. It is bent if there is a shift in the
  // opposite direction. A shift from a topic to itself is a loop above the topic.
  #curve({ from, to }, at) {
    const [x, y] = at(from);
    const [tx, ty] = at(to);
    if (from === to) {
      const top = y - 46, out = 30, rim = this.sizes[from] * 0.7;
      return { x: x - rim, y: y - rim, ax: x - out, ay: top, bx: x + out, by: top, tx: x + rim, ty: y - rim, mx: x, my: y - 40 };
    }
    const length = Math.hypot(tx - x, ty - y) || 1;
    const [ux, uy] = [(tx - x) / length, (ty - y) / length];
    const bend = this.pairs.has(`${to} ${from}`) ? Math.min(24, length / 5) : 0;
    const [sx, sy] = [x + ux * this.sizes[from], y + uy * this.sizes[from]];
    const [ex, ey] = [tx - ux * (this.sizes[to] + 4), ty - uy * (this.sizes[to] + 4)];
    const [cx, cy] = [-uy * bend, ux * bend];
    return { x: sx, y: sy, ax: sx + (ex - sx) / 3 + cx, ay: sy + (ey - sy) / 3 + cy, bx: sx + (2 * (ex - sx)) / 3 + cx,
      by: sy + (2 * (ey - sy)) / 3 + cy, tx: ex, ty: ey, mx: (sx + ex) / 2 + cx * 0.75, my: (sy + ey) / 2 + cy * 0.75 };
  }

  #dots(at, seen) {
    const { pen: context, graph } = this;
    const shrink = Math.min(1, Math.max(0.2, this.view.scale * (graph.topics.length > 1000 ? 0.8 : 1.4)));
    const isRough = this.#isBusy;
    for (const side of [-1, 0, 1]) {
      context.fillStyle = this.colours[side];
      context.beginPath();
      graph.topics.forEach((topic, i) => {
        const place = at(i);
        if ((topic.side || 0) !== side || !seen(place)) return;
        const size = graph.topics.length <= ROOMY ? this.sizes[i] : this.sizes[i] * shrink;
        if (isRough && size < 5) {
          context.rect(place[0] - size, place[1] - size, 2 * size, 2 * size);
          return;
        }
        context.moveTo(place[0] + size, place[1]);
        context.arc(place[0], place[1], size, 0, 2 * Math.PI);
      });
      context.fill();
    }
  }

  // Whether only the most frequent shifts are drawn, because there are many and the layout has not settled.
  get #isBusy() { return !this.#isFine && !this.settled; }

  get #isFine() { return this.shifts.length <= FINE; }

  // Draw the names of the largest topics in view, except names that would overlap.
  #labels(at, seen) {
    const taken = new Set();
    let left = this.#isBusy ? LABELS / 3 : LABELS;
    for (const i of this.byAmount) {
      const place = at(i);
      if (!seen(place)) continue;
      const name = this.graph.topics[i].name;
      const y = place[1] + (this.graph.topics.length <= FINE ? this.sizes[i] + 11 : 0);
      const wide = Math.ceil((7 * Math.min(name.length, 30)) / 24);
      const cells = [];
      for (let cell = -wide; cell <= wide; cell++) cells.push(`${Math.round(place[0] / 12) + cell} ${Math.round(y / 16)}`);
      if (this.graph.topics.length > ROOMY && cells.some((cell) => taken.has(cell))) continue;
      cells.forEach((cell) => taken.add(cell));
      this.#text(name.length > 30 ? `${name.slice(0, 29)}…` : name, place[0], y, i === this.byAmount[0] ? "bold 14px" : "13px");
      if (--left === 0) return;
    }
  }

  #text(text, x, y, font) {
    const context = this.pen;
    context.font = `${font} system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 3.5;
    context.strokeStyle = this.colours.ground;
    context.strokeText(text, x, y);
    context.fillStyle = this.colours.text;
    context.fillText(text, x, y);
  }

  // Return the topic or shift at a position of the canvas: {topic}, {shift} or nothing.
  find(x, y) {
    const at = (i) => [this.view.x + this.view.scale * this.places[2 * i], this.view.y + this.view.scale * this.places[2 * i + 1]];
    let [best, nearest] = [null, Infinity];
    for (let i = 0; i < this.graph.topics.length; i++) {
      const [tx, ty] = at(i);
      const away = Math.hypot(tx - x, ty - y) - this.sizes[i];
      if (away < REACH && away < nearest) [best, nearest] = [{ topic: this.graph.topics[i] }, away];
    }
    if (best || !this.#isFine) return best;
    for (const shift of this.shifts || []) {
      const c = this.#curve(shift, at);
      for (let part = 0; part <= 1; part += 0.04) {
        const rest = 1 - part;
        const px = rest ** 3 * c.x + 3 * rest ** 2 * part * c.ax + 3 * rest * part ** 2 * c.bx + part ** 3 * c.tx;
        const py = rest ** 3 * c.y + 3 * rest ** 2 * part * c.ay + 3 * rest * part ** 2 * c.by + part ** 3 * c.ty;
        const away = Math.hypot(px - x, py - y);
        if (away < REACH && away < nearest) [best, nearest] = [{ shift }, away];
      }
    }
    return best;
  }

  choose(from, to) {
    this.chosen = { from, to };
    this.#draw();
  }

  #listen() {
    const { canvas } = this;
    const held = new Map();
    let gap = 0, travelled = 0;
    const apart = () => { const [a, b] = [...held.values()]; return Math.hypot(a.x - b.x, a.y - b.y); };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      held.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      if (held.size === 1) travelled = 0;
      if (held.size === 2) gap = apart();
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = held.get(event.pointerId);
      if (!before) {
        canvas.style.cursor = this.find(event.offsetX, event.offsetY) ? "pointer" : "grab";
        return;
      }
      const [dx, dy] = [event.offsetX - before.x, event.offsetY - before.y];
      held.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      travelled += Math.abs(dx) + Math.abs(dy);
      if (held.size === 1 && travelled > 3) this.move(dx, dy);
      if (held.size === 2) {
        const now = apart();
        const [a, b] = [...held.values()];
        this.zoom(now / (gap || now), (a.x + b.x) / 2, (a.y + b.y) / 2);
        gap = now;
        travelled = Infinity;
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      held.delete(event.pointerId);
      if (travelled > 3) return;
      const found = this.find(event.offsetX, event.offsetY);
      if (found && found.topic) this.onTopic(found.topic);
      else if (found) {
        this.choose(found.shift.from, found.shift.to);
        this.onShift(found.shift);
      }
    });
    canvas.addEventListener("pointercancel", (event) => held.delete(event.pointerId));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.offsetX, event.offsetY);
    }, { passive: false });
    const keys = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (keys[event.key]) this.move(...keys[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoom(1.25);
      else if (event.key === "-") this.zoom(0.8);
      else if (event.key === "0") this.fit();
      else return;
      event.preventDefault();
    });
  }
}
