// Draws tables of accuracy by two parameters as 3D surfaces. Dragging or the arrow keys rotate all of them together; points
// have tooltips and link to their trials. Drawn on a 2D canvas, which needs neither WebGL nor a weaker security policy.

const view = { turn: 0.7, tilt: 0.5 };
const FIRST = { ...view };
const FLOOR = -0.62;
const HEIGHT = 1.3;
const NEAR = 16;
const scenes = [];

const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
tip.setAttribute("aria-hidden", "true");

// Colors come from the style sheet, so that they match the tables in light and dark.
const probe = document.createElement("i");
probe.hidden = true;
const shade = (className, property) => {
  probe.className = className;
  return getComputedStyle(probe)[property].match(/[\d.]+/g).slice(0, 3).map(Number);
};
let colors;
const readColors = () => {
  colors = {
    steps: Array.from({ length: 11 }, (_, step) => shade(`h${step}`, "backgroundColor")),
    text: shade("ink", "color"),
    muted: shade("ink faint", "color"),
    line: shade("ink hair", "color"),
    card: shade("ink ground", "color"),
  };
};
const css = ([red, green, blue], alpha = 1) => `rgba(${red}, ${green}, ${blue}, ${alpha})`;
const mix = (from, to, weight) => from.map((channel, index) => Math.round(channel + (to[index] - channel) * weight));
const colorOf = (value) => {
  const along = Math.min(Math.max(value, 0), 1) * 10;
  const before = Math.min(Math.floor(along), 9);
  return mix(colors.steps[before], colors.steps[before + 1], along - before);
};

const read = (table) => {
  const rows = [...table.tBodies[0].rows].reverse();
  const points = rows.map((row) =>
    [...row.cells].slice(1).map((cell) => {
      const link = cell.querySelector("a");
      if (!link) return null;
      const [value, low, high] = [cell.dataset.v, cell.dataset.low, cell.dataset.high].map(Number);
      return { value, low, high, tooltip: link.title, link };
    }),
  );
  return {
    points,
    xs: [...table.tFoot.rows[0].cells].slice(1).map((cell) => cell.textContent),
    ys: rows.map((row) => row.cells[0].textContent),
    x: table.dataset.x,
    y: table.dataset.y,
  };
};

const place = (index, count) => (count < 2 ? 0 : (2 * index) / (count - 1) - 1);

class Scene {
  constructor(article, table) {
    this.data = read(table);
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    const name = article.querySelector("h2").textContent;
    this.canvas.setAttribute(
      "aria-label",
      `Surface of ${name} by ${this.data.x} and ${this.data.y}. Arrow keys rotate it; the table below has the data.`,
    );
    table.parentElement.before(this.canvas);
    this.pen = this.canvas.getContext("2d");
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  // Projects a 3D position onto the canvas; nearer positions have a greater depth.
  at(x, y, z) {
    const [cos, sin] = [Math.cos(view.turn), Math.sin(view.turn)];
    const depth = x * sin + y * cos;
    const height = FLOOR + HEIGHT * z;
    return {
      x: this.middle.x + this.scale * (x * cos - y * sin),
      y: this.middle.y + this.scale * (depth * Math.sin(view.tilt) - height * Math.cos(view.tilt)),
      depth,
    };
  }

  path(places, closes) {
    this.pen.beginPath();
    places.forEach((spot, number) => this.pen[number ? "lineTo" : "moveTo"](spot.x, spot.y));
    if (closes) this.pen.closePath();
  }

  draw() {
    const { canvas, pen } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return;
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.middle = { x: width / 2, y: height / 2 };
    this.scale = Math.min(width / 3.3, height / 2.75);
    this.font = getComputedStyle(canvas).fontFamily;
    this.box();
    this.surface();
    this.words();
  }

  // The floor, the two back walls, and grid lines at every 25 %.
  box() {
    const { pen } = this;
    const [farX, farY] = [Math.sin(view.turn) > 0 ? -1 : 1, Math.cos(view.turn) > 0 ? -1 : 1];
    this.far = [farX, farY];
    pen.lineWidth = 1;
    const { xs, ys } = this.data;
    pen.strokeStyle = css(colors.line);
    const line = (...ends) => {
      this.path(ends.map((end) => this.at(...end)));
      pen.stroke();
    };
    xs.forEach((_, index) => line([place(index, xs.length), -1, 0], [place(index, xs.length), 1, 0]));
    ys.forEach((_, index) => line([-1, place(index, ys.length), 0], [1, place(index, ys.length), 0]));
    for (const level of [0, 0.25, 0.5, 0.75, 1]) {
      pen.setLineDash(level === 0.5 ? [4, 3] : []);
      pen.strokeStyle = css(level === 0.5 ? colors.muted : colors.line);
      line([farX, -farY, level], [farX, farY, level], [-farX, farY, level]);
    }
    pen.setLineDash([]);
    pen.strokeStyle = css(colors.line);
    for (const [x, y] of [[farX, farY], [farX, -farY], [-farX, farY]]) line([x, y, 0], [x, y, 1]);
  }

  // Painter's algorithm: faces and points from back to front.
  surface() {
    const { pen } = this;
    const { points, xs, ys } = this.data;
    const spots = points.map((row, up) =>
      row.map((point, across) => {
        if (!point) return null;
        const [x, y] = [place(across, xs.length), place(up, ys.length)];
        const end = (z) => this.at(x, y, z);
        return { ...end(point.value), low: end(point.low), high: end(point.high), point };
      }),
    );
    const things = [];
    const faces = (xs.length - 1) * (ys.length - 1);
    // Each face is drawn in pieces, so that its color follows its height.
    const pieces = Math.max(1, Math.min(5, Math.floor(Math.sqrt(900 / Math.max(faces, 1)))));
    for (let up = 0; up + 1 < ys.length; up++) {
      for (let across = 0; across + 1 < xs.length; across++) {
        const corners = [spots[up][across], spots[up][across + 1], spots[up + 1][across + 1], spots[up + 1][across]];
        if (corners.some((corner) => !corner)) continue;
        for (let piece = 0; piece < pieces * pieces; piece++) {
          things.push(this.piece(corners, piece % pieces, Math.floor(piece / pieces), pieces));
        }
      }
    }
    this.spots = spots.flat().filter(Boolean);
    for (const spot of this.spots) {
      things.push({ depth: spot.depth + 0.02, draw: () => this.point(spot) });
    }
    things.sort((a, b) => a.depth - b.depth);
    for (const thing of things) thing.draw();
    if (this.pointed) {
      const here = this.spots.find((spot) => spot.point === this.pointed);
      if (here) this.point(here, true);
    }
  }

  // One of the pieces of a face.
  piece(corners, column, row, pieces) {
    const between = (right, up, of) => {
      const low = of(corners[0]) + (of(corners[1]) - of(corners[0])) * right;
      const high = of(corners[3]) + (of(corners[2]) - of(corners[3])) * right;
      return low + (high - low) * up;
    };
    const places = [[0, 0], [1, 0], [1, 1], [0, 1]].map(([right, up]) => {
      const [along, aside] = [(column + right) / pieces, (row + up) / pieces];
      const of = (name) => between(along, aside, (corner) => corner[name]);
      return { x: of("x"), y: of("y"), depth: of("depth"), value: between(along, aside, (corner) => corner.point.value) };
    });
    const mean = (name) => places.reduce((sum, spot) => sum + spot[name], 0) / 4;
    // Shading by slope, with light from the left.
    const slope = (places[1].value + places[2].value - places[0].value - places[3].value) * pieces;
    const light = Math.min(Math.max(slope * 0.12, -0.14), 0.14);
    const fill = css(mix(colorOf(mean("value")), light > 0 ? [255, 255, 255] : [0, 0, 0], Math.abs(light)));
    const edges = [row === 0 && [0, 1], column === pieces - 1 && [1, 2], row === pieces - 1 && [2, 3], column === 0 && [3, 0]];
    const draw = () => {
      const { pen } = this;
      this.path(places, true);
      pen.fillStyle = fill;
      pen.fill();
      // A stroke of the same color closes the seams between pieces.
      pen.strokeStyle = fill;
      pen.lineWidth = 0.7;
      pen.stroke();
      pen.strokeStyle = css(colors.card, 0.75);
      pen.lineWidth = 0.9;
      for (const edge of edges.filter(Boolean)) {
        this.path(edge.map((end) => places[end]));
        pen.stroke();
      }
    };
    return { depth: mean("depth"), draw };
  }

  // A point with its confidence interval.
  point(spot, isPointed = false) {
    const { pen } = this;
    this.path([spot.low, spot.high]);
    pen.lineWidth = isPointed ? 3 : 1.6;
    pen.strokeStyle = css(colors.text, isPointed ? 1 : 0.5);
    pen.stroke();
    pen.beginPath();
    pen.arc(spot.x, spot.y, isPointed ? 5.5 : 3, 0, 2 * Math.PI);
    pen.fillStyle = css(mix(colorOf(spot.point.value), colors.text, 0.35));
    pen.fill();
    pen.strokeStyle = css(isPointed ? colors.text : colors.card);
    pen.lineWidth = isPointed ? 2 : 1;
    pen.stroke();
  }

  words() {
    const { pen } = this;
    const { xs, ys, x, y } = this.data;
    const [farX, farY] = this.far;
    const write = (text, spot, color, weight = "") => {
      pen.font = `${weight} 11px ${this.font}`;
      pen.fillStyle = css(color);
      pen.textAlign = "left";
      pen.textBaseline = "middle";
      const [whole, widest] = [this.canvas.clientWidth, this.canvas.clientWidth / 3];
      const wide = Math.min(pen.measureText(text).width, widest);
      // Labels are placed outward of their position, clamped to the canvas.
      const start = spot.x - (spot.x < this.middle.x - 4 ? wide : spot.x > this.middle.x + 4 ? 0 : wide / 2);
      pen.fillText(text, Math.min(Math.max(start, 0), whole - wide), spot.y, widest);
    };
    const some = (count) => Math.max(1, Math.ceil(count / 6));
    const beyond = 1.14;
    xs.forEach((name, index) => {
      if (index % some(xs.length) === 0 || index === xs.length - 1)
        write(name, this.at(place(index, xs.length), -farY * beyond, 0), colors.muted);
    });
    ys.forEach((name, index) => {
      if (index % some(ys.length) === 0 || index === ys.length - 1)
        write(name, this.at(-farX * beyond, place(index, ys.length), 0), colors.muted);
    });
    write(x, this.at(0, -farY * 1.5, 0), colors.text, "600");
    write(y, this.at(-farX * 1.5, 0, 0), colors.text, "600");
    // Percentages are placed at the wall's outer edge.
    const edges = [this.at(farX, -farY, 0), this.at(-farX, farY, 0)];
    const isFirst = Math.abs(edges[0].x - this.middle.x) > Math.abs(edges[1].x - this.middle.x);
    for (const level of [0.5, 1]) {
      const spot = isFirst ? this.at(farX * 1.02, -farY * 1.02, level) : this.at(-farX * 1.02, farY * 1.02, level);
      spot.x += spot.x < this.middle.x ? -5 : 5;
      write(`${100 * level} %`, spot, colors.muted);
    }
  }

  // The point under the pointer; if there are several, the nearest to the viewer.
  find(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const away = (spot) => Math.hypot(spot.x - x, spot.y - y);
    const near = (this.spots ?? []).filter((spot) => away(spot) < NEAR);
    return near.sort((a, b) => away(a) - away(b) - (a.depth - b.depth) * 4)[0];
  }

  show(spot) {
    this.pointed = spot?.point;
    tip.hidden = !spot;
    this.canvas.style.cursor = spot ? "pointer" : "grab";
    if (spot) {
      const box = this.canvas.getBoundingClientRect();
      tip.textContent = spot.point.tooltip;
      const [left, top] = [box.left + spot.x + 14, box.top + spot.y - tip.offsetHeight - 10];
      tip.style.left = `${Math.max(8, Math.min(left, innerWidth - tip.offsetWidth - 8))}px`;
      tip.style.top = `${Math.max(8, top)}px`;
    }
    this.draw();
  }

  listen() {
    const { canvas } = this;
    let from = null;
    canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, y: event.clientY, turn: view.turn, tilt: view.tilt, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!from) {
        const spot = this.find(event);
        if (spot?.point !== this.pointed) this.show(spot);
        return;
      }
      const [right, down] = [event.clientX - from.x, event.clientY - from.y];
      from.moved ||= Math.hypot(right, down) > 4;
      if (from.moved) turn(from.turn - right / 150, from.tilt + down / 200);
    });
    canvas.addEventListener("pointerup", (event) => {
      const isClick = from && !from.moved;
      from = null;
      const spot = isClick && this.find(event);
      if (!spot) return;
      if (event.ctrlKey || event.metaKey) open(spot.point.link.href, "_blank", "noopener");
      else location.assign(spot.point.link.href);
    });
    canvas.addEventListener("pointercancel", () => (from = null));
    canvas.addEventListener("pointerleave", () => this.pointed && this.show());
    canvas.addEventListener("dblclick", () => turn(FIRST.turn, FIRST.tilt));
    canvas.addEventListener("keydown", (event) => {
      const steps = {
        ArrowLeft: [0.12, 0],
        ArrowRight: [-0.12, 0],
        ArrowUp: [0, -0.08],
        ArrowDown: [0, 0.08],
      };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Home") turn(FIRST.turn, FIRST.tilt);
      else if (steps[event.key]) turn(view.turn + steps[event.key][0], view.tilt + steps[event.key][1]);
      else return;
      event.preventDefault();
    });
  }
}

let isWaiting = false;
const redraw = () => {
  if (isWaiting) return;
  isWaiting = true;
  requestAnimationFrame(() => {
    isWaiting = false;
    for (const scene of scenes) scene.draw();
  });
};

// Surfaces rotate together, so that they can be compared.
const turn = (angle, tilt) => {
  view.turn = angle;
  view.tilt = Math.min(Math.max(tilt, 0.08), 1.45);
  tip.hidden = true;
  for (const scene of scenes) scene.pointed = undefined;
  redraw();
};

const recolor = () => {
  readColors();
  redraw();
};

document.body.append(tip, probe);
readColors();
for (const article of document.querySelectorAll(".surface")) {
  const table = article.querySelector(".landscape");
  if (table) scenes.push(new Scene(article, table));
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor);
new MutationObserver(recolor).observe(document.documentElement, { attributeFilter: ["data-theme"] });
