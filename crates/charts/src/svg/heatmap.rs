//! Heat maps: colors and intervals, and values where they fit.

use super::canvas::{Anchor, Area, Canvas, Paint, TextSpan};
use super::layout::{LINE_HEIGHT, key_lines};
use crate::heatmap::color_fraction;
use crate::model::{Bounds, Cell, Heatmap, Palette};
use crate::number::{interval, shown, shown_with};
use crate::panel::ResolvedPanel;
use crate::style::{TEXT, TEXT_MUTED};
use crate::text_layout::{FONT_SIZE, shorten, width};

/// Explains the lines in the cells.
pub(super) const NOTE: &str =
    "The line in a cell is its interval, on the color scale from the left to the right edge.";

/// Width of the color scale.
const COLOR_KEY_WIDTH: f64 = 120.0;

/// How much detail fits into a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    /// The value, and its interval below.
    Both,
    /// The value, and the interval as a line.
    Number,
    /// Only the line.
    Line,
}

fn size(heatmap: &Heatmap, area: Area) -> (f64, f64) {
    (area.width / heatmap.columns.len().max(1) as f64, area.height / heatmap.rows.len().max(1) as f64)
}

/// The detail of all cells, which is equal so that they can be compared.
fn room(heatmap: &Heatmap, area: Area) -> Room {
    let (cell_width, cell_height) = size(heatmap, area);
    let fits = |text: &str| width(text, FONT_SIZE) + 4.0 <= cell_width;
    let numbers = heatmap.cells.iter().all(|cell| fits(&cell.text)) && cell_height >= 16.0;
    let intervals =
        heatmap.cells.iter().filter_map(|cell| cell.interval_label(heatmap.percent)).all(|text| fits(&text));
    match (numbers, intervals && cell_height >= 32.0) {
        (true, true) => Room::Both,
        (true, false) => Room::Number,
        (false, _) => Room::Line,
    }
}

/// Whether the cells of a panel show intervals as lines.
pub(super) fn has_interval_marks(panel: &ResolvedPanel<'_>, area: Area) -> bool {
    panel.heatmap().is_some_and(|heatmap| {
        room(heatmap, area) != Room::Both
            && heatmap.cells.iter().any(|cell| interval(cell.interval).is_some())
    })
}

pub(super) fn draw(canvas: &mut Canvas, heatmap: &Heatmap, area: Area) {
    let (cell_width, cell_height) = size(heatmap, area);
    let range = heatmap.color_range();
    let room = room(heatmap, area);
    for (row, row_name) in heatmap.rows.iter().enumerate() {
        for (column, column_name) in heatmap.columns.iter().enumerate() {
            let (x, y) = (area.x + column as f64 * cell_width, area.y + row as f64 * cell_height);
            let cell_area = Area { x, y, width: cell_width, height: cell_height };
            let Some((cell, value)) = heatmap.number_at(row, column) else {
                canvas.rectangle(
                    cell_area,
                    &Paint { stroke: "#ffffff", width: 1.0, ..Paint::fill("#f6f6f6") },
                    "",
                );
                let title = format!("{row_name}, {column_name}: no data");
                canvas.rectangle(cell_area, &Paint::fill("url(#hatch-missing)"), &title);
                continue;
            };
            let number = shown_with(value, cell.interval, heatmap.percent);
            let color = heatmap.palette.at(color_fraction(range, value));
            let title = format!("{row_name}, {column_name}: {number}");
            canvas.titled(&title, |canvas| {
                canvas.rectangle(
                    cell_area,
                    &Paint { stroke: "#ffffff", width: 1.0, ..Paint::fill(&color.hex()) },
                    "",
                );
                draw_cell_text(canvas, heatmap, cell, cell_area, room, color.text_color(), range);
            });
        }
    }
}

/// The value and the interval of a cell, as far as they fit.
fn draw_cell_text(
    canvas: &mut Canvas,
    heatmap: &Heatmap,
    cell: &Cell,
    area: Area,
    room: Room,
    text_color: &str,
    range: Bounds,
) {
    let middle = (area.x + area.width / 2.0, area.y + area.height / 2.0);
    let words = |text, y| TextSpan::new(text, middle.0, y).anchor(Anchor::Middle).fill(text_color);
    let bounds = interval(cell.interval);
    match (room, bounds) {
        (Room::Both, Some(_)) => {
            canvas.text(TextSpan { bold: true, ..words(&cell.text, middle.1 - 3.0) });
            let written = cell.interval_label(heatmap.percent).unwrap_or_default();
            canvas.text(words(&written, middle.1 + 12.0));
        }
        (Room::Both | Room::Number, None) => canvas.text(words(&cell.text, middle.1 + 4.0)),
        (Room::Number, Some(_)) => canvas.text(words(&cell.text, middle.1 + 2.0)),
        (Room::Line, _) => {}
    }
    if let (Room::Number | Room::Line, Some(bounds)) = (room, bounds) {
        let edge = 2.0f64.min(area.width / 8.0);
        let across = |number| area.x + edge + color_fraction(range, number) * (area.width - 2.0 * edge);
        let y = if room == Room::Line { middle.1 } else { area.bottom() - 4.0 };
        // A thin line across the cell is the scale of the interval.
        canvas.line(
            (across(range.low), y),
            (across(range.high), y),
            &Paint::stroke(text_color, 0.6).opacity(0.4),
        );
        canvas.line((across(bounds.low), y), (across(bounds.high), y), &Paint::stroke(text_color, 2.0));
    }
}

fn gradient_name(palette: Palette) -> &'static str {
    match palette {
        Palette::Sequential => "scale-sequential",
        Palette::Diverging => "scale-diverging",
    }
}

/// The gradients of both palettes.
pub(super) fn gradients() -> String {
    let gradient = |palette: Palette| {
        let stop = |step: u32| {
            let fraction = f64::from(step) / 4.0;
            format!("<stop offset=\"{fraction}\" stop-color=\"{}\"/>", palette.at(fraction).hex())
        };
        let stops: String = (0..=4).map(stop).collect();
        format!("<linearGradient id=\"{}\">{stops}</linearGradient>", gradient_name(palette))
    };
    gradient(Palette::Sequential) + &gradient(Palette::Diverging)
}

/// The color scale below the panel, with its label.
pub(super) fn key(canvas: &mut Canvas, heatmap: &Heatmap, area: Area) {
    let range = heatmap.color_range();
    let baseline = area.y + 11.0;
    let (low, high) = (shown(range.low, heatmap.percent), shown(range.high, heatmap.percent));
    canvas.text(TextSpan::new(&low, area.x, baseline));
    let left = area.x + width(&low, FONT_SIZE) + 6.0;
    let length = COLOR_KEY_WIDTH.min(area.width * 0.4);
    let bar = Area { x: left, y: area.y + 1.0, width: length, height: 11.0 };
    canvas.rectangle(bar, &Paint::fill(&format!("url(#{})", gradient_name(heatmap.palette))), "");
    canvas.text(TextSpan::new(&high, left + length + 6.0, baseline));
    let mut right = left + length + 6.0 + width(&high, FONT_SIZE) + 14.0;
    if heatmap.has_missing_cell() {
        let sample = Area { x: right, y: area.y + 1.0, width: 16.0, height: 11.0 };
        canvas.rectangle(sample, &Paint::fill("url(#hatch-missing)"), "");
        canvas.rectangle(sample, &Paint::stroke("#b0b0b0", 0.8), "");
        canvas.text(TextSpan::new("no data", right + 20.0, baseline).fill(TEXT_MUTED));
        right += 20.0 + width("no data", FONT_SIZE) + 14.0;
    }
    if key_lines(&heatmap.label, area.width) == 1 {
        canvas.text(TextSpan::new(&heatmap.label, right, baseline).fill(TEXT));
    } else {
        let text = shorten(&heatmap.label, FONT_SIZE, area.width);
        canvas
            .text(TextSpan { full: &heatmap.label, ..TextSpan::new(&text, area.x, baseline + LINE_HEIGHT) });
    }
}
