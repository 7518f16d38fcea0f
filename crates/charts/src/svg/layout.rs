//! Layout of header, legend, panels and notes.

use super::canvas::Area;
use crate::axis::{ResolvedAxis, Tick};
use crate::model::Layer;
use crate::panel::ResolvedPanel;
use crate::reference_lines::{PlacedReferenceLine, level_count, place_reference_lines};
use crate::resolved_figure::ResolvedFigure;
use crate::text_layout::{FONT_SIZE, shorten, width, wrap};

/// Width of every figure: 180 mm, a printed page, at 96 dpi.
pub(crate) const WIDTH: f64 = 680.0;
/// Font size of the title.
pub(crate) const TITLE_FONT_SIZE: f64 = 16.0;
/// Font size of panel titles.
pub(crate) const PANEL_TITLE_FONT_SIZE: f64 = 13.0;
/// Line height.
pub(crate) const LINE_HEIGHT: f64 = 16.0;
/// Margin around the figure.
pub(crate) const MARGIN: f64 = 12.0;
/// Gap between panels.
const PANEL_GAP: f64 = 18.0;
/// Gap between the axis and its tick labels.
pub(crate) const TICK_GAP: f64 = 6.0;

/// Rotation of the labels below a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelRotation {
    Level,
    Slanted,
    Upright,
}

/// The area of a panel.
#[derive(Debug)]
pub(crate) struct Plot {
    /// The plot area, between the axes.
    pub(crate) area: Area,
    /// The whole area, with title, labels and legend.
    pub(crate) outer: Area,
    pub(crate) x_ticks: Vec<Tick>,
    pub(crate) y_ticks: Vec<Tick>,
    pub(crate) rotation: LabelRotation,
    /// Maximum width of a label below the panel.
    pub(crate) x_room: f64,
    /// Maximum width of a label beside the panel.
    pub(crate) y_room: f64,
    /// The labels of vertical lines, each with its level above the panel.
    pub(crate) reference_lines: Vec<PlacedReferenceLine>,
    pub(crate) shows_x_label: bool,
    pub(crate) shows_y_label: bool,
}

/// The layout of a figure.
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

/// Width of the sample before the text of an entry.
pub(crate) const LEGEND_SAMPLE_WIDTH: f64 = 28.0;

/// Places the entries of a legend in rows.
fn legend(names: &[String]) -> Vec<Entry> {
    let (mut x, mut row) = (MARGIN, 0);
    let mut entries = Vec::new();
    for name in names {
        let text = shorten(name, FONT_SIZE, 260.0).into_owned();
        let needed = LEGEND_SAMPLE_WIDTH + 6.0 + width(&text, FONT_SIZE);
        if x + needed > WIDTH - MARGIN && x > MARGIN {
            (x, row) = (MARGIN, row + 1);
        }
        entries.push(Entry { text, full: name.clone(), x, row });
        x += needed + 16.0;
    }
    entries
}

/// Height of the plot area.
fn plot_height(panel: &ResolvedPanel<'_>, columns: usize) -> f64 {
    let default = match columns {
        1 => 300.0,
        2 => 210.0,
        _ => 160.0,
    };
    let Some(names) = panel.y.names() else {
        return default;
    };
    let widest_slice = |kind: fn(&Layer) -> bool| {
        let crowded = |index: &usize| kind(&panel.layers[*index]) && panel.layer_slice(*index).width < 1.0;
        (0..panel.layers.len()).filter(crowded).count()
    };
    let bars = widest_slice(|layer| matches!(layer, Layer::Bars { .. } | Layer::Boxes { .. }));
    let dots = widest_slice(|layer| matches!(layer, Layer::Dots { .. }));
    let has_cells = panel.heatmap().is_some_and(|heatmap| heatmap.columns.len() * columns <= 9);
    let row = if has_cells { 36.0 } else { (14.0 * bars as f64).max(13.0 * dots as f64).max(20.0) };
    (row * names.len() as f64).max(40.0)
}

/// Text lines below the axis of a heat map: the color scale, and its label if that needs another line.
pub(crate) fn key_lines(label: &str, room: f64) -> usize {
    if label.is_empty() || width(label, FONT_SIZE) + 290.0 <= room { 1 } else { 2 }
}

/// The space that a panel needs around its plot before its width is known.
fn left_of(panel: &ResolvedPanel<'_>, height: f64, cell: f64, has_label: bool) -> (Vec<Tick>, f64, f64) {
    let ticks = panel.y.ticks(((height / 36.0) as usize).clamp(3, 8));
    let y_room = if panel.y.names().is_some() { cell * 0.36 } else { cell * 0.5 };
    let widest = ticks.iter().map(|tick| width(&tick.label, FONT_SIZE)).fold(0.0, f64::max).min(y_room);
    (ticks, widest + TICK_GAP + if has_label { LINE_HEIGHT + 4.0 } else { 2.0 }, y_room)
}

fn widest(ticks: &[Tick], room: f64) -> f64 {
    ticks.iter().map(|tick| width(&tick.label, FONT_SIZE)).fold(0.0, f64::max).min(room)
}

/// The ticks below a panel, and the rotation of their labels.
fn below(axis: &ResolvedAxis, plot_width: f64) -> (Vec<Tick>, LabelRotation, f64) {
    if let Some(names) = axis.names() {
        let ticks = axis.ticks(0);
        let slot = plot_width / names.len().max(1) as f64;
        let rotation = match slot {
            slot if widest(&ticks, f64::INFINITY) <= slot - 4.0 => LabelRotation::Level,
            slot if slot >= 18.0 => LabelRotation::Slanted,
            _ => LabelRotation::Upright,
        };
        // If labels are closer than the line height, only every n-th is shown.
        let stride = if rotation == LabelRotation::Upright {
            (13.0 / slot.max(0.1)).ceil().max(1.0) as usize
        } else {
            1
        };
        return (ticks.into_iter().step_by(stride).collect(), rotation, 150.0);
    }
    // As many ticks as there is room for labels.
    let about = (plot_width / 42.0) as usize;
    let fits = |ticks: &[Tick]| {
        ticks.windows(2).all(|pair| {
            let gap = (pair[1].fraction - pair[0].fraction).abs() * plot_width;
            gap >= f64::midpoint(width(&pair[0].label, FONT_SIZE), width(&pair[1].label, FONT_SIZE)) + 8.0
        })
    };
    let tries = (1..=about.clamp(3, 9)).rev().map(|about| axis.ticks(about));
    let ticks =
        tries.clone().find(|ticks| fits(ticks)).or_else(|| tries.clone().next_back()).unwrap_or_default();
    let ticks = if fits(&ticks) { ticks } else { ticks.into_iter().take(1).collect() };
    (ticks, LabelRotation::Level, plot_width)
}

fn height_below(rotation: LabelRotation, ticks: &[Tick], x_room: f64, has_label: bool) -> f64 {
    let widest = widest(ticks, x_room);
    let words = match rotation {
        LabelRotation::Level => LINE_HEIGHT + 2.0,
        LabelRotation::Slanted => widest * std::f64::consts::FRAC_1_SQRT_2 + 12.0,
        LabelRotation::Upright => widest + 4.0,
    };
    TICK_GAP + words + if has_label { LINE_HEIGHT + 2.0 } else { 0.0 }
}

impl Layout {
    pub(crate) fn new(resolved: &ResolvedFigure<'_>, names: &[String], notes: &[String]) -> Self {
        let room = WIDTH - 2.0 * MARGIN;
        // Bold text is wider.
        let title = wrap(&resolved.figure.title, TITLE_FONT_SIZE * 1.08, room);
        let subtitle = wrap(&resolved.figure.subtitle, FONT_SIZE, room);
        let legend = legend(names);
        let mut top = MARGIN + title.len() as f64 * 21.0 + subtitle.len() as f64 * LINE_HEIGHT;
        if !title.is_empty() || !subtitle.is_empty() {
            top += 6.0;
        }
        let legend_top = top;
        if let Some(last) = legend.last() {
            top += (last.row + 1) as f64 * 19.0 + 4.0;
        }
        let mut plots = Vec::new();
        for first in (0..resolved.panels.len()).step_by(resolved.columns) {
            let row_plots = place_row(resolved, first, top);
            top = row_plots.iter().map(|plot| plot.outer.bottom()).fold(top, f64::max) + PANEL_GAP;
            plots.extend(row_plots);
        }
        if !plots.is_empty() {
            top += 8.0 - PANEL_GAP;
        }
        let notes: Vec<String> = notes.iter().flat_map(|note| wrap(note, FONT_SIZE, room)).collect();
        let height = (top + notes.len() as f64 * LINE_HEIGHT + MARGIN).ceil();
        Self { title, subtitle, legend, legend_top, plots, notes, notes_top: top, height }
    }
}

/// Places the row of panels that starts with `first`, so that their axes are aligned.
fn place_row(resolved: &ResolvedFigure<'_>, first: usize, top: f64) -> Vec<Plot> {
    let columns = resolved.columns;
    let in_row = &resolved.panels[first..resolved.panels.len().min(first + columns)];
    let cell = (WIDTH - 2.0 * MARGIN - PANEL_GAP * (columns - 1) as f64) / columns as f64;
    let height = in_row.iter().map(|panel| plot_height(panel, columns)).fold(0.0, f64::max);
    let title_height = if in_row.iter().any(|panel| !panel.title.is_empty()) { 25.0 } else { 8.0 };
    // First the widths, then the heights above and below.
    let mut plots: Vec<Plot> = Vec::new();
    for (column, panel) in in_row.iter().enumerate() {
        let index = first + column;
        let shows_y_label = resolved.shows_y_label(index);
        let shows_x_label = resolved.shows_x_label(index);
        let x = MARGIN + column as f64 * (cell + PANEL_GAP);
        let (y_ticks, left, y_room) = left_of(panel, height, cell, shows_y_label);
        // The last tick label extends beyond the axis.
        let last = panel.x.names().map_or_else(|| widest(&panel.x.ticks(6), cell), |_| 0.0);
        let right = (last / 2.0 - 4.0).max(14.0);
        let mut area = Area { x: x + left, y: top, width: (cell - left - right).max(20.0), height };
        let (mut x_ticks, mut rotation, x_room) = below(&panel.x, area.width);
        if rotation == LabelRotation::Slanted {
            // The first slanted label must not extend beyond the figure.
            let slot = area.width / panel.x.names().map_or(1, <[String]>::len).max(1) as f64;
            let first = x_ticks.first().map_or(0.0, |tick| width(&tick.label, FONT_SIZE).min(x_room));
            let missing = first * std::f64::consts::FRAC_1_SQRT_2 - slot / 2.0 - left;
            if missing > 0.0 {
                area = Area { x: area.x + missing, width: (area.width - missing).max(20.0), ..area };
                (x_ticks, rotation, _) = below(&panel.x, area.width);
            }
        }
        let outer = Area { x, y: top, width: cell, height: 0.0 };
        let reference_lines = place_reference_lines(panel, area.x, area.width);
        plots.push(Plot {
            area,
            outer,
            x_ticks,
            y_ticks,
            rotation,
            x_room,
            y_room,
            reference_lines,
            shows_x_label,
            shows_y_label,
        });
    }
    let levels = level_count(plots.iter().flat_map(|plot| &plot.reference_lines));
    let above = title_height + levels as f64 * 15.0;
    for (plot, panel) in plots.iter_mut().zip(in_row) {
        plot.area.y = top + above;
        let key = panel
            .heatmap()
            .map_or(0.0, |heatmap| 6.0 + LINE_HEIGHT * key_lines(&heatmap.label, plot.area.width) as f64);
        let below = height_below(plot.rotation, &plot.x_ticks, plot.x_room, plot.shows_x_label) + key;
        plot.outer.height = above + height + below;
    }
    plots
}
