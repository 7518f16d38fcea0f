//! The picture as SVG: header, legend, axes, and each layer by its own file.

mod dendrogram;
mod heatmap;
mod series;

pub(crate) use heatmap::{cell, ends, share, written};

use std::fmt::Write as _;

use crate::alt_text::describe;
use crate::axis::Tick;
use crate::canvas::{Anchor, Area, Canvas, Paint, Words};
use crate::layout::{LINE, Layout, MARGIN, PANEL_TITLE, Plot, SAMPLE, TICK, TITLE, Turn, WIDTH, WORDS};
use crate::model::{Direction, Figure, Layer};
use crate::number::coordinate;
use crate::panel::{ReadyPanel, left_out};
use crate::style::{AXIS, FAINT, GREY, GRID, INK, LOOKS, Look, Looks};
use crate::text_layout::{escape, shorten};

/// Fonts of a reader's own; the last is the one that a PNG is drawn with.
const FONTS: &str = "Helvetica, Arial, sans-serif";

/// Lines that tell horizontal rules apart.
const RULE_DASHES: [&str; 3] = ["5 3", "1.5 2.5", "9 3 2 3"];

/// What a sample in the legend stands for.
enum Sample<'f> {
    Series(&'f str, Look),
    More,
    Rule(usize),
}

/// A panel, its room, and how the names in it look.
pub(crate) struct Stage<'a, 'f> {
    pub(crate) panel: &'a ReadyPanel<'f>,
    pub(crate) area: Area,
    pub(crate) looks: &'a Looks,
}

impl Stage<'_, '_> {
    /// Where a number is across.
    pub(crate) fn x(&self, number: f64) -> Option<f64> {
        self.panel.x.share(number).map(|share| self.across(share))
    }

    /// Where a number is from the top.
    pub(crate) fn y(&self, number: f64) -> Option<f64> {
        self.panel.y.share(number).map(|share| self.down(share))
    }

    pub(crate) fn across(&self, share: f64) -> f64 {
        self.area.x + share * self.area.width
    }

    /// Names run down, numbers up.
    pub(crate) fn down(&self, share: f64) -> f64 {
        let share = if self.panel.y.names().is_some() { share } else { 1.0 - share };
        self.area.y + share * self.area.height
    }
}

/// The labels of the horizontal lines of a figure, each once.
fn rule_labels<'f>(panels: &[ReadyPanel<'f>]) -> Vec<&'f str> {
    let mut labels = Vec::new();
    for rule in panels.iter().flat_map(ReadyPanel::rules) {
        if rule.direction == Direction::Horizontal && !labels.contains(&rule.label) {
            labels.push(rule.label);
        }
    }
    labels
}

/// The notes of a figure, and those that the drawing itself makes necessary.
pub(crate) fn notes(figure: &Figure) -> Vec<String> {
    let mut notes = figure.notes.clone();
    match left_out(figure) {
        0 => {}
        1 => notes.push("One point has no place on these axes and is not drawn.".to_owned()),
        count => notes.push(format!("{count} points have no place on these axes and are not drawn.")),
    }
    notes
}

/// Whether a heat map has a cell without a number.
pub(crate) fn has_gap(figure: &Figure) -> bool {
    let layers = figure.panels.iter().flat_map(|panel| &panel.layers);
    layers.into_iter().any(|layer| matches!(layer, Layer::Heat(heat) if heatmap::is_incomplete(heat)))
}

/// The whole picture. With `strengthen`, letters have an edge, for a light font.
pub(crate) fn svg(figure: &Figure, strengthen: bool) -> String {
    let panels: Vec<ReadyPanel<'_>> = figure.panels.iter().map(ReadyPanel::new).collect();
    let looks = Looks::new(figure);
    let rules = rule_labels(&panels);
    let mut samples: Vec<(Sample<'_>, String)> =
        looks.named().into_iter().map(|(name, look)| (Sample::Series(name, look), name.to_owned())).collect();
    if looks.grey() > 0 {
        samples.push((Sample::More, format!("{} more", looks.grey())));
    }
    let named_rules = rules.iter().enumerate().filter(|(_, label)| !label.is_empty());
    samples.extend(named_rules.map(|(index, label)| (Sample::Rule(index), (*label).to_owned())));
    let names: Vec<String> = samples.iter().map(|(_, name)| name.clone()).collect();
    let mut notes = notes(figure);
    let mut layout = Layout::new(figure, &panels, &names, &notes);
    let marks = panels.iter().zip(&layout.plots).any(|(panel, plot)| heatmap::has_marks(panel, plot.area));
    if marks {
        notes.insert(0, heatmap::NOTE.to_owned());
        layout = Layout::new(figure, &panels, &names, &notes);
    }

    let mut canvas = Canvas::new(strengthen);
    header(&mut canvas, &layout);
    for ((sample, _), entry) in samples.iter().zip(&layout.legend) {
        let y = layout.legend_top + entry.row as f64 * 19.0 + 9.0;
        draw_sample(&mut canvas, figure, sample, entry.x, y);
        canvas.text(Words { full: &entry.full, ..Words::new(&entry.text, entry.x + SAMPLE + 6.0, y + 4.0) });
    }
    for (panel, plot) in panels.iter().zip(&layout.plots) {
        draw_panel(&mut canvas, panel, plot, &looks, &rules);
    }
    for (index, line) in layout.notes.iter().enumerate() {
        canvas.text(Words::new(line, MARGIN, layout.notes_top + index as f64 * LINE + 12.0).fill(FAINT));
    }
    wrap_up(figure, layout.height, &canvas.finish())
}

fn wrap_up(figure: &Figure, height: f64, body: &str) -> String {
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

/// White lines over coloured areas, one pattern a look, grey ones over missing cells, and the scales of colours. They are
/// the same in every picture, so it does no harm if several on a page name them alike.
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
    for (index, data) in lines.iter().enumerate().take(LOOKS - 1) {
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
        canvas.text(Words { size: TITLE, bold: true, ..Words::new(line, MARGIN, y - 6.0) });
    }
    for line in &layout.subtitle {
        y += LINE;
        canvas.text(Words::new(line, MARGIN, y - 4.0).fill(FAINT));
    }
}

fn draw_sample(canvas: &mut Canvas, figure: &Figure, sample: &Sample<'_>, x: f64, y: f64) {
    let (from, to, middle) = ((x, y), (x + SAMPLE, y), (x + SAMPLE / 2.0, y));
    match sample {
        Sample::More => canvas.line(from, to, &Paint::stroke(GREY, 1.2)),
        Sample::Rule(index) => {
            canvas.line(from, to, &Paint::dashed(INK, 1.0, RULE_DASHES[index % RULE_DASHES.len()]));
        }
        Sample::Series(name, look) => {
            let layers =
                || figure.panels.iter().flat_map(|panel| &panel.layers).filter(|l| l.name() == Some(*name));
            if layers().any(|layer| matches!(layer, Layer::Bars { .. } | Layer::Boxes { .. })) {
                series::fill(
                    canvas,
                    Area { x: x + 4.0, y: y - 6.0, width: SAMPLE - 8.0, height: 12.0 },
                    *look,
                );
            }
            if layers().any(|layer| matches!(layer, Layer::Line { .. })) {
                canvas.line(from, to, &Paint::dashed(look.color, series::STROKE, look.dash));
            }
            if layers().any(|layer| matches!(layer, Layer::Dots { .. }) || series::has_markers(layer)) {
                canvas.marker(look.marker, middle, series::RADIUS, look.color);
            }
        }
    }
}

fn draw_panel(canvas: &mut Canvas, panel: &ReadyPanel<'_>, plot: &Plot, looks: &Looks, rules: &[&str]) {
    let area = plot.area;
    let stage = Stage { panel, area, looks };
    let title = shorten(panel.title, PANEL_TITLE * 1.08, plot.outer.width);
    let words = Words::new(&title, plot.outer.x, plot.outer.y + 13.0);
    canvas.text(Words { full: panel.title, size: PANEL_TITLE, bold: true, ..words });
    let is_heat = panel.heat().is_some();
    if !is_heat {
        grid(canvas, &stage, plot);
    }
    draw_rules(canvas, &stage, plot, rules);
    // Half a marker may stand out of the frame.
    canvas.within(area.grown(series::RADIUS + 1.0), |canvas| {
        series::bands(canvas, &stage);
        for (index, layer) in panel.layers.iter().enumerate() {
            match layer {
                Layer::Line { .. } | Layer::Dots { .. } | Layer::Bars { .. } | Layer::Boxes { .. } => {
                    series::draw(canvas, &stage, index, layer);
                }
                Layer::Heat(heat) => heatmap::draw(canvas, heat, area),
                Layer::Tree(tree) => dendrogram::draw(canvas, &stage, tree),
                Layer::Rule { .. } => {}
                Layer::Text { x, y, text } => {
                    if let (Some(x), Some(y)) = (stage.x(*x), stage.y(*y)) {
                        canvas.text(Words { halo: true, ..Words::new(text, x, y + 4.0) });
                    }
                }
            }
        }
    });
    if !is_heat {
        canvas.line((area.x, area.y), (area.x, area.bottom()), &Paint::stroke(AXIS, 1.0));
        canvas.line((area.x, area.bottom()), (area.right(), area.bottom()), &Paint::stroke(AXIS, 1.0));
    }
    let below = x_words(canvas, plot);
    y_words(canvas, &stage, plot);
    let below = x_label(canvas, panel, plot, below);
    if let Some(heat) = panel.heat() {
        heatmap::key(canvas, heat, Area { y: below + 6.0, ..area });
    }
}

fn grid(canvas: &mut Canvas, stage: &Stage<'_, '_>, plot: &Plot) {
    let area = stage.area;
    if stage.panel.x.names().is_none() {
        for tick in &plot.x_ticks {
            let x = stage.across(tick.share);
            canvas.line((x, area.y), (x, area.bottom()), &Paint::stroke(GRID, 1.0));
        }
    }
    if stage.panel.layers.iter().any(|layer| matches!(layer, Layer::Tree(_))) {
        return;
    }
    for tick in &plot.y_ticks {
        let y = stage.down(tick.share);
        canvas.line((area.x, y), (area.right(), y), &Paint::stroke(GRID, 1.0));
    }
}

fn draw_rules(canvas: &mut Canvas, stage: &Stage<'_, '_>, plot: &Plot, horizontal: &[&str]) {
    let area = stage.area;
    let inside = |share: &f64| (-0.001..=1.001).contains(share);
    for rule in stage.panel.rules() {
        match rule.direction {
            Direction::Vertical => {
                if let Some(share) = stage.panel.x.share(rule.at).filter(inside) {
                    let x = stage.across(share);
                    canvas.line(
                        (x, area.y - 3.0),
                        (x, area.bottom()),
                        &Paint::dashed(INK, 1.0, RULE_DASHES[0]),
                    );
                }
            }
            Direction::Horizontal => {
                if let Some(share) = stage.panel.y.share(rule.at).filter(inside) {
                    let y = stage.down(share);
                    let index = horizontal.iter().position(|label| *label == rule.label).unwrap_or(0);
                    let dash = RULE_DASHES[index % RULE_DASHES.len()];
                    canvas.line((area.x, y), (area.right(), y), &Paint::dashed(INK, 1.0, dash));
                }
            }
        }
    }
    for rule in &plot.rules {
        let y = area.y - 6.0 - rule.level as f64 * 15.0;
        canvas.text(Words { full: &rule.full, ..Words::new(&rule.text, rule.x, y).anchor(Anchor::Middle) });
    }
}

/// The words below the axis; returns where they end.
fn x_words(canvas: &mut Canvas, plot: &Plot) -> f64 {
    let area = plot.area;
    let top = area.bottom() + TICK;
    let mut widest = 0.0f64;
    for Tick { share, label } in &plot.x_ticks {
        let x = area.x + share * area.width;
        canvas.line((x, area.bottom()), (x, area.bottom() + 4.0), &Paint::stroke(AXIS, 1.0));
        let text = shorten(label, WORDS, if plot.turn == Turn::Level { f64::INFINITY } else { plot.x_room });
        widest = widest.max(crate::text_layout::width(&text, WORDS));
        let words = Words { full: label, ..Words::new(&text, x, top + 12.0) };
        match plot.turn {
            Turn::Level => canvas.text(words.anchor(Anchor::Middle)),
            Turn::Slanted => {
                canvas.text(Words { turn: -45.0, x: x + 4.0, y: top + 6.0, ..words.anchor(Anchor::End) });
            }
            Turn::Upright => {
                canvas.text(Words { turn: -90.0, x: x + 4.0, y: top, ..words.anchor(Anchor::End) });
            }
        }
    }
    match plot.turn {
        Turn::Level => top + LINE + 2.0,
        Turn::Slanted => top + widest * std::f64::consts::FRAC_1_SQRT_2 + 12.0,
        Turn::Upright => top + widest + 4.0,
    }
}

fn x_label(canvas: &mut Canvas, panel: &ReadyPanel<'_>, plot: &Plot, top: f64) -> f64 {
    if !plot.shows_x_label {
        return top;
    }
    let text = shorten(&panel.x.label, WORDS, plot.outer.width);
    let half = crate::text_layout::width(&text, WORDS) / 2.0;
    // The middle of the axis, unless the label would then leave the panel's room.
    let middle = (plot.area.x + plot.area.width / 2.0)
        .clamp(plot.outer.x + half, (plot.outer.right() - half).max(plot.outer.x + half));
    let words = Words::new(&text, middle, top + 12.0).anchor(Anchor::Middle);
    canvas.text(Words { full: &panel.x.label, ..words });
    top + LINE + 2.0
}

fn y_words(canvas: &mut Canvas, stage: &Stage<'_, '_>, plot: &Plot) {
    let area = plot.area;
    let is_named = stage.panel.y.names().is_some();
    for Tick { share, label } in &plot.y_ticks {
        let y = stage.down(*share);
        if !is_named {
            canvas.line((area.x - 4.0, y), (area.x, y), &Paint::stroke(AXIS, 1.0));
        }
        let text = shorten(label, WORDS, plot.y_room);
        let words = Words::new(&text, area.x - TICK, y + 4.0).anchor(Anchor::End);
        canvas.text(Words { full: label, ..words });
    }
    if plot.shows_y_label {
        let label = &stage.panel.y.label;
        let text = shorten(label, WORDS, area.height + 40.0);
        let (x, y) = (plot.outer.x + 10.0, area.y + area.height / 2.0);
        let words = Words::new(&text, x, y).anchor(Anchor::Middle);
        canvas.text(Words { full: label, turn: -90.0, ..words });
    }
}
