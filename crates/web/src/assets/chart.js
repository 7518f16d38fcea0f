// Replaces static figures by interactive plotly charts: tooltips, a legend that toggles series, zoom. Plotly is large, so it
// is loaded only when a figure is about to scroll into view.

const drawings = [...document.querySelectorAll(".drawing[data-source]")];
const NARROW = 640;

// The dark counterpart of each color of a figure.
const DARK = {
  "#ffffff": "#1c201f",
  "rgba(255,255,255,0.7)": "rgba(28,32,31,0.7)",
  "#222222": "#e9eeec",
  "#444444": "#8d9895",
  "#555555": "#a3aeab",
  "#e4e4e4": "#333a38",
  "#a0a0a0": "#7c8784",
  "#777777": "#97a29f",
  "#0072b2": "#56a9dd",
  "#d55e00": "#f08a45",
  "#009e73": "#3fc9a0",
  "#cc79a7": "#e39cc3",
  "#e69f00": "#f0b840",
  "#56b4e9": "#8accf2",
  "#000000": "#f4f4f4",
  "#857a00": "#c9bd4a",
};

const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

let library;
const plotly = () => {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("plotly.js", import.meta.url).pathname + new URL(import.meta.url).search;
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => reject(new Error("the chart library could not be loaded")));
    document.head.append(script);
  });
  return library;
};

const recolored = (text) => {
  if (!isDark()) return text;
  // A fill color may end in two digits of opacity.
  return text.replaceAll(/"(#[0-9a-f]{6})([0-9a-f]{2})?"|"(rgba\([^"]*\))"/g, (match, color, alpha, other) => {
    const dark = DARK[color ?? other];
    return dark ? `"${dark}${alpha ?? ""}"` : match;
  });
};

const draw = async (drawing) => {
  const columns = drawing.clientWidth < NARROW ? "1" : "";
  if (drawing.dataset.columns !== columns) {
    const source = new URL(drawing.dataset.source, location.href);
    if (columns) source.searchParams.set("columns", columns);
    const reply = await fetch(source);
    // Keep the static figure.
    if (!reply.ok) return;
    drawing.chart = await reply.text();
    drawing.dataset.columns = columns;
  }
  const library = await plotly();
  const { data, layout, config } = JSON.parse(recolored(drawing.chart));
  layout.paper_bgcolor = "rgba(0,0,0,0)";
  layout.plot_bgcolor = "rgba(0,0,0,0)";
  layout.modebar = { bgcolor: "rgba(0,0,0,0)", color: isDark() ? "#7c8784" : "#8b9693", activecolor: isDark() ? "#5cc9b8" : "#0b6e63" };
  config.displayModeBar = "hover";
  config.modeBarButtonsToRemove = ["lasso2d", "select2d", "autoScale2d"];
  const old = drawing.querySelector(".chart");
  if (old) {
    await library.react(old, data, layout, config);
    return;
  }
  const chart = document.createElement("div");
  chart.className = "chart";
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", drawing.dataset.alt);
  chart.hidden = false;
  drawing.append(chart);
  drawing.classList.add("live");
  const drawn = library.newPlot(chart, data, layout, config);
  // The buttons need a pointer; keyboard and screen reader users have the data table below.
  chart.querySelector(".modebar-container")?.setAttribute("aria-hidden", "true");
  await drawn;
  chart.on("plotly_click", ({ points, event }) => {
    const address = points.find((point) => typeof point.customdata === "string")?.customdata;
    if (!address) return;
    if (event?.ctrlKey || event?.metaKey) open(address, "_blank", "noopener");
    else location.assign(address);
  });
};

const redraw = (drawing) =>
  draw(drawing).catch((error) => {
    drawing.classList.remove("live");
    drawing.querySelector(".chart")?.remove();
    console.warn(error);
  });

const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      redraw(target);
    }
  },
  { rootMargin: "300px" },
);
for (const drawing of drawings) near.observe(drawing);

const again = () => {
  for (const drawing of drawings) if (drawing.classList.contains("live")) redraw(drawing);
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });
let wait;
addEventListener("resize", () => {
  clearTimeout(wait);
  wait = setTimeout(() => {
    const turned = drawings.filter(
      (drawing) =>
        drawing.classList.contains("live") &&
        drawing.dataset.columns !== (drawing.clientWidth < NARROW ? "1" : ""),
    );
    for (const drawing of turned) redraw(drawing);
  }, 250);
});
