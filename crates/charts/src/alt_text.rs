//! Alternative text: a figure in a few sentences, for screen readers.

use crate::brackets::brackets;
use crate::model::{Dendrogram, Direction, Figure, Heatmap, Layer, Panel, Point, Summary};
use crate::number::{drawable, short, shown, shown_with};
use crate::panel::ResolvedPanel;

/// Layers beyond this number are only counted.
const MAX_DESCRIBED_LAYERS: usize = 12;

/// The layers with their main numbers and intervals.
pub(crate) fn describe(figure: &Figure) -> String {
    let mut sentences = Vec::new();
    if !figure.subtitle.is_empty() {
        sentences.push(sentence(&figure.subtitle));
    }
    let mut left = MAX_DESCRIBED_LAYERS;
    let mut skipped = 0;
    for panel in &figure.panels {
        let ready = ResolvedPanel::new(panel);
        for (index, layer) in panel.layers.iter().enumerate() {
            if left == 0 {
                skipped += 1;
                continue;
            }
            left -= 1;
            let heading = if index == 0 { heading(panel) } else { String::new() };
            sentences.push(sentence(&format!("{heading}{}", describe_layer(&ready, layer))));
        }
    }
    match skipped {
        0 => {}
        1 => sentences.push("One more series is not described.".to_owned()),
        count => sentences.push(format!("{count} more series are not described.")),
    }
    if sentences.is_empty() {
        sentences.push("No data to show.".to_owned());
    }
    sentences.join(" ")
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

fn heading(panel: &Panel) -> String {
    let axes = match (panel.y.label.as_str(), panel.x.label.as_str()) {
        ("", "") => String::new(),
        (label, "") | ("", label) => label.to_owned(),
        (y, x) => format!("{y} against {x}"),
    };
    match (panel.title.as_str(), axes.as_str()) {
        ("", "") => String::new(),
        (heading, "") | ("", heading) => format!("{heading}: "),
        (title, axes) => format!("{title}, {axes}: "),
    }
}

fn describe_layer(panel: &ResolvedPanel<'_>, layer: &Layer) -> String {
    match layer {
        Layer::Line { name, points, .. } | Layer::Dots { name, points } | Layer::Bars { name, points } => {
            describe_points(panel, name, points)
        }
        Layer::Boxes { name, boxes } => describe_boxes(panel, name, boxes),
        Layer::Heatmap(heatmap) => describe_heatmap(heatmap),
        Layer::Dendrogram(dendrogram) => describe_dendrogram(dendrogram),
        Layer::ReferenceLine { label, at, direction } => {
            let axis = if *direction == Direction::Horizontal { &panel.y } else { &panel.x };
            format!("a line at {} marks {label}", shown(*at, axis.percent))
        }
        Layer::Text { text, .. } => format!("the text {text}"),
    }
}

/// A position on the other axis, as a number or a category.
fn position_label(panel: &ResolvedPanel<'_>, number: f64) -> String {
    let axis = if panel.sideways { &panel.y } else { &panel.x };
    match axis.names() {
        Some(names) => names.get(number.round().max(0.0) as usize).cloned().unwrap_or_default(),
        None => shown(number, axis.percent),
    }
}

fn describe_points(panel: &ResolvedPanel<'_>, name: &str, points: &[Point]) -> String {
    let name = if name.is_empty() { String::new() } else { format!("{name}, ") };
    let percent = if panel.sideways { panel.x.percent } else { panel.y.percent };
    let describe_one = |point: &Point| {
        let (at, number) = if panel.sideways { (point.y, point.x) } else { (point.x, point.y) };
        format!("{} at {}", shown_with(number, point.interval, percent), position_label(panel, at))
    };
    let points: Vec<&Point> = points.iter().filter(|point| point.is_drawable()).collect();
    match points.as_slice() {
        [] => format!("{name}no points"),
        [only] => format!("{name}{}", describe_one(only)),
        [first, second] => format!("{name}{} and {}", describe_one(first), describe_one(second)),
        [first, .., last] => {
            format!("{name}{} points from {} to {}", points.len(), describe_one(first), describe_one(last))
        }
    }
}

fn describe_boxes(panel: &ResolvedPanel<'_>, name: &str, boxes: &[Summary]) -> String {
    let name = if name.is_empty() { String::new() } else { format!("{name}, ") };
    let percent = if panel.sideways { panel.x.percent } else { panel.y.percent };
    let describe_one = |summary: &Summary| {
        let [median, q1, q3] = [summary.median, summary.q1, summary.q3].map(|number| shown(number, percent));
        format!("{} {median} (quartiles {q1} and {q3})", position_label(panel, summary.at))
    };
    let described: Vec<String> =
        boxes.iter().filter(|summary| summary.is_drawable()).take(6).map(describe_one).collect();
    let rest = if boxes.len() > 6 { format!(" and {} more", boxes.len() - 6) } else { String::new() };
    if described.is_empty() {
        format!("{name}no boxes")
    } else {
        format!("{name}medians: {}{rest}", described.join(", "))
    }
}

fn describe_heatmap(heatmap: &Heatmap) -> String {
    let mut cells: Vec<(f64, String)> = Vec::new();
    for (index, cell) in heatmap.cells.iter().enumerate().take(heatmap.rows.len() * heatmap.columns.len()) {
        if let Some(value) = cell.value.and_then(drawable) {
            let (row, column) = (index / heatmap.columns.len(), index % heatmap.columns.len());
            let number = shown_with(value, cell.interval, heatmap.percent);
            cells.push((value, format!("{number} for {}, {}", heatmap.rows[row], heatmap.columns[column])));
        }
    }
    let lowest = cells.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let highest = cells.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let shape = format!("{} rows, {} columns", heatmap.rows.len(), heatmap.columns.len());
    let label = if heatmap.label.is_empty() { String::new() } else { format!("{}, ", heatmap.label) };
    match (lowest, highest) {
        (Some((_, low)), Some((_, high))) => format!("{label}{shape}: lowest {low}, highest {high}"),
        _ => format!("{label}{shape}, no data"),
    }
}

fn describe_dendrogram(dendrogram: &Dendrogram) -> String {
    let count = dendrogram.leaves.len();
    let heights: Vec<f64> = brackets(dendrogram).iter().map(|bracket| bracket.height).collect();
    let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let pair =
        dendrogram.merges.iter().find(|merge| merge.height == lowest && merge.a < count && merge.b < count);
    let nearest = pair.map_or(String::new(), |merge| {
        format!(" ({} and {})", dendrogram.leaves[merge.a], dendrogram.leaves[merge.b])
    });
    let noise = dendrogram
        .noise
        .and_then(drawable)
        .map_or(String::new(), |noise| format!("; distances up to {} are within noise", short(noise)));
    if heights.is_empty() {
        format!("{count} leaves, none merged{noise}")
    } else {
        format!(
            "{count} leaves, first merge at {}{nearest}, last merge at {}{noise}",
            short(lowest),
            short(highest)
        )
    }
}
