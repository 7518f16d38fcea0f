//! SVG output: header, legend and axes; layers are in modules of their own.

mod canvas;
mod dendrogram;
mod heatmap;
mod layout;
mod series;

use std::fmt::Write as _;

use crate::alt_text::describe;
use crate::axis::Tick;
use crate::model::{Direction, Figure, Layer};
use crate::notes::notes;
use crate::number::coordinate;
use crate::panel::ResolvedPanel;
use crate::resolved_figure::ResolvedFigure;
use crate::style::{AXIS, GRAY, GRID, STYLE_COUNT, SeriesStyle, StyleMap, TEXT, TEXT_MUTED};
use crate::text_layout::{FONT_SIZE, escape, shorten, width};
use canvas::{Anchor, Area, Canvas, Paint, TextSpan};
use layout::{
    LEGEND_SAMPLE_WIDTH, LINE_HEIGHT, LabelRotation, Layout, MARGIN, PANEL_TITLE_FONT_SIZE, Plot, TICK_GAP,
    TITLE_FONT_SIZE, WIDTH,
};

/// Fonts of the reader's system; PNGs use the last one.
const FONTS: &str = "Helvetica, Arial, sans-serif";

/// Dashes of horizontal reference lines.
const REFERENCE_LINE_DASHES: [&str; 3] = ["5 3", "1.5 2.5", "9 3 2 3"];

/// The kind of a sample in the legend.
enum Sample<'f> {
    Series(&'f str, SeriesStyle),
    More,
    ReferenceLine(usize),
}

/// A panel, its area, and the styles of its series.
pub(crate) struct PanelContext<'a, 'f> {
    pub(crate) panel: &'a ResolvedPanel<'f>,
    pub(crate) area: Area,
    pub(crate) styles: &'a StyleMap,
}

impl PanelContext<'_, '_> {
    /// The x coordinate of a value.
    pub(crate) fn x(&self, number: f64) -> Option<f64> {
        self.panel.x.fraction(number).map(|fraction| self.across(fraction))
    }

    /// The y coordinate of a value.
    pub(crate) fn y(&self, number: f64) -> Option<f64> {
        self.panel.y.fraction(number).map(|fraction| self.down(fraction))
    }

    pub(crate) fn across(&self, fraction: f64) -> f64 {
        self.area.x + fraction * self.area.width
    }

    /// Categories run downwards, values upwards.
    pub(crate) fn down(&self, fraction: f64) -> f64 {
        let fraction = if self.panel.y.names().is_some() { fraction } else { 1.0 - fraction };
        self.area.y + fraction * self.area.height
    }
}

/// The distinct labels of the horizontal lines of a figure.
fn reference_line_labels<'f>(panels: &[ResolvedPanel<'f>]) -> Vec<&'f str> {
    let mut labels = Vec::new();
    for reference_line in panels.iter().flat_map(ResolvedPanel::reference_lines) {
        if reference_line.direction == Direction::Horizontal && !labels.contains(&reference_line.label) {
            labels.push(reference_line.label);
        }
    }
    labels
}

/// The figure as SVG. With `embolden`, text gets an outline, for a light font.
pub(crate) fn svg(figure: &Figure, embolden: bool) -> String {
    let resolved = ResolvedFigure::new(figure);
    let ResolvedFigure { panels, styles, .. } = &resolved;
    let reference_lines = reference_line_labels(panels);
    let mut samples: Vec<(Sample<'_>, String)> = styles
        .named()
        .into_iter()
        .map(|(name, style)| (Sample::Series(name, style), name.to_owned()))
        .collect();
    if styles.gray_count() > 0 {
        samples.push((Sample::More, format!("{} more", styles.gray_count())));
    }
    let named_reference_lines = reference_lines.iter().enumerate().filter(|(_, label)| !label.is_empty());
    samples.extend(
        named_reference_lines.map(|(index, label)| (Sample::ReferenceLine(index), (*label).to_owned())),
    );
    let names: Vec<String> = samples.iter().map(|(_, name)| name.clone()).collect();
    let mut notes = notes(figure);
    let mut layout = Layout::new(&resolved, &names, &notes);
    let marks =
        panels.iter().zip(&layout.plots).any(|(panel, plot)| heatmap::has_interval_marks(panel, plot.area));
    if marks {
        notes.insert(0, heatmap::NOTE.to_owned());
        layout = Layout::new(&resolved, &names, &notes);
    }

    let mut canvas = Canvas::new(embolden);
    header(&mut canvas, &layout);
    for ((sample, _), entry) in samples.iter().zip(&layout.legend) {
        let y = layout.legend_top + entry.row as f64 * 19.0 + 9.0;
        draw_sample(&mut canvas, figure, sample, entry.x, y);
        canvas.text(TextSpan {
            full: &entry.full,
            ..TextSpan::new(&entry.text, entry.x + LEGEND_SAMPLE_WIDTH + 6.0, y + 4.0)
        });
    }
    for (panel, plot) in panels.iter().zip(&layout.plots) {
        draw_panel(&mut canvas, panel, plot, styles, &reference_lines);
    }
    for (index, line) in layout.notes.iter().enumerate() {
        canvas.text(
            TextSpan::new(line, MARGIN, layout.notes_top + index as f64 * LINE_HEIGHT + 12.0)
                .fill(TEXT_MUTED),
        );
    }
    svg_document(figure, layout.height, &canvas.finish())
}

fn svg_document(figure: &Figure, height: f64, body: &str) -> String {
    let (width, height) = (coordinate(WIDTH), coordinate(height));
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FONTS}\">"
    );
    let _ = writeln!(svg, "<title>{}</title>", escape(&figure.title));
    let _ = writeln!(svg, "<desc>{}</desc>", escape(&describe(figure)));
    if body.contains("url(#") {
        svg.push_str(&definitions());
    }
    let _ = writeln!(svg, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>");
    svg.push_str(body);
    svg.push_str("</svg>\n");
    svg
}

/// Hatch patterns for colored areas and missing cells, and the color scales. They are the same in every figure, so equal ids
/// on one page do no harm.
fn definitions() -> String {
    let lines = [
        "M-1 1L1 -1M0 6L6 0M5 7L7 5",
        "M-1 5L1 7M0 0L6 6M5 -1L7 1",
        "M0 3L6 3",
        "M3 0L3 6",
        "M0 0L6 6M0 6L6 0",
        "M3 0L3 6M0 3L6 3",
        "M2 3L4 3",
    ];
    let pattern = |id: &str, data: &str, color: &str| {
        format!(
            "<pattern id=\"hatch-{id}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
             <path d=\"{data}\" stroke=\"{color}\" stroke-width=\"1.2\" fill=\"none\"/></pattern>"
        )
    };
    let mut defs = String::from("<defs>");
    for (index, data) in lines.iter().enumerate().take(STYLE_COUNT - 1) {
        defs.push_str(&pattern(&(index + 1).to_string(), data, "#ffffff"));
    }
    defs.push_str(&pattern("missing", lines[0], "#b0b0b0"));
    defs.push_str(&heatmap::gradients());
    defs.push_str("</defs>\n");
    defs
}

fn header(canvas: &mut Canvas, layout: &Layout) {
    let mut y = MARGIN;
    for line in &layout.title {
        y += 21.0;
        canvas.text(TextSpan { size: TITLE_FONT_SIZE, bold: true, ..TextSpan::new(line, MARGIN, y - 6.0) });
    }
    for line in &layout.subtitle {
        y += LINE_HEIGHT;
        canvas.text(TextSpan::new(line, MARGIN, y - 4.0).fill(TEXT_MUTED));
    }
}

fn draw_sample(canvas: &mut Canvas, figure: &Figure, sample: &Sample<'_>, x: f64, y: f64) {
    let (from, to, middle) = ((x, y), (x + LEGEND_SAMPLE_WIDTH, y), (x + LEGEND_SAMPLE_WIDTH / 2.0, y));
    match sample {
        Sample::More => canvas.line(from, to, &Paint::stroke(GRAY, 1.2)),
        Sample::ReferenceLine(index) => {
            canvas.line(
                from,
                to,
                &Paint::dashed(TEXT, 1.0, REFERENCE_LINE_DASHES[index % REFERENCE_LINE_DASHES.len()]),
            );
        }
        Sample::Series(name, style) => {
            let layers =
                || figure.panels.iter().flat_map(|panel| &panel.layers).filter(|l| l.name() == Some(*name));
            if layers().any(|layer| matches!(layer, Layer::Bars { .. } | Layer::Boxes { .. })) {
                series::fill(
                    canvas,
                    Area { x: x + 4.0, y: y - 6.0, width: LEGEND_SAMPLE_WIDTH - 8.0, height: 12.0 },
                    *style,
                );
            }
            if layers().any(|layer| matches!(layer, Layer::Line { .. })) {
                canvas.line(from, to, &Paint::dashed(style.color, series::STROKE, style.dash));
            }
            if layers().any(|layer| matches!(layer, Layer::Dots { .. }) || series::has_markers(layer)) {
                canvas.marker(style.marker, middle, series::RADIUS, style.color);
            }
        }
    }
}

fn draw_panel(
    canvas: &mut Canvas,
    panel: &ResolvedPanel<'_>,
    plot: &Plot,
    styles: &StyleMap,
    reference_lines: &[&str],
) {
    let area = plot.area;
    let context = PanelContext { panel, area, styles };
    let title = shorten(panel.title, PANEL_TITLE_FONT_SIZE * 1.08, plot.outer.width);
    let words = TextSpan::new(&title, plot.outer.x, plot.outer.y + 13.0);
    canvas.text(TextSpan { full: panel.title, size: PANEL_TITLE_FONT_SIZE, bold: true, ..words });
    let is_heat = panel.heatmap().is_some();
    if !is_heat {
        grid(canvas, &context, plot);
    }
    draw_reference_lines(canvas, &context, plot, reference_lines);
    // Half a marker may extend beyond the frame.
    canvas.within(area.grown(series::RADIUS + 1.0), |canvas| {
        series::bands(canvas, &context);
        for (index, layer) in panel.layers.iter().enumerate() {
            match layer {
                Layer::Line { .. } | Layer::Dots { .. } | Layer::Bars { .. } | Layer::Boxes { .. } => {
                    series::draw(canvas, &context, index, layer);
                }
                Layer::Heatmap(heatmap) => heatmap::draw(canvas, heatmap, area),
                Layer::Dendrogram(dendrogram) => dendrogram::draw(canvas, &context, dendrogram),
                Layer::ReferenceLine { .. } => {}
                Layer::Text { x, y, text } => {
                    if let (Some(x), Some(y)) = (context.x(*x), context.y(*y)) {
                        canvas.text(TextSpan { halo: true, ..TextSpan::new(text, x, y + 4.0) });
                    }
                }
            }
        }
    });
    if !is_heat {
        canvas.line((area.x, area.y), (area.x, area.bottom()), &Paint::stroke(AXIS, 1.0));
        canvas.line((area.x, area.bottom()), (area.right(), area.bottom()), &Paint::stroke(AXIS, 1.0));
    }
    let below = x_tick_labels(canvas, plot);
    y_tick_labels(canvas, &context, plot);
    let below = x_label(canvas, panel, plot, below);
    if let Some(heatmap) = panel.heatmap() {
        heatmap::key(canvas, heatmap, Area { y: below + 6.0, ..area });
    }
}

fn grid(canvas: &mut Canvas, context: &PanelContext<'_, '_>, plot: &Plot) {
    let area = context.area;
    if context.panel.x.names().is_none() {
        for tick in &plot.x_ticks {
            let x = context.across(tick.fraction);
            canvas.line((x, area.y), (x, area.bottom()), &Paint::stroke(GRID, 1.0));
        }
    }
    if context.panel.layers.iter().any(|layer| matches!(layer, Layer::Dendrogram(_))) {
        return;
    }
    for tick in &plot.y_ticks {
        let y = context.down(tick.fraction);
        canvas.line((area.x, y), (area.right(), y), &Paint::stroke(GRID, 1.0));
    }
}

fn draw_reference_lines(
    canvas: &mut Canvas,
    context: &PanelContext<'_, '_>,
    plot: &Plot,
    horizontal: &[&str],
) {
    let area = context.area;
    let inside = |fraction: &f64| (-0.001..=1.001).contains(fraction);
    for reference_line in context.panel.reference_lines() {
        match reference_line.direction {
            Direction::Vertical => {
                if let Some(fraction) = context.panel.x.fraction(reference_line.at).filter(inside) {
                    let x = context.across(fraction);
                    canvas.line(
                        (x, area.y - 3.0),
                        (x, area.bottom()),
                        &Paint::dashed(TEXT, 1.0, REFERENCE_LINE_DASHES[0]),
                    );
                }
            }
            Direction::Horizontal => {
                if let Some(fraction) = context.panel.y.fraction(reference_line.at).filter(inside) {
                    let y = context.down(fraction);
                    let index =
                        horizontal.iter().position(|label| *label == reference_line.label).unwrap_or(0);
                    let dash = REFERENCE_LINE_DASHES[index % REFERENCE_LINE_DASHES.len()];
                    canvas.line((area.x, y), (area.right(), y), &Paint::dashed(TEXT, 1.0, dash));
                }
            }
        }
    }
    for reference_line in &plot.reference_lines {
        let y = area.y - 6.0 - reference_line.level as f64 * 15.0;
        canvas.text(TextSpan {
            full: &reference_line.full,
            ..TextSpan::new(&reference_line.text, reference_line.x, y).anchor(Anchor::Middle)
        });
    }
}

/// The labels below the axis; returns where they end.
fn x_tick_labels(canvas: &mut Canvas, plot: &Plot) -> f64 {
    let area = plot.area;
    let top = area.bottom() + TICK_GAP;
    let mut widest = 0.0f64;
    for Tick { fraction, label } in &plot.x_ticks {
        let x = area.x + fraction * area.width;
        canvas.line((x, area.bottom()), (x, area.bottom() + 4.0), &Paint::stroke(AXIS, 1.0));
        let text = shorten(
            label,
            FONT_SIZE,
            if plot.rotation == LabelRotation::Level { f64::INFINITY } else { plot.x_room },
        );
        widest = widest.max(width(&text, FONT_SIZE));
        let words = TextSpan { full: label, ..TextSpan::new(&text, x, top + 12.0) };
        match plot.rotation {
            LabelRotation::Level => canvas.text(words.anchor(Anchor::Middle)),
            LabelRotation::Slanted => {
                canvas.text(TextSpan {
                    rotation: -45.0,
                    x: x + 4.0,
                    y: top + 6.0,
                    ..words.anchor(Anchor::End)
                });
            }
            LabelRotation::Upright => {
                canvas.text(TextSpan { rotation: -90.0, x: x + 4.0, y: top, ..words.anchor(Anchor::End) });
            }
        }
    }
    match plot.rotation {
        LabelRotation::Level => top + LINE_HEIGHT + 2.0,
        LabelRotation::Slanted => top + widest * std::f64::consts::FRAC_1_SQRT_2 + 12.0,
        LabelRotation::Upright => top + widest + 4.0,
    }
}

fn x_label(canvas: &mut Canvas, panel: &ResolvedPanel<'_>, plot: &Plot, top: f64) -> f64 {
    if !plot.shows_x_label {
        return top;
    }
    let text = shorten(&panel.x.label, FONT_SIZE, plot.outer.width);
    let half = width(&text, FONT_SIZE) / 2.0;
    // At the middle of the axis, unless the label would leave the panel's area.
    let middle = (plot.area.x + plot.area.width / 2.0)
        .clamp(plot.outer.x + half, (plot.outer.right() - half).max(plot.outer.x + half));
    let words = TextSpan::new(&text, middle, top + 12.0).anchor(Anchor::Middle);
    canvas.text(TextSpan { full: &panel.x.label, ..words });
    top + LINE_HEIGHT + 2.0
}

fn y_tick_labels(canvas: &mut Canvas, context: &PanelContext<'_, '_>, plot: &Plot) {
    let area = plot.area;
    let is_named = context.panel.y.names().is_some();
    for Tick { fraction, label } in &plot.y_ticks {
        let y = context.down(*fraction);
        if !is_named {
            canvas.line((area.x - 4.0, y), (area.x, y), &Paint::stroke(AXIS, 1.0));
        }
        let text = shorten(label, FONT_SIZE, plot.y_room);
        let words = TextSpan::new(&text, area.x - TICK_GAP, y + 4.0).anchor(Anchor::End);
        canvas.text(TextSpan { full: label, ..words });
    }
    if plot.shows_y_label {
        let label = &context.panel.y.label;
        let text = shorten(label, FONT_SIZE, area.height + 40.0);
        let (x, y) = (plot.outer.x + 10.0, area.y + area.height / 2.0);
        let words = TextSpan::new(&text, x, y).anchor(Anchor::Middle);
        canvas.text(TextSpan { full: label, rotation: -90.0, ..words });
    }
}
