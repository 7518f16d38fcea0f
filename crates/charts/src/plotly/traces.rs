//! Layers as plotly traces, with hover texts.

use serde_json::{Value, json};

use super::{Builder, REFERENCE_LABEL_HEIGHT, escaped, placed, reference};
use crate::axis::{Ends, ResolvedAxis};
use crate::brackets::{Bracket, brackets};
use crate::heatmap::color_fraction;
use crate::model::{Bounds, Dendrogram, Direction, Heatmap, Layer, Point, Summary};
use crate::number::{interval, short, shown, shown_with};
use crate::panel::ResolvedPanel;
use crate::reference_lines::PlacedReferenceLine;
use crate::style::{SeriesStyle, TEXT, TEXT_MUTED};
use crate::text_layout::width;

impl Builder<'_> {
    /// The title of a panel, above the labels of its vertical lines.
    pub(super) fn title(&mut self, title: &str, x: f64, y: f64, above: f64) {
        if !title.is_empty() {
            self.annotations.push(json!({
                "text": format!("<b>{}</b>", escaped(title)), "x": x, "y": y, "xref": "paper", "yref": "paper",
                "xanchor": "left", "yanchor": "bottom", "yshift": 4.0 + above, "showarrow": false,
            }));
        }
    }

    /// Names a trace, and lists it in the legend if its name is new.
    fn named(&mut self, trace: &mut Value, name: &str) {
        let is_new = !name.is_empty() && !self.listed.iter().any(|listed| listed == name);
        if is_new {
            self.listed.push(name.to_owned());
        }
        trace["name"] = json!(escaped(name));
        trace["legendgroup"] = json!(escaped(name));
        trace["showlegend"] = json!(is_new);
    }

    pub(super) fn layer(
        &mut self,
        panel: &ResolvedPanel<'_>,
        index: usize,
        position: usize,
        layer: &Layer,
        key: [f64; 2],
    ) {
        match layer {
            Layer::Line { name, points, step } => self.line(panel, name, points, *step),
            Layer::Dots { name, points } => self.dots(panel, position, name, points),
            Layer::Bars { name, points } => self.bars(panel, name, points),
            Layer::Boxes { name, boxes } => self.boxes(panel, name, boxes),
            Layer::Heatmap(heatmap) => self.heatmap(heatmap, index, key),
            Layer::Dendrogram(dendrogram) => self.dendrogram(dendrogram),
            Layer::ReferenceLine { .. } => {}
            Layer::Text { x, y, text } => {
                if let (Some(x), Some(y)) = (placed(&panel.x, *x), placed(&panel.y, *y)) {
                    self.annotations.push(json!({
                        "text": escaped(text), "x": x, "y": y, "xref": reference("x", index),
                        "yref": reference("y", index), "xanchor": "left", "showarrow": false,
                    }));
                }
            }
        }
    }

    fn line(&mut self, panel: &ResolvedPanel<'_>, name: &str, points: &[Point], step: bool) {
        let style = self.styles.get(name);
        let shape = if step { "hv" } else { "linear" };
        if !style.is_gray && !panel.sideways {
            self.band(panel, name, points, shape, style);
        }
        let drawable = |number: f64, axis: &ResolvedAxis| axis.fraction(number).map(|_| number);
        let xs: Vec<Option<f64>> = points.iter().map(|point| drawable(point.x, &panel.x)).collect();
        let ys: Vec<Option<f64>> = points.iter().map(|point| drawable(point.y, &panel.y)).collect();
        let few = points.len() <= 30 && !step && !style.is_gray;
        let mut trace = json!({
            "type": "scatter", "mode": if few || points.len() == 1 { "lines+markers" } else { "lines" },
            "x": xs, "y": ys,
            "text": tooltips(panel, name, points), "hoverinfo": "text",
            "line": {"color": style.color, "dash": style.plotly_dash, "width": if style.is_gray { 1 } else { 2 }, "shape": shape},
            "marker": {"color": style.color, "symbol": style.marker.plotly(), "size": 7},
        });
        self.named(&mut trace, name);
        self.traces.push(trace);
    }

    /// A band is two lines with the area between them filled, for each run of points that have an interval.
    fn band(
        &mut self,
        panel: &ResolvedPanel<'_>,
        name: &str,
        points: &[Point],
        shape: &str,
        style: SeriesStyle,
    ) {
        let ends = |point: &Point| {
            let bounds = interval(point.interval)?;
            (panel.x.fraction(point.x).is_some() && panel.y.fraction(point.y).is_some()).then_some(bounds)
        };
        let lowest = match &panel.y.ends {
            Ends::Log(range) => range.low * 1e-3,
            Ends::Linear(_) | Ends::Names(_) => f64::NEG_INFINITY,
        };
        for run in points.split(|point| ends(point).is_none()).filter(|run| run.len() > 1) {
            let xs: Vec<f64> = run.iter().map(|point| point.x).collect();
            let edge = |high: bool| -> Vec<f64> {
                run.iter()
                    .filter_map(ends)
                    .map(|bounds| if high { bounds.high } else { bounds.low }.max(lowest))
                    .collect()
            };
            for (is_upper, values) in [(false, edge(false)), (true, edge(true))] {
                let mut trace = json!({
                    "type": "scatter", "mode": "lines", "x": xs, "y": values, "hoverinfo": "skip",
                    "showlegend": false, "legendgroup": escaped(name),
                    "line": {"color": style.color, "width": 0.5, "shape": shape},
                });
                if is_upper {
                    trace["fill"] = json!("tonexty");
                    trace["fillcolor"] = json!(format!("{}26", style.color));
                }
                self.traces.push(trace);
            }
        }
    }

    fn dots(&mut self, panel: &ResolvedPanel<'_>, position: usize, name: &str, points: &[Point]) {
        let style = self.styles.get(name);
        let is_on_axes =
            |point: &&Point| panel.x.fraction(point.x).is_some() && panel.y.fraction(point.y).is_some();
        let points: Vec<Point> = points.iter().filter(is_on_axes).copied().collect();
        // Dots of several layers in one slot are drawn side by side.
        let is_named = if panel.sideways { panel.y.names() } else { panel.x.names() }.is_some();
        let aside = if is_named { panel.layer_slice(position).offset * 0.6 } else { 0.0 };
        let (aside_x, aside_y) = if panel.sideways { (0.0, aside) } else { (aside, 0.0) };
        let mut trace = json!({
            "type": "scatter", "mode": "markers",
            "x": points.iter().map(|point| point.x + aside_x).collect::<Vec<_>>(),
            "y": points.iter().map(|point| point.y + aside_y).collect::<Vec<_>>(),
            "text": tooltips(panel, name, &points), "hoverinfo": "text",
            "marker": {"color": style.color, "symbol": style.marker.plotly(), "size": 8},
            "cliponaxis": !all_inside(panel, &points),
        });
        error_bars(&mut trace, panel, &points, style.color);
        self.named(&mut trace, name);
        self.traces.push(trace);
    }

    fn bars(&mut self, panel: &ResolvedPanel<'_>, name: &str, points: &[Point]) {
        let style = self.styles.get(name);
        let points: Vec<Point> = points.iter().filter(|point| point.is_drawable()).copied().collect();
        let hatch = ["", "/", "\\", "-", "|", "x", "+", "."][style.hatch];
        let mut trace = json!({
            "type": "bar", "orientation": if panel.sideways { "h" } else { "v" },
            "x": points.iter().map(|point| point.x).collect::<Vec<_>>(),
            "y": points.iter().map(|point| point.y).collect::<Vec<_>>(),
            "hovertext": tooltips(panel, name, &points), "hoverinfo": "text",
            "marker": {"color": style.color, "pattern": {"shape": hatch, "fgcolor": "#ffffff", "fillmode": "replace", "bgcolor": style.color, "size": 6}},
        });
        if hatch.is_empty() {
            trace["marker"] = json!({"color": style.color});
        }
        error_bars(&mut trace, panel, &points, TEXT);
        self.named(&mut trace, name);
        self.traces.push(trace);
    }

    fn boxes(&mut self, panel: &ResolvedPanel<'_>, name: &str, boxes: &[Summary]) {
        let style = self.styles.get(name);
        let boxes: Vec<&Summary> = boxes.iter().filter(|summary| summary.is_drawable()).collect();
        let column =
            |number: fn(&Summary) -> f64| boxes.iter().map(|summary| number(summary)).collect::<Vec<f64>>();
        let mut trace = json!({
            "type": "box", "orientation": if panel.sideways { "h" } else { "v" },
            "lowerfence": column(|s| s.low), "q1": column(|s| s.q1), "median": column(|s| s.median),
            "q3": column(|s| s.q3), "upperfence": column(|s| s.high),
            "line": {"color": style.color, "width": 1.5},
            "hoverinfo": if panel.sideways { "x+name" } else { "y+name" },
            // Without these, boxes of one panel reserve space for those of other panels.
            "alignmentgroup": "boxes", "offsetgroup": escaped(name),
        });
        trace[if panel.sideways { "y" } else { "x" }] = json!(column(|s| s.at));
        self.named(&mut trace, name);
        self.traces.push(trace);
    }

    fn heatmap(&mut self, heatmap: &Heatmap, index: usize, key: [f64; 2]) {
        let range = heatmap.color_range();
        let (rows, columns) = (heatmap.rows.len(), heatmap.columns.len());
        let value = |row, column| heatmap.number_at(row, column).map(|(_, value)| value);
        let tooltip = |row: usize, column: usize| {
            let (row_name, column_name) = (escaped(&heatmap.rows[row]), escaped(&heatmap.columns[column]));
            let number = heatmap.number_at(row, column).map_or("no data".to_owned(), |(cell, value)| {
                shown_with(value, cell.interval, heatmap.percent)
            });
            format!("{row_name}<br>{column_name}<br>{number}")
        };
        let table = |each: &dyn Fn(usize, usize) -> Value| -> Vec<Vec<Value>> {
            (0..rows).map(|row| (0..columns).map(|column| each(row, column)).collect()).collect()
        };
        let scale: Vec<Value> = (0..=8)
            .map(|step| json!([f64::from(step) / 8.0, heatmap.palette.at(f64::from(step) / 8.0).hex()]))
            .collect();
        let bar = json!({
            "orientation": "h", "thickness": 10, "len": 0.35, "x": key[0], "xanchor": "left", "xpad": 0,
            "y": key[1], "yanchor": "top", "ypad": 0, "tickformat": if heatmap.percent { ",.3~p" } else { "" },
            "title": {"text": escaped(&heatmap.label), "side": "top", "font": {"size": 13}}, "outlinewidth": 0,
        });
        self.traces.push(json!({
            "type": "heatmap",
            "x": (0..columns).collect::<Vec<_>>(), "y": (0..rows).collect::<Vec<_>>(),
            "z": table(&|row, column| json!(value(row, column))),
            "hovertext": table(&|row, column| json!(tooltip(row, column))),
            "hoverinfo": "text", "hoverongaps": true,
            "zmin": range.low, "zmax": range.high, "colorscale": scale, "colorbar": bar,
            "xgap": 1, "ygap": 1,
        }));
        self.cell_labels(heatmap, index, range);
    }

    /// Values and intervals in the cells, and a cross in cells without data, since a color would look like a value.
    fn cell_labels(&mut self, heatmap: &Heatmap, index: usize, range: Bounds) {
        // More texts than this are illegible and slow.
        const MAX_LABELED_CELLS: usize = 150;
        let is_small =
            heatmap.rows.len() * heatmap.columns.len() <= MAX_LABELED_CELLS && heatmap.columns.len() <= 10;
        for row in 0..heatmap.rows.len() {
            for column in 0..heatmap.columns.len() {
                let (text, color) = match heatmap.number_at(row, column) {
                    None => ("×".to_owned(), TEXT_MUTED),
                    Some((cell, value)) if is_small => {
                        let below = cell
                            .interval_label(heatmap.percent)
                            .map_or(String::new(), |text| format!("<br>{text}"));
                        let text_color = heatmap.palette.at(color_fraction(range, value)).text_color();
                        (
                            format!("{}<span style=\"font-size:10px\">{below}</span>", escaped(&cell.text)),
                            text_color,
                        )
                    }
                    Some(_) => continue,
                };
                self.annotations.push(json!({
                    "text": text, "x": column, "y": row, "xref": reference("x", index),
                    "yref": reference("y", index), "showarrow": false, "font": {"color": color, "size": 11},
                }));
            }
        }
    }

    fn dendrogram(&mut self, dendrogram: &Dendrogram) {
        let is_noise = |bracket: &Bracket| dendrogram.noise.is_some_and(|noise| bracket.height <= noise);
        let brackets = brackets(dendrogram);
        let (noise, sound): (Vec<Bracket>, Vec<Bracket>) = brackets.into_iter().partition(is_noise);
        for (brackets, color, dash) in [(noise, "#777777", "3px,2px"), (sound, "#0072b2", "solid")] {
            let (mut xs, mut ys, mut texts): (Vec<Option<f64>>, Vec<Option<f64>>, Vec<String>) =
                Default::default();
            for Bracket { rows, from, height } in brackets {
                let corners = [(from.0, rows.0), (height, rows.0), (height, rows.1), (from.1, rows.1)];
                xs.extend(corners.iter().map(|corner| Some(corner.0)).chain([None]));
                ys.extend(corners.iter().map(|corner| Some(corner.1)).chain([None]));
                texts.extend(std::iter::repeat_n(format!("merged at {}", short(height)), 5));
            }
            self.traces.push(json!({
                "type": "scatter", "mode": "lines", "x": xs, "y": ys, "text": texts, "hoverinfo": "text",
                "line": {"color": color, "width": 1.6, "dash": dash}, "showlegend": false,
            }));
        }
    }

    /// Reference lines, with labels above the panel or at its right edge.
    pub(super) fn reference_lines(
        &mut self,
        panel: &ResolvedPanel<'_>,
        index: usize,
        placed_lines: &[PlacedReferenceLine],
        panel_width: f64,
    ) {
        let (x, y) = (reference("x", index), reference("y", index));
        for reference_line in panel.reference_lines() {
            let is_vertical = reference_line.direction == Direction::Vertical;
            let axis = if is_vertical { &panel.x } else { &panel.y };
            let Some(at) = placed(axis, reference_line.at) else { continue };
            // Shapes use values, annotations use logarithms.
            let line = json!({"color": TEXT, "width": 1, "dash": "5px,3px"});
            let word =
                json!({"text": escaped(reference_line.label), "showarrow": false, "font": {"size": 12}});
            // Labels near an edge are anchored inwards, so that they stay on the page.
            let half = width(reference_line.label, 12.0) / 2.0 / panel_width.max(1.0);
            let side = match axis.fraction(reference_line.at) {
                Some(fraction) if fraction + half > 1.0 => "right",
                Some(fraction) if fraction - half < 0.0 => "left",
                _ => "center",
            };
            let (shape, mut annotation) = if is_vertical {
                let level = placed_lines
                    .iter()
                    .find(|placed| placed.full == reference_line.label)
                    .map_or(0, |placed| placed.level);
                (
                    json!({"xref": x, "yref": format!("{y} domain"), "x0": reference_line.at, "x1": reference_line.at, "y0": 0, "y1": 1}),
                    json!({"xref": x, "yref": format!("{y} domain"), "x": at, "y": 1, "yanchor": "bottom",
                           "xanchor": side, "yshift": level as f64 * REFERENCE_LABEL_HEIGHT}),
                )
            } else {
                (
                    json!({"xref": format!("{x} domain"), "yref": y, "x0": 0, "x1": 1, "y0": reference_line.at, "y1": reference_line.at}),
                    json!({"xref": format!("{x} domain"), "yref": y, "x": 1, "y": at, "xanchor": "right",
                           "yanchor": "bottom", "bgcolor": "rgba(255,255,255,0.7)", "borderpad": 0}),
                )
            };
            add(&mut annotation, word);
            let mut drawn = json!({"type": "line", "layer": "below", "line": line});
            add(&mut drawn, shape);
            self.shapes.push(drawn);
            self.annotations.push(annotation);
        }
    }
}

/// Adds the fields of one object to another.
fn add(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
    }
}

fn error_bars(trace: &mut Value, panel: &ResolvedPanel<'_>, points: &[Point], color: &str) {
    let axis = if panel.sideways { &panel.x } else { &panel.y };
    let distances = |upper: bool| -> Vec<f64> {
        let distance = |point: &Point| {
            let number = if panel.sideways { point.x } else { point.y };
            interval(point.interval).map_or(0.0, |Bounds { low, high }| {
                let (low, high) = (axis.clamp_far(low), axis.clamp_far(high));
                if upper { high - number } else { number - low }.max(0.0)
            })
        };
        points.iter().map(distance).collect()
    };
    if points.iter().any(|point| interval(point.interval).is_some()) {
        trace[if panel.sideways { "error_x" } else { "error_y" }] = json!({
            "type": "data", "symmetric": false, "array": distances(true), "arrayminus": distances(false),
            "color": color, "thickness": 1.3, "width": 3,
        });
    }
}

/// Whether all points and intervals are within the axes, so that clipping can be switched off and edge markers stay whole.
fn all_inside(panel: &ResolvedPanel<'_>, points: &[Point]) -> bool {
    let values = if panel.sideways { &panel.x } else { &panel.y };
    let is_inside = |fraction: f64| (0.0..=1.0).contains(&fraction);
    points.iter().all(|point| {
        let ends = interval(point.interval);
        panel.x.fraction(point.x).is_some_and(is_inside)
            && panel.y.fraction(point.y).is_some_and(is_inside)
            && ends.is_none_or(|ends| {
                is_inside(values.end_fraction(ends.low)) && is_inside(values.end_fraction(ends.high))
            })
    })
}

/// The hover text of a value.
fn tooltips(panel: &ResolvedPanel<'_>, name: &str, points: &[Point]) -> Vec<String> {
    let describe = |axis: &ResolvedAxis, number: f64, bounds: Option<Bounds>| {
        let text = match axis.names() {
            Some(names) => names.get(number.round().max(0.0) as usize).cloned().unwrap_or_default(),
            None if bounds.is_some() => shown_with(number, bounds, axis.percent),
            None => shown(number, axis.percent),
        };
        let separator = if axis.label.is_empty() { "" } else { ": " };
        escaped(&format!("{}{separator}{text}", axis.label))
    };
    let tooltip = |point: &Point| {
        let (of_x, of_y) = if panel.sideways { (point.interval, None) } else { (None, point.interval) };
        let (x, y) = (describe(&panel.x, point.x, of_x), describe(&panel.y, point.y, of_y));
        if name.is_empty() {
            format!("{x}<br>{y}")
        } else {
            format!("<b>{}</b><br>{x}<br>{y}", escaped(name))
        }
    };
    points.iter().map(tooltip).collect()
}
