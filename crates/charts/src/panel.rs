//! A panel with resolved axes, and how its layers share slots.

use std::collections::BTreeSet;

use crate::axis::ResolvedAxis;
use crate::model::{Bounds, Dendrogram, Direction, Figure, Heatmap, Layer, Panel, Point, Scale, Summary};
use crate::number::{drawable, interval, is_far};
use crate::reference_lines::ReferenceLine;

/// A panel with resolved axes.
#[derive(Debug)]
pub(crate) struct ResolvedPanel<'f> {
    pub(crate) title: &'f str,
    pub(crate) x: ResolvedAxis,
    pub(crate) y: ResolvedAxis,
    pub(crate) layers: &'f [Layer],
    /// Whether the vertical axis has categories and the horizontal axis values.
    pub(crate) sideways: bool,
}

/// The label of the line in a dendrogram.
const NOISE: &str = "noise";

impl<'f> ResolvedPanel<'f> {
    pub(crate) fn new(panel: &'f Panel) -> Self {
        let heatmap = panel.layers.iter().find_map(|layer| match layer {
            Layer::Heatmap(heatmap) => Some(heatmap),
            _ => None,
        });
        let dendrogram = panel.layers.iter().find_map(|layer| match layer {
            Layer::Dendrogram(dendrogram) => Some(dendrogram),
            _ => None,
        });
        let sideways = dendrogram.is_some()
            || (matches!(panel.y.scale, Scale::Categories(_))
                && !matches!(panel.x.scale, Scale::Categories(_)));
        let numbers = Numbers::new(panel, sideways);
        let (mut x, mut y) = (
            ResolvedAxis::new(&panel.x, &numbers.x, numbers.from_zero && sideways),
            ResolvedAxis::new(&panel.y, &numbers.y, numbers.from_zero && !sideways),
        );
        if let Some(dendrogram) = dendrogram {
            let names: Vec<String> =
                dendrogram.shown_order().iter().map(|leaf| dendrogram.leaves[*leaf].clone()).collect();
            y = ResolvedAxis::named(&panel.y.label, &names);
        }
        if let Some(heatmap) = heatmap {
            x = ResolvedAxis::named(&panel.x.label, &heatmap.columns);
            y = ResolvedAxis::named(&panel.y.label, &heatmap.rows);
        }
        Self { title: &panel.title, x, y, layers: &panel.layers, sideways }
    }

    pub(crate) fn heatmap(&self) -> Option<&'f Heatmap> {
        self.layers.iter().find_map(|layer| match layer {
            Layer::Heatmap(heatmap) => Some(heatmap),
            _ => None,
        })
    }

    /// The reference lines, including that of a dendrogram.
    pub(crate) fn reference_lines(&self) -> Vec<ReferenceLine<'f>> {
        let reference_line = |layer: &'f Layer| match layer {
            Layer::ReferenceLine { label, at, direction } => {
                Some(ReferenceLine { label, at: *at, direction: *direction })
            }
            Layer::Dendrogram(dendrogram) => {
                dendrogram.noise.map(|at| ReferenceLine { label: NOISE, at, direction: Direction::Vertical })
            }
            _ => None,
        };
        self.layers.iter().filter_map(reference_line).collect()
    }

    /// The offset of the `index`th layer in its slot, and its width, both in slots. Layers of one kind are drawn side by
    /// side if they have values in the same slot.
    pub(crate) fn layer_slice(&self, index: usize) -> Slice {
        let kind = std::mem::discriminant(&self.layers[index]);
        let alike: Vec<usize> = (0..self.layers.len())
            .filter(|other| std::mem::discriminant(&self.layers[*other]) == kind)
            .collect();
        let mut taken = BTreeSet::new();
        let meet = alike.iter().any(|other| {
            let slots: BTreeSet<i64> = slots(&self.layers[*other], self.sideways).collect();
            let meets = !taken.is_disjoint(&slots);
            taken.extend(slots);
            meets
        });
        if !meet {
            return Slice { offset: 0.0, width: 1.0 };
        }
        let rank = alike.iter().position(|other| *other == index).unwrap_or(0) as f64;
        let count = alike.len() as f64;
        Slice { offset: (rank + 0.5) / count - 0.5, width: 1.0 / count }
    }

    /// The width of a slot of bars and boxes in units of their axis: the smallest distance between two of them.
    pub(crate) fn slot(&self) -> f64 {
        let across = if self.sideways { &self.y } else { &self.x };
        if across.names().is_some() {
            return 1.0;
        }
        let mut places: Vec<f64> = self
            .layers
            .iter()
            .flat_map(|layer| match layer {
                Layer::Bars { points, .. } => points.iter().map(|point| point.x).collect::<Vec<_>>(),
                Layer::Boxes { boxes, .. } => boxes.iter().map(|summary| summary.at).collect(),
                _ => Vec::new(),
            })
            .filter_map(drawable)
            .collect();
        places.sort_by(f64::total_cmp);
        let gaps = places.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0);
        let gap = gaps.fold(f64::INFINITY, f64::min);
        if gap.is_finite() { gap } else { 1.0 }
    }
}

/// The part of a slot that a layer uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slice {
    /// Offset from the middle of the slot, in slots.
    pub(crate) offset: f64,
    /// Width in slots.
    pub(crate) width: f64,
}

fn slots(layer: &Layer, sideways: bool) -> Box<dyn Iterator<Item = i64> + '_> {
    match layer {
        Layer::Bars { points, .. } | Layer::Dots { points, .. } => Box::new(
            points.iter().map(move |point| (if sideways { point.y } else { point.x }).round() as i64),
        ),
        Layer::Boxes { boxes, .. } => Box::new(boxes.iter().map(|summary| summary.at.round() as i64)),
        _ => Box::new(std::iter::empty()),
    }
}

/// The values that the axes must include.
#[derive(Debug, Default)]
struct Numbers {
    x: Vec<f64>,
    y: Vec<f64>,
    from_zero: bool,
}

impl Numbers {
    fn new(panel: &Panel, sideways: bool) -> Self {
        let mut numbers = Self::default();
        for layer in &panel.layers {
            match layer {
                Layer::Line { points, .. } | Layer::Dots { points, .. } => numbers.points(points, sideways),
                Layer::Bars { points, .. } => {
                    numbers.from_zero = true;
                    numbers.points(points, sideways);
                }
                Layer::Boxes { boxes, .. } => {
                    boxes.iter().filter(|summary| summary.is_drawable()).for_each(|summary| {
                        let (places, values) = if sideways {
                            (&mut numbers.y, &mut numbers.x)
                        } else {
                            (&mut numbers.x, &mut numbers.y)
                        };
                        places.extend([summary.at - 0.5, summary.at + 0.5]);
                        values.extend([summary.low, summary.high]);
                    });
                }
                Layer::ReferenceLine { at, direction: Direction::Horizontal, .. } => numbers.y.push(*at),
                Layer::ReferenceLine { at, direction: Direction::Vertical, .. } => numbers.x.push(*at),
                Layer::Text { x, y, .. } => {
                    numbers.x.push(*x);
                    numbers.y.push(*y);
                }
                Layer::Dendrogram(dendrogram) => {
                    numbers.from_zero = true;
                    numbers
                        .x
                        .extend(dendrogram.merges.iter().map(|merge| merge.height).chain(dendrogram.noise));
                }
                Layer::Heatmap(_) => {}
            }
        }
        numbers
    }

    fn points(&mut self, points: &[Point], sideways: bool) {
        for point in points.iter().filter(|point| point.is_drawable()) {
            self.x.push(point.x);
            self.y.push(point.y);
            if let Some(Bounds { low, high }) = interval(point.interval) {
                let values = if sideways { &mut self.x } else { &mut self.y };
                values.extend([low, high].into_iter().filter(|end| !is_far(*end)));
            }
        }
    }
}

impl Point {
    pub(crate) fn is_drawable(&self) -> bool {
        self.x.is_finite() && self.y.is_finite()
    }
}

impl Summary {
    pub(crate) fn is_drawable(&self) -> bool {
        [self.at, self.low, self.q1, self.median, self.q3, self.high].iter().all(|number| number.is_finite())
    }
}

impl Dendrogram {
    /// The leaves from the top down: the given order, then the leaves that it doesn't include.
    pub(crate) fn shown_order(&self) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        self.order
            .iter()
            .copied()
            .chain(0..self.leaves.len())
            .filter(|leaf| *leaf < self.leaves.len() && seen.insert(*leaf))
            .collect()
    }
}

/// The number of points that can't be shown: not finite, or not positive on a logarithmic axis.
pub(crate) fn undrawn_points(figure: &Figure) -> usize {
    let count = |panel: &Panel| -> usize {
        let has_no_place = |axis: &Scale, number: f64| matches!(axis, Scale::Log) && number <= 0.0;
        let is_out = |x: f64, y: f64| has_no_place(&panel.x.scale, x) || has_no_place(&panel.y.scale, y);
        let of_layer = |layer: &Layer| match layer {
            Layer::Line { points, .. } | Layer::Dots { points, .. } | Layer::Bars { points, .. } => {
                points.iter().filter(|point| !point.is_drawable() || is_out(point.x, point.y)).count()
            }
            Layer::Boxes { boxes, .. } => boxes.iter().filter(|summary| !summary.is_drawable()).count(),
            _ => 0,
        };
        panel.layers.iter().map(of_layer).sum()
    };
    figure.panels.iter().map(count).sum()
}
