//! The picture in the words of plotly: traces and a layout, as JSON.
//!
//! Plotly reads a few tags in every text, so that texts are escaped for it first, and its templates read `%{...}`, so
//! that none is used on a name.

use serde_json::{Map, Value, json};

use crate::axis::{Ends, ReadyAxis};
use crate::draw::{Bracket, brackets, cell, ends, share, written};
use crate::layout::columns;
use crate::look::{AXIS, FAINT, GRID, INK, Look, Looks};
use crate::model::{Bounds, Direction, Figure, Heat, Layer, Point, Summary, Tree};
use crate::number::{interval, short, shown, shown_with};
use crate::panel::ReadyPanel;
use crate::text::shorten;

/// Pixels around the panels.
const TOP: f64 = 24.0;
const BOTTOM: f64 = 60.0;

/// What plotly is given.
pub(crate) struct Plotly {
    pub(crate) traces: Vec<Value>,
    pub(crate) layout: Value,
    /// In pixels.
    pub(crate) height: f64,
}

/// A text that plotly shows as it is.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(['\n', '\r', '\t'], " ")
}

/// The same, short enough for an axis.
fn on_axis(text: &str) -> String {
    escaped(&shorten(text, 12.0, 190.0))
}

/// `"x"` and `"y"` for the first panel, `"x2"` and `"y2"` for the second.
fn reference(axis: &str, panel: usize) -> String {
    if panel == 0 { axis.to_owned() } else { format!("{axis}{}", panel + 1) }
}

/// A number of an axis as plotly wants it for shapes and annotations, which take logarithms on a logarithmic axis.
fn placed(axis: &ReadyAxis, number: f64) -> Option<f64> {
    axis.share(number)?;
    Some(if matches!(axis.ends, Ends::Log(_)) { number.log10() } else { number })
}

/// Traces in the making.
struct Builder<'a> {
    traces: Vec<Value>,
    shapes: Vec<Value>,
    annotations: Vec<Value>,
    looks: &'a Looks,
    /// Names that stand in the legend already.
    listed: Vec<String>,
}

pub(crate) fn plotly(figure: &Figure) -> Plotly {
    let panels: Vec<ReadyPanel<'_>> = figure.panels.iter().map(ReadyPanel::new).collect();
    let looks = Looks::new(figure);
    let mut builder = Builder {
        traces: Vec::new(),
        shapes: Vec::new(),
        annotations: Vec::new(),
        looks: &looks,
        listed: Vec::new(),
    };
    let grid = Grid::new(&panels, columns(figure));
    let mut layout = Map::new();
    for (index, panel) in panels.iter().enumerate() {
        let (x, y) = grid.domains(index);
        layout.insert(reference("xaxis", index), axis(&panel.x, x, &reference("y", index), false));
        layout.insert(reference("yaxis", index), axis(&panel.y, y, &reference("x", index), true));
        builder.title(panel.title, x[0], y[1]);
        for (position, layer) in panel.layers.iter().enumerate() {
            let before = builder.traces.len();
            builder.layer(panel, index, position, layer, y);
            for trace in &mut builder.traces[before..] {
                trace["xaxis"] = json!(reference("x", index));
                trace["yaxis"] = json!(reference("y", index));
            }
        }
        builder.rules(panel, index);
    }
    let has_bars = |kind: fn(&Layer) -> bool| panels.iter().any(|panel| panel.layers.iter().any(kind));
    if has_bars(|layer| matches!(layer, Layer::Bars { .. })) {
        layout.insert("barmode".into(), json!("group"));
    }
    if has_bars(|layer| matches!(layer, Layer::Boxes { .. })) {
        layout.insert("boxmode".into(), json!("group"));
    }
    let font = json!({"family": "system-ui, Helvetica, Arial, sans-serif", "size": 13, "color": INK});
    let legend = json!({"orientation": "h", "x": 0, "xanchor": "left", "y": 1.0 + 26.0 / grid.inner, "yanchor": "bottom"});
    layout.insert("font".into(), font);
    layout.insert("legend".into(), legend);
    layout.insert("height".into(), json!(grid.height()));
    layout.insert("autosize".into(), json!(true));
    layout.insert("margin".into(), json!({"l": 12, "r": 16, "t": TOP, "b": BOTTOM - 12.0, "pad": 0}));
    layout.insert("paper_bgcolor".into(), json!("#ffffff"));
    layout.insert("plot_bgcolor".into(), json!("#ffffff"));
    layout.insert("hovermode".into(), json!("closest"));
    layout.insert("shapes".into(), Value::Array(builder.shapes));
    layout.insert("annotations".into(), Value::Array(builder.annotations));
    Plotly { traces: builder.traces, layout: Value::Object(layout), height: grid.height() }
}

/// Where the panels stand, as shares of the picture.
struct Grid {
    columns: usize,
    /// Pixels of each row, with what is below it.
    rows: Vec<f64>,
    inner: f64,
}

impl Grid {
    fn new(panels: &[ReadyPanel<'_>], columns: usize) -> Self {
        let height = |panel: &ReadyPanel<'_>| match panel.y.names() {
            Some(names) => {
                (names.len() as f64 * if panel.heat().is_some() { 34.0 } else { 28.0 }).clamp(160.0, 2400.0)
            }
            None if columns == 1 => 380.0,
            None => 260.0,
        };
        let below = |panel: &ReadyPanel<'_>| {
            let names = panel.x.names().unwrap_or_default();
            let longest =
                names.iter().map(|name| crate::text::width(name, 12.0).min(190.0)).fold(0.0, f64::max);
            90.0 + if names.len() > 4 { longest * 0.8 } else { 0.0 }
                + if panel.heat().is_some() { 50.0 } else { 0.0 }
        };
        let row = |row: &[ReadyPanel<'_>]| {
            row.iter().map(height).fold(0.0, f64::max) + row.iter().map(below).fold(0.0, f64::max)
        };
        let rows: Vec<f64> = panels.chunks(columns).map(row).collect();
        let inner = rows.iter().sum::<f64>().max(120.0);
        Self { columns, rows, inner }
    }

    fn height(&self) -> f64 {
        (self.inner + TOP + BOTTOM).round()
    }

    fn domains(&self, index: usize) -> ([f64; 2], [f64; 2]) {
        let (row, column) = (index / self.columns, index % self.columns);
        let width = 1.0 / self.columns as f64;
        let left = column as f64 * width;
        let gap = if column + 1 == self.columns { 0.0 } else { 0.06 };
        let top = 1.0 - self.rows[..row].iter().sum::<f64>() / self.inner;
        let bottom = top - (self.rows[row] - 90.0) / self.inner;
        ([left, left + width - gap * width.min(0.5) * 2.0], [bottom.max(0.0), top])
    }
}

fn axis(axis: &ReadyAxis, domain: [f64; 2], anchor: &str, is_vertical: bool) -> Value {
    let mut object = json!({
        "domain": domain,
        "anchor": anchor,
        "title": {"text": escaped(&axis.label), "standoff": 8},
        "automargin": true,
        "zeroline": false,
        "showline": true,
        "linecolor": AXIS,
        "gridcolor": GRID,
        "ticks": "outside",
        "tickcolor": AXIS,
    });
    match &axis.ends {
        Ends::Linear(Bounds { low, high }) => object["range"] = json!([low, high]),
        Ends::Log(Bounds { low, high }) => {
            object["type"] = json!("log");
            object["range"] = json!([low.log10(), high.log10()]);
            object["dtick"] = json!(if high / low > 30.0 { "D2" } else { "D1" });
            if high / low > 1e4 {
                object["dtick"] = json!(1);
            }
        }
        Ends::Names(names) => {
            let count = names.len() as f64;
            let texts: Vec<String> = names.iter().map(|name| on_axis(name)).collect();
            object["tickvals"] = json!((0..names.len()).collect::<Vec<_>>());
            object["ticktext"] = json!(texts);
            // Names run from the top down.
            object["range"] =
                if is_vertical { json!([count - 0.5, -0.5]) } else { json!([-0.5, count - 0.5]) };
            object["showgrid"] = json!(false);
        }
    }
    if axis.percent {
        object["tickformat"] = json!(".0%");
    }
    object
}

impl Builder<'_> {
    fn title(&mut self, title: &str, x: f64, y: f64) {
        if !title.is_empty() {
            self.annotations.push(json!({
                "text": format!("<b>{}</b>", escaped(title)), "x": x, "y": y, "xref": "paper", "yref": "paper",
                "xanchor": "left", "yanchor": "bottom", "yshift": 4, "showarrow": false,
            }));
        }
    }

    /// Names a trace, and lists it in the legend if its name is new.
    fn named(&mut self, trace: &mut Value, name: &str) {
        let is_new = !name.is_empty() && !self.listed.iter().any(|listed| listed == name);
        if is_new {
            self.listed.push(name.to_owned());
        }
        trace["name"] = json!(escaped(name));
        trace["legendgroup"] = json!(escaped(name));
        trace["showlegend"] = json!(is_new);
    }

    fn layer(&mut self, panel: &ReadyPanel<'_>, index: usize, position: usize, layer: &Layer, y: [f64; 2]) {
        match layer {
            Layer::Line { name, points, step } => self.line(panel, name, points, *step),
            Layer::Dots { name, points } => self.dots(panel, position, name, points),
            Layer::Bars { name, points } => self.bars(panel, name, points),
            Layer::Boxes { name, boxes } => self.boxes(panel, name, boxes),
            Layer::Heat(heat) => self.heat(heat, index, y),
            Layer::Tree(tree) => self.tree(tree),
            Layer::Rule { .. } => {}
            Layer::Text { x, y, text } => {
                if let (Some(x), Some(y)) = (placed(&panel.x, *x), placed(&panel.y, *y)) {
                    self.annotations.push(json!({
                        "text": escaped(text), "x": x, "y": y, "xref": reference("x", index),
                        "yref": reference("y", index), "xanchor": "left", "showarrow": false,
                    }));
                }
            }
        }
    }

    fn line(&mut self, panel: &ReadyPanel<'_>, name: &str, points: &[Point], step: bool) {
        let look = self.looks.of(name);
        let shape = if step { "hv" } else { "linear" };
        if !look.is_grey && !panel.sideways {
            self.band(panel, name, points, shape, look);
        }
        let place = |number: f64, axis: &ReadyAxis| axis.share(number).map(|_| number);
        let xs: Vec<Option<f64>> = points.iter().map(|point| place(point.x, &panel.x)).collect();
        let ys: Vec<Option<f64>> = points.iter().map(|point| place(point.y, &panel.y)).collect();
        let few = points.len() <= 30 && !step && !look.is_grey;
        let mut trace = json!({
            "type": "scatter", "mode": if few || points.len() == 1 { "lines+markers" } else { "lines" },
            "x": xs, "y": ys,
            "text": hints(panel, name, points), "hoverinfo": "text",
            "line": {"color": look.color, "dash": look.plotly_dash, "width": if look.is_grey { 1 } else { 2 }, "shape": shape},
            "marker": {"color": look.color, "symbol": look.marker.plotly(), "size": 7},
        });
        self.named(&mut trace, name);
        self.traces.push(trace);
    }

    /// A band is two lines with the area between them filled, for each run of points that have an interval.
    fn band(&mut self, panel: &ReadyPanel<'_>, name: &str, points: &[Point], shape: &str, look: Look) {
        let ends = |point: &Point| {
            let bounds = interval(point.interval)?;
            (panel.x.share(point.x).is_some() && panel.y.share(point.y).is_some()).then_some(bounds)
        };
        let lowest = match &panel.y.ends {
            Ends::Log(range) => range.low * 1e-3,
            Ends::Linear(_) | Ends::Names(_) => f64::NEG_INFINITY,
        };
        for run in points.split(|point| ends(point).is_none()).filter(|run| run.len() > 1) {
            let xs: Vec<f64> = run.iter().map(|point| point.x).collect();
            let edge = |high: bool| -> Vec<f64> {
                run.iter()
                    .filter_map(ends)
                    .map(|bounds| if high { bounds.high } else { bounds.low }.max(lowest))
                    .collect()
            };
            for (is_upper, values) in [(false, edge(false)), (true, edge(true))] {
                let mut trace = json!({
                    "type": "scatter", "mode": "lines", "x": xs, "y": values, "hoverinfo": "skip",
                    "showlegend": false, "legendgroup": escaped(name),
                    "line": {"color": look.color, "width": 0.5, "shape": shape},
                });
                if is_upper {
                    trace["fill"] = json!("tonexty");
                    trace["fillcolor"] = json!(format!("{}26", look.color));
                }
                self.traces.push(trace);
            }
        }
    }

    fn dots(&mut self, panel: &ReadyPanel<'_>, position: usize, name: &str, points: &[Point]) {
        let look = self.looks.of(name);
        let has_place = |point: &&Point| panel.x.share(point.x).is_some() && panel.y.share(point.y).is_some();
        let points: Vec<Point> = points.iter().filter(has_place).copied().collect();
        // Dots of several layers in one slot stand side by side.
        let is_named = if panel.sideways { panel.y.names() } else { panel.x.names() }.is_some();
        let aside = if is_named { panel.place(position).offset * 0.6 } else { 0.0 };
        let (aside_x, aside_y) = if panel.sideways { (0.0, aside) } else { (aside, 0.0) };
        let mut trace = json!({
            "type": "scatter", "mode": "markers",
            "x": points.iter().map(|point| point.x + aside_x).collect::<Vec<_>>(),
            "y": points.iter().map(|point| point.y + aside_y).collect::<Vec<_>>(),
            "text": hints(panel, name, &points), "hoverinfo": "text",
            "marker": {"color": look.color, "symbol": look.marker.plotly(), "size": 8},
        });
        error_bars(&mut trace, panel.sideways, &points, look.color);
        self.named(&mut trace, name);
        self.traces.push(trace);
    }

    fn bars(&mut self, panel: &ReadyPanel<'_>, name: &str, points: &[Point]) {
        let look = self.looks.of(name);
        let points: Vec<Point> = points.iter().filter(|point| point.is_drawable()).copied().collect();
        let hatch = ["", "/", "\\", "-", "|", "x", "+", "."][look.hatch];
        let mut trace = json!({
            "type": "bar", "orientation": if panel.sideways { "h" } else { "v" },
            "x": points.iter().map(|point| point.x).collect::<Vec<_>>(),
            "y": points.iter().map(|point| point.y).collect::<Vec<_>>(),
            "hovertext": hints(panel, name, &points), "hoverinfo": "text",
            "marker": {"color": look.color, "pattern": {"shape": hatch, "fgcolor": "#ffffff", "fillmode": "replace", "bgcolor": look.color, "size": 6}},
        });
        if hatch.is_empty() {
            trace["marker"] = json!({"color": look.color});
        }
        error_bars(&mut trace, panel.sideways, &points, INK);
        self.named(&mut trace, name);
        self.traces.push(trace);
    }

    fn boxes(&mut self, panel: &ReadyPanel<'_>, name: &str, boxes: &[Summary]) {
        let look = self.looks.of(name);
        let boxes: Vec<&Summary> = boxes.iter().filter(|summary| summary.is_drawable()).collect();
        let column =
            |number: fn(&Summary) -> f64| boxes.iter().map(|summary| number(summary)).collect::<Vec<f64>>();
        let mut trace = json!({
            "type": "box", "orientation": if panel.sideways { "h" } else { "v" },
            "lowerfence": column(|s| s.low), "q1": column(|s| s.q1), "median": column(|s| s.median),
            "q3": column(|s| s.q3), "upperfence": column(|s| s.high),
            "line": {"color": look.color, "width": 1.5},
            "hoverinfo": if panel.sideways { "x+name" } else { "y+name" },
        });
        trace[if panel.sideways { "y" } else { "x" }] = json!(column(|s| s.at));
        self.named(&mut trace, name);
        self.traces.push(trace);
    }

    fn heat(&mut self, heat: &Heat, index: usize, y: [f64; 2]) {
        let range = ends(heat);
        let (rows, columns) = (heat.rows.len(), heat.columns.len());
        let value = |row, column| cell(heat, row, column).map(|(_, value)| value);
        let hint = |row: usize, column: usize| {
            let (row_name, column_name) = (escaped(&heat.rows[row]), escaped(&heat.columns[column]));
            let number = cell(heat, row, column)
                .map_or("no data".to_owned(), |(cell, value)| shown_with(value, cell.interval, heat.percent));
            format!("{row_name}<br>{column_name}<br>{number}")
        };
        let table = |each: &dyn Fn(usize, usize) -> Value| -> Vec<Vec<Value>> {
            (0..rows).map(|row| (0..columns).map(|column| each(row, column)).collect()).collect()
        };
        let scale: Vec<Value> = (0..=8)
            .map(|step| json!([f64::from(step) / 8.0, heat.palette.at(f64::from(step) / 8.0).hex()]))
            .collect();
        let bar = json!({
            "orientation": "h", "thickness": 10, "len": 0.35, "x": 0, "xanchor": "left",
            "y": y[0], "yanchor": "top", "ypad": 70, "tickformat": if heat.percent { ".0%" } else { "" },
            "title": {"text": escaped(&heat.label), "side": "top"}, "outlinewidth": 0,
        });
        self.traces.push(json!({
            "type": "heatmap",
            "x": (0..columns).collect::<Vec<_>>(), "y": (0..rows).collect::<Vec<_>>(),
            "z": table(&|row, column| json!(value(row, column))),
            "hovertext": table(&|row, column| json!(hint(row, column))),
            "hoverinfo": "text", "hoverongaps": true,
            "zmin": range.low, "zmax": range.high, "colorscale": scale, "colorbar": bar,
            "xgap": 1, "ygap": 1,
        }));
        self.cell_words(heat, index, range);
    }

    /// Numbers and intervals in the cells, and a cross in those that have none: a colour would look like a number.
    fn cell_words(&mut self, heat: &Heat, index: usize, range: Bounds) {
        // More words than this are no longer legible, and slow.
        const MOST: usize = 150;
        let is_small = heat.rows.len() * heat.columns.len() <= MOST && heat.columns.len() <= 10;
        for row in 0..heat.rows.len() {
            for column in 0..heat.columns.len() {
                let (text, color) = match cell(heat, row, column) {
                    None => ("×".to_owned(), FAINT),
                    Some((cell, value)) if is_small => {
                        let below =
                            written(cell, heat.percent).map_or(String::new(), |text| format!("<br>{text}"));
                        let ink = heat.palette.at(share(range, value)).ink();
                        (format!("{}<span style=\"font-size:10px\">{below}</span>", escaped(&cell.text)), ink)
                    }
                    Some(_) => continue,
                };
                self.annotations.push(json!({
                    "text": text, "x": column, "y": row, "xref": reference("x", index),
                    "yref": reference("y", index), "showarrow": false, "font": {"color": color, "size": 11},
                }));
            }
        }
    }

    fn tree(&mut self, tree: &Tree) {
        let (mut xs, mut ys, mut texts): (Vec<Option<f64>>, Vec<Option<f64>>, Vec<String>) =
            Default::default();
        for Bracket { rows, from, height } in brackets(tree) {
            let corners = [(from.0, rows.0), (height, rows.0), (height, rows.1), (from.1, rows.1)];
            xs.extend(corners.iter().map(|corner| Some(corner.0)).chain([None]));
            ys.extend(corners.iter().map(|corner| Some(corner.1)).chain([None]));
            texts.extend(std::iter::repeat_n(format!("joined at {}", short(height)), 5));
        }
        self.traces.push(json!({
            "type": "scatter", "mode": "lines", "x": xs, "y": ys, "text": texts, "hoverinfo": "text",
            "line": {"color": "#0072b2", "width": 1.6}, "showlegend": false,
        }));
    }

    fn rules(&mut self, panel: &ReadyPanel<'_>, index: usize) {
        let (x, y) = (reference("x", index), reference("y", index));
        for rule in panel.rules() {
            let is_vertical = rule.direction == Direction::Vertical;
            let axis = if is_vertical { &panel.x } else { &panel.y };
            let Some(at) = placed(axis, rule.at) else { continue };
            // Shapes take numbers as they are, annotations their logarithms.
            let at_shape = rule.at;
            let line = json!({"color": INK, "width": 1, "dash": "dash"});
            let word = json!({"text": escaped(rule.label), "showarrow": false, "font": {"size": 12}});
            let (shape, mut annotation) = if is_vertical {
                (
                    json!({"type": "line", "xref": x, "yref": format!("{y} domain"), "x0": at_shape, "x1": at_shape, "y0": 0, "y1": 1, "line": line}),
                    json!({"xref": x, "yref": format!("{y} domain"), "x": at, "y": 1, "yanchor": "bottom"}),
                )
            } else {
                (
                    json!({"type": "line", "xref": format!("{x} domain"), "yref": y, "x0": 0, "x1": 1, "y0": at_shape, "y1": at_shape, "line": line}),
                    json!({"xref": format!("{x} domain"), "yref": y, "x": 1, "y": at, "xanchor": "right", "yanchor": "bottom"}),
                )
            };
            self.shapes.push(shape);
            if let (Value::Object(annotation), Value::Object(word)) = (&mut annotation, word) {
                annotation.extend(word);
            }
            self.annotations.push(annotation);
        }
    }
}

fn error_bars(trace: &mut Value, sideways: bool, points: &[Point], color: &str) {
    let distances = |upper: bool| -> Vec<f64> {
        let distance = |point: &Point| {
            let number = if sideways { point.x } else { point.y };
            interval(point.interval)
                .map_or(0.0, |Bounds { low, high }| if upper { high - number } else { number - low }.max(0.0))
        };
        points.iter().map(distance).collect()
    };
    if points.iter().any(|point| interval(point.interval).is_some()) {
        trace[if sideways { "error_x" } else { "error_y" }] = json!({
            "type": "data", "symmetric": false, "array": distances(true), "arrayminus": distances(false),
            "color": color, "thickness": 1.3, "width": 3,
        });
    }
}

/// What is shown on pointing at a number.
fn hints(panel: &ReadyPanel<'_>, name: &str, points: &[Point]) -> Vec<String> {
    let tell = |axis: &ReadyAxis, number: f64, bounds: Option<Bounds>| {
        let text = match axis.names() {
            Some(names) => names.get(number.round().max(0.0) as usize).cloned().unwrap_or_default(),
            None if bounds.is_some() => shown_with(number, bounds, axis.percent),
            None => shown(number, axis.percent),
        };
        let separator = if axis.label.is_empty() { "" } else { ": " };
        escaped(&format!("{}{separator}{text}", axis.label))
    };
    let hint = |point: &Point| {
        let (of_x, of_y) = if panel.sideways { (point.interval, None) } else { (None, point.interval) };
        let (x, y) = (tell(&panel.x, point.x, of_x), tell(&panel.y, point.y, of_y));
        if name.is_empty() {
            format!("{x}<br>{y}")
        } else {
            format!("<b>{}</b><br>{x}<br>{y}", escaped(name))
        }
    };
    points.iter().map(hint).collect()
}
