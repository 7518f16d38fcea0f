//! Where everything goes: the header, the legend, the grid of panels and the notes.

use crate::axis::{ReadyAxis, Tick};
use crate::canvas::Area;
use crate::model::{Direction, Figure, Layer};
use crate::panel::ReadyPanel;
use crate::text_layout::{shorten, width, wrap};

/// Width of every picture: 180 mm, the width of a printed page, at 96 pixels to the inch.
pub(crate) const WIDTH: f64 = 680.0;
/// Size of words: 9 points.
pub(crate) const WORDS: f64 = 12.0;
/// Size of the title.
pub(crate) const TITLE: f64 = 16.0;
/// Size of the titles of panels.
pub(crate) const PANEL_TITLE: f64 = 13.0;
/// From one line of words to the next.
pub(crate) const LINE: f64 = 16.0;
/// Around the picture.
pub(crate) const MARGIN: f64 = 12.0;
/// Between panels.
const GAP: f64 = 18.0;
/// From the axis to the words of its ticks.
pub(crate) const TICK: f64 = 6.0;

/// How the names below a panel are turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    Level,
    Slanted,
    Upright,
}

/// The room that a panel has.
#[derive(Debug)]
pub(crate) struct Plot {
    /// The area between the axes.
    pub(crate) area: Area,
    /// The room with everything around it.
    pub(crate) outer: Area,
    pub(crate) x_ticks: Vec<Tick>,
    pub(crate) y_ticks: Vec<Tick>,
    pub(crate) turn: Turn,
    /// The widest that a name below the panel may be.
    pub(crate) x_room: f64,
    /// The widest that a name beside the panel may be.
    pub(crate) y_room: f64,
    /// Where the words of the vertical lines stand, each with its level above the panel.
    pub(crate) rules: Vec<PlacedRule>,
    pub(crate) shows_x_label: bool,
    pub(crate) shows_y_label: bool,
}

/// The word of a vertical line.
#[derive(Debug)]
pub(crate) struct PlacedRule {
    pub(crate) text: String,
    pub(crate) full: String,
    /// The middle of the word.
    pub(crate) x: f64,
    pub(crate) level: usize,
}

/// Everything in its place.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) title: Vec<String>,
    pub(crate) subtitle: Vec<String>,
    pub(crate) legend: Vec<Entry>,
    pub(crate) legend_top: f64,
    pub(crate) plots: Vec<Plot>,
    pub(crate) notes: Vec<String>,
    pub(crate) notes_top: f64,
    pub(crate) height: f64,
}

/// One entry of the legend.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) text: String,
    pub(crate) full: String,
    pub(crate) x: f64,
    pub(crate) row: usize,
}

/// Width of the sample before the words of an entry.
pub(crate) const SAMPLE: f64 = 28.0;

/// Places the entries of a legend in rows.
fn legend(names: &[String]) -> Vec<Entry> {
    let (mut x, mut row) = (MARGIN, 0);
    let mut entries = Vec::new();
    for name in names {
        let text = shorten(name, WORDS, 260.0).into_owned();
        let needed = SAMPLE + 6.0 + width(&text, WORDS);
        if x + needed > WIDTH - MARGIN && x > MARGIN {
            (x, row) = (MARGIN, row + 1);
        }
        entries.push(Entry { text, full: name.clone(), x, row });
        x += needed + 16.0;
    }
    entries
}

/// How many panels stand side by side.
pub(crate) fn columns(figure: &Figure) -> usize {
    let count = figure.panels.len();
    let automatic = match count {
        0 | 1 => 1,
        2..=4 => 2,
        _ => 3,
    };
    let wanted = if figure.columns == 0 { automatic } else { figure.columns };
    wanted.clamp(1, 4).min(count.max(1))
}

/// Height of the area between the axes.
fn plot_height(panel: &ReadyPanel<'_>, columns: usize) -> f64 {
    let default = match columns {
        1 => 300.0,
        2 => 210.0,
        _ => 160.0,
    };
    let Some(names) = panel.y.names() else {
        return default;
    };
    let widest_slice = |kind: fn(&Layer) -> bool| {
        let crowded = |index: &usize| kind(&panel.layers[*index]) && panel.place(*index).width < 1.0;
        (0..panel.layers.len()).filter(crowded).count()
    };
    let bars = widest_slice(|layer| matches!(layer, Layer::Bars { .. } | Layer::Boxes { .. }));
    let dots = widest_slice(|layer| matches!(layer, Layer::Dots { .. }));
    let has_cells = panel.heat().is_some_and(|heat| heat.columns.len() * columns <= 9);
    let row = if has_cells { 36.0 } else { (14.0 * bars as f64).max(13.0 * dots as f64).max(20.0) };
    (row * names.len() as f64).max(40.0)
}

/// Lines below the axis of a heat map: the colours, and their label if it needs a line of its own.
pub(crate) fn key_lines(label: &str, room: f64) -> usize {
    if label.is_empty() || width(label, WORDS) + 290.0 <= room { 1 } else { 2 }
}

/// What a panel needs beside itself before its width is known.
fn left_of(panel: &ReadyPanel<'_>, height: f64, cell: f64, has_label: bool) -> (Vec<Tick>, f64, f64) {
    let ticks = panel.y.ticks(((height / 36.0) as usize).clamp(3, 8));
    let y_room = if panel.y.names().is_some() { cell * 0.36 } else { cell * 0.5 };
    let widest = ticks.iter().map(|tick| width(&tick.label, WORDS)).fold(0.0, f64::max).min(y_room);
    (ticks, widest + TICK + if has_label { LINE + 4.0 } else { 2.0 }, y_room)
}

fn widest(ticks: &[Tick], room: f64) -> f64 {
    ticks.iter().map(|tick| width(&tick.label, WORDS)).fold(0.0, f64::max).min(room)
}

/// The ticks below a panel, and how they are turned.
fn below(axis: &ReadyAxis, plot_width: f64) -> (Vec<Tick>, Turn, f64) {
    if let Some(names) = axis.names() {
        let ticks = axis.ticks(0);
        let slot = plot_width / names.len().max(1) as f64;
        let turn = match slot {
            slot if widest(&ticks, f64::INFINITY) <= slot - 4.0 => Turn::Level,
            slot if slot >= 18.0 => Turn::Slanted,
            _ => Turn::Upright,
        };
        // Where names are closer than lines of text, every so-manieth is written.
        let stride = if turn == Turn::Upright { (13.0 / slot.max(0.1)).ceil().max(1.0) as usize } else { 1 };
        return (ticks.into_iter().step_by(stride).collect(), turn, 150.0);
    }
    // As many ticks as have room for their words.
    let about = (plot_width / 42.0) as usize;
    let fits = |ticks: &[Tick]| {
        ticks.windows(2).all(|pair| {
            let gap = (pair[1].share - pair[0].share).abs() * plot_width;
            gap >= f64::midpoint(width(&pair[0].label, WORDS), width(&pair[1].label, WORDS)) + 8.0
        })
    };
    let tries = (1..=about.clamp(3, 9)).rev().map(|about| axis.ticks(about));
    let ticks =
        tries.clone().find(|ticks| fits(ticks)).or_else(|| tries.clone().next_back()).unwrap_or_default();
    let ticks = if fits(&ticks) { ticks } else { ticks.into_iter().take(1).collect() };
    (ticks, Turn::Level, plot_width)
}

fn height_below(turn: Turn, ticks: &[Tick], x_room: f64, has_label: bool) -> f64 {
    let widest = widest(ticks, x_room);
    let words = match turn {
        Turn::Level => LINE + 2.0,
        Turn::Slanted => widest * std::f64::consts::FRAC_1_SQRT_2 + 12.0,
        Turn::Upright => widest + 4.0,
    };
    TICK + words + if has_label { LINE + 2.0 } else { 0.0 }
}

/// The words of the vertical lines, each at the lowest level where it meets no other.
pub(crate) fn place_rules(panel: &ReadyPanel<'_>, area: Area) -> Vec<PlacedRule> {
    let mut placed: Vec<PlacedRule> = Vec::new();
    let mut rules = panel.rules();
    rules.retain(|rule| rule.direction == Direction::Vertical && !rule.label.is_empty());
    rules.sort_by(|a, b| a.at.total_cmp(&b.at));
    for rule in rules {
        let Some(share) = panel.x.share(rule.at).filter(|share| (-0.001..=1.001).contains(share)) else {
            continue;
        };
        let text = shorten(rule.label, WORDS, area.width).into_owned();
        let half = width(&text, WORDS) / 2.0;
        let x = (area.x + share * area.width).clamp(area.x + half, (area.right() - half).max(area.x + half));
        let is_free = |level: &usize| {
            placed
                .iter()
                .filter(|other| other.level == *level)
                .all(|other| (other.x - x).abs() >= half + width(&other.text, WORDS) / 2.0 + 6.0)
        };
        let level = (0..placed.len()).find(is_free).unwrap_or(placed.len());
        placed.push(PlacedRule { text, full: rule.label.to_owned(), x, level });
    }
    placed
}

/// Whether a label is worth writing here: not if its neighbour says the same.
pub(crate) fn says_more(
    panels: &[ReadyPanel<'_>],
    index: usize,
    neighbour: Option<usize>,
    axis: for<'p> fn(&'p ReadyPanel<'_>) -> &'p ReadyAxis,
) -> bool {
    let label = &axis(&panels[index]).label;
    let repeated = neighbour
        .and_then(|neighbour| panels.get(neighbour))
        .is_some_and(|other| axis(other).label == *label);
    !label.is_empty() && !repeated
}

impl Layout {
    pub(crate) fn new(
        figure: &Figure,
        panels: &[ReadyPanel<'_>],
        names: &[String],
        notes: &[String],
    ) -> Self {
        let room = WIDTH - 2.0 * MARGIN;
        // Bold letters are wider.
        let title = wrap(&figure.title, TITLE * 1.08, room);
        let subtitle = wrap(&figure.subtitle, WORDS, room);
        let legend = legend(names);
        let mut top = MARGIN + title.len() as f64 * 21.0 + subtitle.len() as f64 * LINE;
        if !title.is_empty() || !subtitle.is_empty() {
            top += 6.0;
        }
        let legend_top = top;
        if let Some(last) = legend.last() {
            top += (last.row + 1) as f64 * 19.0 + 4.0;
        }
        let columns = columns(figure);
        let mut plots = Vec::new();
        for (row, in_row) in panels.chunks(columns).enumerate() {
            let row_plots = place_row(panels, row * columns, in_row, columns, top);
            top = row_plots.iter().map(|plot| plot.outer.bottom()).fold(top, f64::max) + GAP;
            plots.extend(row_plots);
        }
        if !plots.is_empty() {
            top += 8.0 - GAP;
        }
        let notes: Vec<String> = notes.iter().flat_map(|note| wrap(note, WORDS, room)).collect();
        let height = (top + notes.len() as f64 * LINE + MARGIN).ceil();
        Self { title, subtitle, legend, legend_top, plots, notes, notes_top: top, height }
    }
}

/// Places one row of panels, so that their axes are in line.
fn place_row(
    panels: &[ReadyPanel<'_>],
    first: usize,
    in_row: &[ReadyPanel<'_>],
    columns: usize,
    top: f64,
) -> Vec<Plot> {
    let cell = (WIDTH - 2.0 * MARGIN - GAP * (columns - 1) as f64) / columns as f64;
    let height = in_row.iter().map(|panel| plot_height(panel, columns)).fold(0.0, f64::max);
    let title_height = if in_row.iter().any(|panel| !panel.title.is_empty()) { 25.0 } else { 8.0 };
    // First across, then the height of what is above and below.
    let mut plots: Vec<Plot> = Vec::new();
    for (column, panel) in in_row.iter().enumerate() {
        let index = first + column;
        let left_neighbour = column.checked_sub(1).map(|_| index - 1);
        let shows_y_label = says_more(panels, index, left_neighbour, |panel| &panel.y);
        let shows_x_label = says_more(panels, index, Some(index + columns), |panel| &panel.x);
        let x = MARGIN + column as f64 * (cell + GAP);
        let (y_ticks, left, y_room) = left_of(panel, height, cell, shows_y_label);
        // The last tick's words reach beyond the axis.
        let last = panel.x.names().map_or_else(|| widest(&panel.x.ticks(6), cell), |_| 0.0);
        let right = (last / 2.0 - 4.0).max(14.0);
        let mut area = Area { x: x + left, y: top, width: (cell - left - right).max(20.0), height };
        let (mut x_ticks, mut turn, x_room) = below(&panel.x, area.width);
        if turn == Turn::Slanted {
            // The first slanted name must not reach beyond the picture.
            let slot = area.width / panel.x.names().map_or(1, <[String]>::len).max(1) as f64;
            let first = x_ticks.first().map_or(0.0, |tick| width(&tick.label, WORDS).min(x_room));
            let missing = first * std::f64::consts::FRAC_1_SQRT_2 - slot / 2.0 - left;
            if missing > 0.0 {
                area = Area { x: area.x + missing, width: (area.width - missing).max(20.0), ..area };
                (x_ticks, turn, _) = below(&panel.x, area.width);
            }
        }
        let outer = Area { x, y: top, width: cell, height: 0.0 };
        let rules = place_rules(panel, area);
        plots.push(Plot {
            area,
            outer,
            x_ticks,
            y_ticks,
            turn,
            x_room,
            y_room,
            rules,
            shows_x_label,
            shows_y_label,
        });
    }
    let levels = plots.iter().flat_map(|plot| &plot.rules).map(|rule| rule.level + 1).max().unwrap_or(0);
    let above = title_height + levels as f64 * 15.0;
    for (plot, panel) in plots.iter_mut().zip(in_row) {
        plot.area.y = top + above;
        let key =
            panel.heat().map_or(0.0, |heat| 6.0 + LINE * key_lines(&heat.label, plot.area.width) as f64);
        let below = height_below(plot.turn, &plot.x_ticks, plot.x_room, plot.shows_x_label) + key;
        plot.outer.height = above + height + below;
    }
    plots
}
