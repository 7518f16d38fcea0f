//! Figures on pages: as SVG, which works without JavaScript, and as interactive plotly charts.

use std::fmt::Write;

use reasonscape_charts::{Figure, escape};
use serde::Serialize;
use serde_json::{Value, json};

use super::query_string::encoded;
use reasonscape_analysis::tables::Table;
use reasonscape_analysis::{AccuracyGrid, AccuracyGridCell, IntervalEstimate, accuracy_interval_name};

/// Marks a response whose page has a plotly chart, which needs another Content-Security-Policy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NeedsChartCsp;

/// A figure as a template shows it.
#[derive(Serialize)]
pub(crate) struct ChartView {
    id: &'static str,
    title: String,
    subtitle: String,
    notes: Vec<String>,
    /// The text for screen readers.
    alt_text: String,
    svg: String,
    /// The URL of the plotly figure.
    source: String,
    numbers: Option<DataTable>,
}

impl ChartView {
    /// `id` must be unique on the page.
    pub(crate) fn new(figure: Figure, id: &'static str, source: String, numbers: Option<&Table>) -> Self {
        let alt_text = format!("{}. {}", figure.title, figure.description());
        let notes = figure.remarks();
        // The page shows title, subtitle and notes as HTML.
        let bare = Figure { title: String::new(), subtitle: String::new(), notes: Vec::new(), ..figure };
        let title = format!("<title>{}</title>", escape(&figure.title));
        let mut svg = bare.svg().replacen("<title></title>", &title, 1);
        // Ids of SVG patterns must be unique on the page.
        for name in ["hatch-", "scale-"] {
            svg = svg
                .replace(&format!("id=\"{name}"), &format!("id=\"{id}-{name}"))
                .replace(&format!("url(#{name}"), &format!("url(#{id}-{name}"));
        }
        Self {
            id,
            title: figure.title,
            subtitle: figure.subtitle,
            notes,
            alt_text,
            svg,
            source,
            numbers: numbers.map(DataTable::new),
        }
    }
}

/// A table as a template shows it.
#[derive(Serialize)]
pub(crate) struct DataTable {
    columns: Vec<Heading>,
    rows: Vec<Vec<String>>,
}

#[derive(Serialize)]
struct Heading {
    name: String,
    is_number: bool,
}

impl DataTable {
    fn new(table: &Table) -> Self {
        let columns = table.columns().iter().enumerate();
        Self {
            columns: columns
                .map(|(index, name)| Heading { name: name.clone(), is_number: table.is_numeric(index) })
                .collect(),
            rows: table.display_rows().collect(),
        }
    }
}

/// The URL of the trials counted in a cell.
pub(crate) fn trials_of(
    base: &str,
    view: &AccuracyGrid,
    cell: &AccuracyGridCell,
    filters: &[&str],
) -> String {
    let mut address =
        format!("{base}/trials?eval={}&task={}", encoded(&cell.eval.eval_id), encoded(&view.task));
    // The field for parameters is split at spaces.
    let (plain, spaced): (Vec<String>, Vec<String>) = cell
        .at
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .partition(|condition| !condition.contains(char::is_whitespace));
    if !plain.is_empty() {
        let _ = write!(address, "&params={}", encoded(&plain.join(" ")));
    }
    let spaced = spaced.iter().map(|condition| format!("params.{condition}"));
    for condition in spaced.chain(filters.iter().map(ToString::to_string)) {
        let _ = write!(address, "&filter={}", encoded(&condition));
    }
    address
}

/// The number of a cell, in percent without the sign: `96.9`, `100`.
pub(crate) fn percent_text(proportion: f64) -> String {
    let text = format!("{:.1}", 100.0 * proportion);
    text.strip_suffix(".0").map_or(text.clone(), ToOwned::to_owned)
}

/// The confidence interval below it: `84 to 99`.
pub(crate) fn percent_interval(estimate: &IntervalEstimate) -> String {
    format!("{:.0} to {:.0}", 100.0 * estimate.low, 100.0 * estimate.high)
}

/// The tooltip of a cell: `72.1 %, 95 % CI from 60.3 to 81.5; 46 of 64 correct, 3 truncated`.
pub(crate) fn tooltip(cell: &AccuracyGridCell, mode: &str) -> String {
    let percent = |proportion: f64| 100.0 * proportion;
    let estimate = &cell.estimate;
    match estimate.point {
        Some(point) => format!(
            "{:.1} %, {} from {:.1} to {:.1}; {}",
            percent(point),
            accuracy_interval_name(mode, 0.95),
            percent(estimate.low),
            percent(estimate.high),
            counts_text(cell)
        ),
        None if cell.n == 0 => "no trials yet".to_owned(),
        None => format!("no estimate; {}", counts_text(cell)),
    }
}

fn counts_text(cell: &AccuracyGridCell) -> String {
    let mut text = format!("{} of {} correct", cell.n_e, cell.n);
    if !cell.truncation_known {
        text += ", truncation unknown";
    } else if cell.n_t > 0 {
        let _ = write!(text, ", {} truncated", cell.n_t);
    }
    if cell.points > 1 {
        let _ = write!(text, "; {} points pooled", cell.points);
    }
    text
}

/// Adds the number of trials and the link to them to each point of a projection.
pub(crate) fn lead_to_trials(chart: &mut Value, views: &[AccuracyGrid], base: &str, filters: &[&str]) {
    let Some(traces) = chart["data"].as_array_mut() else { return };
    for (panel, view) in views.iter().enumerate() {
        let axis = if panel == 0 { "x".to_owned() } else { format!("x{}", panel + 1) };
        let cells = view.by_eval();
        // Only lines have hover texts; the edges of their bands have none.
        let lines =
            traces.iter_mut().filter(|trace| trace["xaxis"] == axis.as_str() && !trace["text"].is_null());
        for (trace, cells) in lines.zip(cells.into_iter().filter(|cells| has_point(cells))) {
            let known: Vec<&AccuracyGridCell> =
                cells.iter().filter(|cell| cell.estimate.point.is_some()).collect();
            let Some(texts) = trace["text"].as_array_mut().filter(|texts| texts.len() == known.len()) else {
                continue;
            };
            for (text, cell) in texts.iter_mut().zip(&known) {
                let plain = text.as_str().unwrap_or_default();
                *text = json!(format!("{plain}<br>{}", counts_text(cell)));
            }
            trace["customdata"] =
                known.iter().map(|cell| json!(trials_of(base, view, cell, filters))).collect();
        }
    }
}

fn has_point(cells: &[AccuracyGridCell]) -> bool {
    cells.iter().any(|cell| cell.estimate.point.is_some())
}
