//! Heat maps: colours, numbers where there is room, intervals always.

use crate::canvas::{Anchor, Area, Canvas, Paint, TextSpan};
use crate::layout::{FONT_SIZE, LINE_HEIGHT, key_lines};
use crate::model::{Bounds, Cell, Heatmap, Palette};
use crate::number::{drawable, interval, plain, shown, shown_with};
use crate::panel::ResolvedPanel;
use crate::style::{TEXT, TEXT_MUTED};
use crate::text_layout::{shorten, width};

/// What the lines in the cells mean.
pub(super) const NOTE: &str = "The line in a cell spans its interval, from the lowest colour at the left edge to the highest at the right.";

/// Width of the scale of colours.
const COLOR_KEY_WIDTH: f64 = 120.0;

/// The numbers at the ends of the colours.
pub(crate) fn ends(heatmap: &Heatmap) -> Bounds {
    let given =
        heatmap.range.and_then(|range| Some(Bounds::new(drawable(range.low)?, drawable(range.high)?)));
    if let Some(range) = given.filter(|range| range.low < range.high) {
        return range;
    }
    let values = || heatmap.cells.iter().filter_map(|cell| cell.value).filter_map(drawable);
    if heatmap.palette == Palette::Diverging {
        let largest = values().fold(0.0f64, |largest, value| largest.max(value.abs()));
        let largest = if largest > 0.0 { largest } else { 1.0 };
        return Bounds::new(-largest, largest);
    }
    let (low, high) =
        values().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low < high {
        Bounds::new(low, high)
    } else if low.is_finite() {
        Bounds::new(low - 0.5, low + 0.5)
    } else {
        Bounds::new(0.0, 1.0)
    }
}

pub(crate) fn fraction(ends: Bounds, number: f64) -> f64 {
    ((number - ends.low) / (ends.high - ends.low)).clamp(0.0, 1.0)
}

pub(crate) fn cell(heatmap: &Heatmap, row: usize, column: usize) -> Option<(&Cell, f64)> {
    let cell = heatmap.cells.get(row * heatmap.columns.len() + column)?;
    Some((cell, cell.value.and_then(drawable)?))
}

/// Whether a cell has no number.
pub(crate) fn is_incomplete(heatmap: &Heatmap) -> bool {
    let width = heatmap.columns.len();
    (0..heatmap.rows.len() * width).any(|index| cell(heatmap, index / width, index % width).is_none())
}

/// The interval as it is written below a number.
pub(crate) fn written(cell: &Cell, percent: bool) -> Option<String> {
    let Bounds { low, high } = interval(cell.interval)?;
    // With as many decimals as the number above it, if it is one.
    let digits = cell.text.trim_end_matches('%');
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let is_number = digits.replace('−', "-").parse::<f64>().is_ok();
    let end = |number: f64| match (is_number && number.abs() < 1e6, percent) {
        (true, true) => plain(number * 100.0, decimals),
        (true, false) => plain(number, decimals),
        (false, _) => shown(number, percent).trim_end_matches('%').to_owned(),
    };
    Some(format!("{} to {}", end(low), end(high)))
}

/// How much of a cell fits into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    /// The number, and its interval below.
    Both,
    /// The number, and the interval as a line.
    Number,
    /// Only the line.
    Line,
}

fn size(heatmap: &Heatmap, area: Area) -> (f64, f64) {
    (area.width / heatmap.columns.len().max(1) as f64, area.height / heatmap.rows.len().max(1) as f64)
}

/// The same for all cells, so that they can be compared.
fn room(heatmap: &Heatmap, area: Area) -> Room {
    let (cell_width, cell_height) = size(heatmap, area);
    let fits = |text: &str| width(text, FONT_SIZE) + 4.0 <= cell_width;
    let numbers = heatmap.cells.iter().all(|cell| fits(&cell.text)) && cell_height >= 16.0;
    let intervals =
        heatmap.cells.iter().filter_map(|cell| written(cell, heatmap.percent)).all(|text| fits(&text));
    match (numbers, intervals && cell_height >= 32.0) {
        (true, true) => Room::Both,
        (true, false) => Room::Number,
        (false, _) => Room::Line,
    }
}

/// Whether the cells of a panel have lines that must be explained.
pub(super) fn has_interval_marks(panel: &ResolvedPanel<'_>, area: Area) -> bool {
    panel.heatmap().is_some_and(|heatmap| {
        room(heatmap, area) != Room::Both
            && heatmap.cells.iter().any(|cell| interval(cell.interval).is_some())
    })
}

pub(super) fn draw(canvas: &mut Canvas, heatmap: &Heatmap, area: Area) {
    let (cell_width, cell_height) = size(heatmap, area);
    let ends = ends(heatmap);
    let room = room(heatmap, area);
    for (row, row_name) in heatmap.rows.iter().enumerate() {
        for (column, column_name) in heatmap.columns.iter().enumerate() {
            let (x, y) = (area.x + column as f64 * cell_width, area.y + row as f64 * cell_height);
            let place = Area { x, y, width: cell_width, height: cell_height };
            let Some((cell, value)) = cell(heatmap, row, column) else {
                canvas.rectangle(
                    place,
                    &Paint { stroke: "#ffffff", width: 1.0, ..Paint::fill("#f6f6f6") },
                    "",
                );
                let title = format!("{row_name}, {column_name}: no data");
                canvas.rectangle(place, &Paint::fill("url(#hatch-missing)"), &title);
                continue;
            };
            let number = shown_with(value, cell.interval, heatmap.percent);
            let color = heatmap.palette.at(fraction(ends, value));
            let title = format!("{row_name}, {column_name}: {number}");
            canvas.titled(&title, |canvas| {
                canvas.rectangle(
                    place,
                    &Paint { stroke: "#ffffff", width: 1.0, ..Paint::fill(&color.hex()) },
                    "",
                );
                inside(canvas, heatmap, cell, place, room, color.text_color(), ends);
            });
        }
    }
}

fn inside(
    canvas: &mut Canvas,
    heatmap: &Heatmap,
    cell: &Cell,
    place: Area,
    room: Room,
    text_color: &str,
    ends: Bounds,
) {
    let middle = (place.x + place.width / 2.0, place.y + place.height / 2.0);
    let words = |text, y| TextSpan::new(text, middle.0, y).anchor(Anchor::Middle).fill(text_color);
    let bounds = interval(cell.interval);
    match (room, bounds) {
        (Room::Both, Some(_)) => {
            canvas.text(TextSpan { bold: true, ..words(&cell.text, middle.1 - 3.0) });
            let written = written(cell, heatmap.percent).unwrap_or_default();
            canvas.text(words(&written, middle.1 + 12.0));
        }
        (Room::Both | Room::Number, None) => canvas.text(words(&cell.text, middle.1 + 4.0)),
        (Room::Number, Some(_)) => canvas.text(words(&cell.text, middle.1 + 2.0)),
        (Room::Line, _) => {}
    }
    if let (Room::Number | Room::Line, Some(bounds)) = (room, bounds) {
        let edge = 2.0f64.min(place.width / 8.0);
        let across = |number| place.x + edge + fraction(ends, number) * (place.width - 2.0 * edge);
        let y = if room == Room::Line { middle.1 } else { place.bottom() - 4.0 };
        // A hair across the cell is the scale on which the interval lies.
        canvas.line(
            (across(ends.low), y),
            (across(ends.high), y),
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

/// The colours of both palettes from end to end.
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

/// The scale of colours below the panel, and what it stands for.
pub(super) fn key(canvas: &mut Canvas, heatmap: &Heatmap, area: Area) {
    let ends = ends(heatmap);
    let baseline = area.y + 11.0;
    let (low, high) = (shown(ends.low, heatmap.percent), shown(ends.high, heatmap.percent));
    canvas.text(TextSpan::new(&low, area.x, baseline));
    let left = area.x + width(&low, FONT_SIZE) + 6.0;
    let length = COLOR_KEY_WIDTH.min(area.width * 0.4);
    let bar = Area { x: left, y: area.y + 1.0, width: length, height: 11.0 };
    canvas.rectangle(bar, &Paint::fill(&format!("url(#{})", gradient_name(heatmap.palette))), "");
    canvas.text(TextSpan::new(&high, left + length + 6.0, baseline));
    let mut right = left + length + 6.0 + width(&high, FONT_SIZE) + 14.0;
    if is_incomplete(heatmap) {
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
