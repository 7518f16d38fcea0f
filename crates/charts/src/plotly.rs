//! The input of plotly: traces and a layout, as JSON.
//!
//! Plotly interprets some tags in every text, so texts are escaped. Its templates interpret `%{...}`, so names are never used
//! in templates.

mod traces;

use serde_json::{Map, Value, json};

use crate::axis::{Ends, ResolvedAxis};
use crate::model::{Bounds, Figure, Layer};
use crate::number::{log_ticks, tick_labels};
use crate::panel::ResolvedPanel;
use crate::reference_lines::{PlacedReferenceLine, level_count, place_reference_lines};
use crate::resolved_figure::ResolvedFigure;
use crate::style::{AXIS, GRID, StyleMap, TEXT};
use crate::text_layout::{shorten, width};

/// The page width that layouts are computed for; on other widths, distances between panels scale with it.
const WIDTH: f64 = 960.0;
/// Height of tick labels, of an axis title, and of the label of a vertical line.
const TICK_LABEL_HEIGHT: f64 = 26.0;
const TITLE_HEIGHT: f64 = 24.0;
const REFERENCE_LABEL_HEIGHT: f64 = 16.0;
/// The fraction of a panel's width that is left after plotly has reserved space for labels.
const MIN_PLOT_FRACTION: f64 = 0.85;
/// The maximum width of a category label.
const MAX_NAME_WIDTH: f64 = 190.0;

/// The input of plotly.
pub(crate) struct Plotly {
    pub(crate) traces: Vec<Value>,
    pub(crate) layout: Value,
    /// In pixels.
    pub(crate) height: f64,
}

/// A text that plotly shows literally.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(['\n', '\r', '\t'], " ")
}

/// An escaped text, short enough for an axis.
fn on_axis(text: &str) -> String {
    escaped(&shorten(text, 12.0, MAX_NAME_WIDTH))
}

/// `"x"` and `"y"` for the first panel, `"x2"` and `"y2"` for the second.
fn reference(axis: &str, panel: usize) -> String {
    if panel == 0 { axis.to_owned() } else { format!("{axis}{}", panel + 1) }
}

/// A value in the coordinates of plotly's annotations, which are logarithms on a logarithmic axis.
fn placed(axis: &ResolvedAxis, number: f64) -> Option<f64> {
    axis.fraction(number)?;
    Some(if matches!(axis.ends, Ends::Log(_)) { number.log10() } else { number })
}

/// Builder of traces.
struct Builder<'a> {
    traces: Vec<Value>,
    shapes: Vec<Value>,
    annotations: Vec<Value>,
    styles: &'a StyleMap,
    /// Names that are in the legend already.
    listed: Vec<String>,
}

pub(crate) fn plotly(figure: &Figure) -> Plotly {
    let resolved = ResolvedFigure::new(figure);
    let panels = &resolved.panels;
    let mut builder = Builder {
        traces: Vec::new(),
        shapes: Vec::new(),
        annotations: Vec::new(),
        styles: &resolved.styles,
        listed: Vec::new(),
    };
    let grid = Grid::new(&resolved);
    let mut layout = Map::new();
    for (index, (panel, placement)) in panels.iter().zip(&grid.placements).enumerate() {
        let (x, y) = grid.domains(placement);
        let mut across = axis(&panel.x, x, &reference("y", index), placement.shows_x_label);
        if let Some(angle) = placement.angle {
            across["tickangle"] = json!(angle);
        }
        let mut up = axis(&panel.y, y, &reference("x", index), placement.shows_y_label);
        if let Some(names) = panel.y.names() {
            // Categories run downwards.
            up["range"] = json!([names.len() as f64 - 0.5, -0.5]);
        }
        layout.insert(reference("xaxis", index), across);
        layout.insert(reference("yaxis", index), up);
        builder.title(panel.title, x[0], y[1], grid.levels(placement) * REFERENCE_LABEL_HEIGHT);
        let key_top = y[0] - (placement.below - COLOR_KEY_HEIGHT) / grid.inner;
        for (position, layer) in panel.layers.iter().enumerate() {
            let before = builder.traces.len();
            builder.layer(panel, index, position, layer, [x[0], key_top]);
            for trace in &mut builder.traces[before..] {
                trace["xaxis"] = json!(reference("x", index));
                trace["yaxis"] = json!(reference("y", index));
            }
        }
        builder.reference_lines(
            panel,
            index,
            &placement.reference_lines,
            placement.width * MIN_PLOT_FRACTION,
        );
    }
    let has = |kind: fn(&Layer) -> bool| panels.iter().any(|panel| panel.layers.iter().any(kind));
    if has(|layer| matches!(layer, Layer::Bars { .. })) {
        layout.insert("barmode".into(), json!("group"));
    }
    if has(|layer| matches!(layer, Layer::Boxes { .. })) {
        layout.insert("boxmode".into(), json!("group"));
    }
    let font = json!({"family": "system-ui, Helvetica, Arial, sans-serif", "size": 13, "color": TEXT});
    let legend = json!({"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom"});
    layout.insert("font".into(), font);
    layout.insert("legend".into(), legend);
    layout.insert("height".into(), json!(grid.height()));
    layout.insert("autosize".into(), json!(true));
    layout.insert("margin".into(), json!({"l": 8, "r": 16, "t": 8, "b": 8, "pad": 0}));
    layout.insert("paper_bgcolor".into(), json!("#ffffff"));
    layout.insert("plot_bgcolor".into(), json!("#ffffff"));
    layout.insert("hovermode".into(), json!("closest"));
    layout.insert("shapes".into(), Value::Array(builder.shapes));
    layout.insert("annotations".into(), Value::Array(builder.annotations));
    Plotly { traces: builder.traces, layout: Value::Object(layout), height: grid.height() }
}

/// Height of the color scale with its labels.
const COLOR_KEY_HEIGHT: f64 = 56.0;

/// The position of a panel.
struct PanelPlacement {
    row: usize,
    /// Pixels from the left of a page of the default width to the axis, and its length.
    left: f64,
    width: f64,
    /// Pixels below the axis.
    below: f64,
    /// Rotation of the labels below the axis in degrees, if any.
    angle: Option<i32>,
    shows_x_label: bool,
    shows_y_label: bool,
    reference_lines: Vec<PlacedReferenceLine>,
}

/// The heights of a row in pixels.
#[derive(Default)]
struct Row {
    above: f64,
    plot: f64,
    below: f64,
}

struct Grid {
    placements: Vec<PanelPlacement>,
    rows: Vec<Row>,
    inner: f64,
}

impl Grid {
    fn new(resolved: &ResolvedFigure<'_>) -> Self {
        let placements: Vec<PanelPlacement> =
            (0..resolved.panels.len()).map(|index| place_panel(resolved, index)).collect();
        let mut rows: Vec<Row> = Vec::new();
        for (panel, placement) in resolved.panels.iter().zip(&placements) {
            if rows.len() <= placement.row {
                rows.push(Row::default());
            }
            let row = &mut rows[placement.row];
            let levels = level_count(&placement.reference_lines) as f64;
            row.above = row.above.max(
                if panel.title.is_empty() { 10.0 } else { TITLE_HEIGHT } + levels * REFERENCE_LABEL_HEIGHT,
            );
            row.plot = row.plot.max(plot_height(panel, resolved.columns));
            row.below = row.below.max(placement.below);
        }
        let inner = rows.iter().map(|row| row.above + row.plot + row.below).sum::<f64>().max(120.0);
        Self { placements, rows, inner }
    }

    /// With room for two rows of the legend.
    fn height(&self) -> f64 {
        (self.inner + 60.0).round()
    }

    /// The number of text rows above a row of panels.
    fn levels(&self, placement: &PanelPlacement) -> f64 {
        let same_row = self.placements.iter().filter(|other| other.row == placement.row);
        level_count(same_row.flat_map(|other| &other.reference_lines)) as f64
    }

    fn domains(&self, placement: &PanelPlacement) -> ([f64; 2], [f64; 2]) {
        let before: f64 = self.rows[..placement.row].iter().map(|row| row.above + row.plot + row.below).sum();
        let row = &self.rows[placement.row];
        let top = 1.0 - (before + row.above) / self.inner;
        let bottom = top - row.plot / self.inner;
        let right = (placement.left + placement.width) / WIDTH;
        ([placement.left / WIDTH, right.min(1.0)], [bottom.max(0.0), top])
    }
}

fn plot_height(panel: &ResolvedPanel<'_>, columns: usize) -> f64 {
    /// Rows with the height that each needs.
    const MAX_ROOMY_ROWS: usize = 30;
    let row = |names: usize| match panel.heatmap() {
        _ if names > MAX_ROOMY_ROWS => 19.0,
        Some(_) => 34.0,
        None => 28.0,
    };
    match panel.y.names() {
        Some(names) => (names.len() as f64 * row(names.len())).clamp(80.0, 2400.0),
        None if columns == 1 => 380.0,
        None => 260.0,
    }
}

fn place_panel(resolved: &ResolvedFigure<'_>, index: usize) -> PanelPlacement {
    let columns = resolved.columns;
    let panel = &resolved.panels[index];
    let column = index % columns;
    let shows_y_label = resolved.shows_y_label(index);
    let shows_x_label = resolved.shows_x_label(index);
    let widest =
        |names: &[String]| names.iter().map(|name| width(name, 13.0).min(MAX_NAME_WIDTH)).fold(0.0, f64::max);
    let cell = WIDTH / columns as f64;
    // Plotly itself reserves space for the labels of the first column.
    let left = if column == 0 {
        0.0
    } else {
        panel.y.names().map_or(46.0, widest) + if shows_y_label { TITLE_HEIGHT } else { 0.0 } + 24.0
    };
    let plot_width = (cell - left - if column + 1 == columns { 0.0 } else { 8.0 }).max(60.0);
    let names = panel.x.names().unwrap_or_default();
    let slot = plot_width * 0.8 / names.len().max(1) as f64;
    let (angle, words) = match widest(names) {
        wide if wide + 6.0 <= slot => (None, TICK_LABEL_HEIGHT),
        // Slanted labels would overlap.
        wide if slot < 15.0 => (Some(-90), wide + 18.0),
        wide => (Some(-45), wide * 0.75 + 18.0),
    };
    let label = if shows_x_label { TITLE_HEIGHT } else { 0.0 };
    let key = if panel.heatmap().is_some() { COLOR_KEY_HEIGHT } else { 0.0 };
    PanelPlacement {
        row: index / columns,
        left: column as f64 * cell + left,
        width: plot_width,
        below: words + label + key + 10.0,
        angle,
        shows_x_label,
        shows_y_label,
        reference_lines: place_reference_lines(panel, 0.0, plot_width * MIN_PLOT_FRACTION),
    }
}

fn axis(axis: &ResolvedAxis, domain: [f64; 2], anchor: &str, shows_label: bool) -> Value {
    let label = if shows_label { escaped(&axis.label) } else { String::new() };
    let mut object = json!({
        "domain": domain,
        "anchor": anchor,
        "title": {"text": label, "standoff": 6, "font": {"size": 13}},
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
        Ends::Log(range) => {
            let ticks = log_ticks(*range, 7);
            object["type"] = json!("log");
            object["range"] = json!([range.low.log10(), range.high.log10()]);
            // Plotly shows only the first digit of ticks between powers of ten.
            object["ticktext"] = json!(tick_labels(&ticks, axis.percent, true));
            object["tickvals"] = json!(ticks);
        }
        Ends::Names(names) => {
            let texts: Vec<String> = names.iter().map(|name| on_axis(name)).collect();
            object["tickvals"] = json!((0..names.len()).collect::<Vec<_>>());
            object["ticktext"] = json!(texts);
            object["range"] = json!([-0.5, names.len() as f64 - 0.5]);
            object["showgrid"] = json!(false);
        }
    }
    if axis.percent && !matches!(axis.ends, Ends::Log(_)) {
        object["tickformat"] = json!(",.3~p");
    }
    object
}
