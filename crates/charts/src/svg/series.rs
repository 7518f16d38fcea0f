//! Lines with bands, dots with error bars, bars, and boxes.

use super::PanelContext;
use super::canvas::{Area, Canvas, Paint, path};
use crate::model::{Bounds, Layer, Point, Summary};
use crate::number::{interval, shown_with};
use crate::style::SeriesStyle;

/// Radius of a dot.
pub(super) const RADIUS: f64 = 4.0;
/// Width of a line.
pub(super) const STROKE: f64 = 1.8;
/// Lines with more points than this have no markers.
const MAX_POINTS_WITH_MARKERS: usize = 30;

pub(super) fn has_markers(layer: &Layer) -> bool {
    matches!(layer, Layer::Line { points, step: false, .. } if points.len() <= MAX_POINTS_WITH_MARKERS)
}

pub(super) fn draw(canvas: &mut Canvas, context: &PanelContext<'_, '_>, index: usize, layer: &Layer) {
    match layer {
        Layer::Line { name, points, step } => {
            line(canvas, context, context.styles.get(name), points, *step, has_markers(layer));
        }
        Layer::Dots { name, points } => dots(canvas, context, index, name, points),
        Layer::Bars { name, points } => bars(canvas, context, index, name, points),
        Layer::Boxes { name, boxes } => {
            for summary in boxes.iter().filter(|summary| summary.is_drawable()) {
                draw_box(canvas, context, index, name, summary);
            }
        }
        Layer::Heatmap(_) | Layer::Dendrogram(_) | Layer::ReferenceLine { .. } | Layer::Text { .. } => {}
    }
}

/// A colored area with the hatch of its style.
pub(super) fn fill(canvas: &mut Canvas, area: Area, style: SeriesStyle) {
    canvas.rectangle(area, &Paint::fill(style.color), "");
    if style.hatch > 0 {
        canvas.rectangle(area, &Paint::fill(&format!("url(#hatch-{})", style.hatch)), "");
    }
    canvas.rectangle(area, &Paint::stroke(style.color, 1.0), "");
}

/// A point of a line with the ends of its band, in pixels.
struct LinePoint {
    at: (f64, f64),
    band: Option<(f64, f64)>,
}

fn line_points(context: &PanelContext<'_, '_>, points: &[Point]) -> Vec<Option<LinePoint>> {
    let line_point = |point: &Point| {
        let at = (context.x(point.x)?, context.y(point.y)?);
        let band =
            interval(point.interval).filter(|_| !context.panel.sideways).map(|Bounds { low, high }| {
                let end = |number| context.down(context.panel.y.end_fraction(number));
                (end(low), end(high))
            });
        Some(LinePoint { at, band })
    };
    points.iter().map(line_point).collect()
}

/// The bands of all lines, below every line.
pub(super) fn bands(canvas: &mut Canvas, context: &PanelContext<'_, '_>) {
    let lines = || context.panel.layers.iter().filter(|layer| matches!(layer, Layer::Line { .. }));
    // Many overlapping bands would be unreadable.
    let opacity = if lines().count() <= 3 { 0.16 } else { 0.09 };
    for layer in lines() {
        let Layer::Line { name, points, step } = layer else { continue };
        let style = context.styles.get(name);
        if style.is_gray {
            continue;
        }
        let line_points = line_points(context, points);
        for run in line_points
            .split(|line_point| line_point.as_ref().is_none_or(|line_point| line_point.band.is_none()))
        {
            let run: Vec<&LinePoint> = run.iter().flatten().collect();
            band(canvas, &run, style, *step, opacity);
        }
    }
}

fn line(
    canvas: &mut Canvas,
    context: &PanelContext<'_, '_>,
    style: SeriesStyle,
    points: &[Point],
    step: bool,
    markers: bool,
) {
    let line_points = line_points(context, points);
    let width = if style.is_gray { 1.0 } else { STROKE };
    // A missing value leaves a gap in the line.
    for run in line_points.split(Option::is_none) {
        let pixels: Vec<(f64, f64)> = run.iter().flatten().map(|line_point| line_point.at).collect();
        if pixels.len() > 1 {
            canvas.path(&path(&stepped(&pixels, step)), &Paint::dashed(style.color, width, style.dash));
        }
        if (markers && !style.is_gray) || pixels.len() == 1 {
            for pixel in &pixels {
                canvas.marker(style.marker, *pixel, RADIUS * 0.85, style.color);
            }
        }
    }
}

fn band(canvas: &mut Canvas, part: &[&LinePoint], style: SeriesStyle, step: bool, opacity: f64) {
    let edge = |end: fn((f64, f64)) -> f64| -> Vec<(f64, f64)> {
        let pixels: Vec<_> =
            part.iter().filter_map(|line_point| Some((line_point.at.0, end(line_point.band?)))).collect();
        stepped(&pixels, step)
    };
    let (mut lower, upper) = (edge(|band| band.0), edge(|band| band.1));
    if let ([from], [to]) = (lower.as_slice(), upper.as_slice()) {
        canvas.line(*from, *to, &Paint::stroke(style.color, 1.2));
    }
    if part.len() < 2 {
        return;
    }
    lower.reverse();
    let outline = path(upper.iter().chain(&lower)) + "Z";
    canvas.path(&outline, &Paint::fill(style.color).opacity(opacity));
    for edge in [&upper, &lower] {
        canvas.path(&path(edge), &Paint::stroke(style.color, 0.6).opacity(0.55));
    }
}

/// The corners of a step function.
fn stepped(pixels: &[(f64, f64)], step: bool) -> Vec<(f64, f64)> {
    if !step {
        return pixels.to_vec();
    }
    let mut corners = Vec::with_capacity(pixels.len() * 2);
    for (index, pixel) in pixels.iter().enumerate() {
        if index > 0 {
            corners.push((pixel.0, pixels[index - 1].1));
        }
        corners.push(*pixel);
    }
    corners
}

/// The offset of a layer in its slot and its width, in pixels.
fn slice(context: &PanelContext<'_, '_>, index: usize, at: f64) -> Option<(f64, f64)> {
    let panel = context.panel;
    let axis = if panel.sideways { &panel.y } else { &panel.x };
    let length = if panel.sideways { context.area.height } else { context.area.width };
    let pixel = |number| if panel.sideways { context.y(number) } else { context.x(number) };
    let slot = panel.slot();
    let pixels = match (axis.names(), pixel(at - slot / 2.0), pixel(at + slot / 2.0)) {
        (Some(names), ..) => length / names.len().max(1) as f64,
        (None, Some(from), Some(to)) => (to - from).abs(),
        _ => 12.0,
    };
    let used = pixels * 0.76;
    let slice = panel.layer_slice(index);
    Some((pixel(at)? + slice.offset * used, (slice.width * used).clamp(1.0, 60.0) - 1.0))
}

/// A point of the figure, from the positions on the category axis and on the value axis.
fn oriented(sideways: bool, along: f64, value: f64) -> (f64, f64) {
    if sideways { (value, along) } else { (along, value) }
}

/// The position of a value on the value axis.
fn value_at(context: &PanelContext<'_, '_>, number: f64) -> f64 {
    if context.panel.sideways {
        context.across(context.panel.x.end_fraction(number))
    } else {
        context.down(context.panel.y.end_fraction(number))
    }
}

fn whisker(
    canvas: &mut Canvas,
    context: &PanelContext<'_, '_>,
    along: f64,
    ends: (f64, f64),
    color: &str,
    cap: f64,
) {
    let sideways = context.panel.sideways;
    let paint = Paint::stroke(color, 1.3);
    canvas.line(oriented(sideways, along, ends.0), oriented(sideways, along, ends.1), &paint);
    for end in [ends.0, ends.1] {
        canvas.line(oriented(sideways, along - cap, end), oriented(sideways, along + cap, end), &paint);
    }
}

/// The tooltip of a value.
fn tooltip(context: &PanelContext<'_, '_>, name: &str, point: &Point) -> String {
    let (axis, other, place, number) = if context.panel.sideways {
        (&context.panel.x, &context.panel.y, point.y, point.x)
    } else {
        (&context.panel.y, &context.panel.x, point.x, point.y)
    };
    let place = match other.names() {
        Some(names) => names.get(place.round().max(0.0) as usize).cloned().unwrap_or_default(),
        None => crate::number::shown(place, other.percent),
    };
    let separator = if name.is_empty() { "" } else { ", " };
    format!("{name}{separator}{place}: {}", shown_with(number, point.interval, axis.percent))
}

fn dots(canvas: &mut Canvas, context: &PanelContext<'_, '_>, index: usize, name: &str, points: &[Point]) {
    let style = context.styles.get(name);
    let sideways = context.panel.sideways;
    let is_named = if sideways { context.panel.y.names() } else { context.panel.x.names() }.is_some();
    for point in points {
        let (Some(x), Some(y)) = (context.x(point.x), context.y(point.y)) else { continue };
        let (along, value) = if sideways { (y, x) } else { (x, y) };
        let moved =
            if is_named { slice(context, index, if sideways { point.y } else { point.x }) } else { None };
        let along = moved.map_or(along, |(along, _)| along);
        canvas.titled(&tooltip(context, name, point), |canvas| {
            if let Some(Bounds { low, high }) = interval(point.interval) {
                let ends = (value_at(context, low), value_at(context, high));
                whisker(canvas, context, along, ends, style.color, 3.0);
            }
            canvas.marker(style.marker, oriented(sideways, along, value), RADIUS, style.color);
        });
    }
}

fn rectangle(sideways: bool, along: f64, width: f64, from: f64, to: f64) -> Area {
    let (low, length) = (from.min(to), (from - to).abs());
    let start = along - width / 2.0;
    if sideways {
        Area { x: low, y: start, width: length, height: width }
    } else {
        Area { x: start, y: low, width, height: length }
    }
}

fn bars(canvas: &mut Canvas, context: &PanelContext<'_, '_>, index: usize, name: &str, points: &[Point]) {
    let style = context.styles.get(name);
    let sideways = context.panel.sideways;
    for point in points.iter().filter(|point| point.is_drawable()) {
        let (at, number) = if sideways { (point.y, point.x) } else { (point.x, point.y) };
        let Some((along, width)) = slice(context, index, at) else { continue };
        let area = rectangle(sideways, along, width, value_at(context, 0.0), value_at(context, number));
        canvas.titled(&tooltip(context, name, point), |canvas| {
            fill(canvas, area, style);
            if let Some(Bounds { low, high }) = interval(point.interval) {
                let ends = (value_at(context, low), value_at(context, high));
                // A light outline keeps the whisker visible on its bar.
                let sides = [oriented(sideways, along, ends.0), oriented(sideways, along, ends.1)];
                canvas.line(sides[0], sides[1], &Paint::stroke("#ffffff", 3.2));
                whisker(canvas, context, along, ends, "#222222", (width / 4.0).min(4.0));
            }
        });
    }
}

fn draw_box(
    canvas: &mut Canvas,
    context: &PanelContext<'_, '_>,
    index: usize,
    name: &str,
    summary: &Summary,
) {
    let style = context.styles.get(name);
    let sideways = context.panel.sideways;
    let Some((along, width)) = slice(context, index, summary.at) else { return };
    let width = (width * 0.86).min(40.0);
    let [low, q1, median, q3, high] = [summary.low, summary.q1, summary.median, summary.q3, summary.high];
    let percent = if sideways { context.panel.x.percent } else { context.panel.y.percent };
    let point = if sideways { Point::exact(median, summary.at) } else { Point::exact(summary.at, median) };
    let outliers = summary.outliers.map_or(String::new(), |count| format!("; {count} beyond the whiskers"));
    let [low_text, q1_text, q3_text, high_text] =
        [low, q1, q3, high].map(|n| crate::number::shown(n, percent));
    let title = format!(
        "{} median; quartiles {q1_text} and {q3_text}; whiskers {low_text} and {high_text}{outliers}",
        tooltip(context, name, &point)
    );
    canvas.titled(&title, |canvas| {
        let ends = [low, q1, q3, high].map(|number| value_at(context, number));
        whisker(canvas, context, along, (ends[0], ends[3]), style.color, width / 4.0);
        let area = rectangle(sideways, along, width, ends[1], ends[2]);
        canvas.rectangle(area, &Paint::fill("#ffffff"), "");
        canvas.rectangle(area, &Paint::fill(style.color).opacity(0.3), "");
        if style.hatch > 0 {
            canvas.rectangle(area, &Paint::fill(&format!("url(#hatch-{})", style.hatch)), "");
        }
        canvas.rectangle(area, &Paint::stroke(style.color, 1.3), "");
        let middle = value_at(context, median);
        let sides = [along - width / 2.0, along + width / 2.0].map(|side| oriented(sideways, side, middle));
        canvas.line(sides[0], sides[1], &Paint::stroke("#111111", 2.2));
    });
}
