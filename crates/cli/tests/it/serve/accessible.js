// Accessibility problems of the page; an empty list if there are none. Accessible names come from the browser; this script
// checks what the browser does not.
const problems = [];
const where = (element) => {
  const name = element.id ? `#${element.id}` : element.className ? `.${String(element.className.baseVal ?? element.className).split(" ")[0]}` : "";
  return `<${element.tagName.toLowerCase()}${name}> ${(element.textContent ?? "").trim().slice(0, 40)}`;
};
const isShown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });

// Structure.
if (!document.documentElement.lang) problems.push("the page has no language");
if (!document.title.trim()) problems.push("the page has no title");
if (document.querySelectorAll("h1").length !== 1) problems.push("the page has not one h1");
if (document.querySelectorAll("main").length !== 1) problems.push("the page has not one main");
let level = 1;
for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
  const next = Number(heading.tagName[1]);
  if (next > level + 1) problems.push(`a level is left out before ${where(heading)}`);
  level = next;
}
const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) problems.push(`two elements are #${id}`);
for (const label of document.querySelectorAll("label[for]")) {
  if (!document.getElementById(label.htmlFor)) problems.push(`${where(label)} is for nothing`);
}
for (const picture of document.querySelectorAll("img:not([alt])")) problems.push(`${where(picture)} has no text`);
for (const element of document.querySelectorAll("[tabindex]")) {
  if (element.tabIndex > 0) problems.push(`${where(element)} is out of the order of the page`);
}
for (const table of document.querySelectorAll("table")) {
  if (!table.querySelector("th")) problems.push(`${where(table)} has no headings`);
}

// Contrast by WCAG 2: at least 4.5, or 3 for large text.
const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
const known = new Map();
const rgba = (colour) => {
  if (!known.has(colour)) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    known.set(colour, [r, g, b, a / 255]);
  }
  return known.get(colour);
};
const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
const background = (element) => {
  const layers = [];
  for (let at = element; at; at = at.parentElement) {
    const layer = rgba(getComputedStyle(at).backgroundColor);
    layers.push(layer);
    if (layer[3] === 1) break;
  }
  const canvasColour = rgba(getComputedStyle(document.documentElement).backgroundColor);
  const ground = canvasColour[3] === 1 ? canvasColour : [255, 255, 255, 1];
  return layers.reverse().reduce((below, layer) => over(layer, below), ground);
};
const light = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map((part) => part / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const seen = new Set();
while (texts.nextNode()) {
  const element = texts.currentNode.parentElement;
  if (!texts.currentNode.data.trim() || seen.has(element) || !isShown(element)) continue;
  seen.add(element);
  if (element.closest(".hidden, .skip, script, style, title, option, svg, [aria-hidden=true], :disabled")) continue;
  const style = getComputedStyle(element);
  const ground = background(element);
  const [a, b] = [light(over(rgba(style.color), ground)), light(ground)];
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const size = parseFloat(style.fontSize);
  const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  if (contrast < (isLarge ? 3 : 4.5)) problems.push(`contrast ${contrast.toFixed(2)} of ${where(element)}`);
}
return problems;
