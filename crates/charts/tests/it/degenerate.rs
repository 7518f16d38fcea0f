//! Every input gives a figure.

use reasonscape_charts::{
    Axis, Bounds, Cell, Dendrogram, Figure, Heatmap, Layer, Merge, Palette, Panel, Point, Scale, Summary,
};

use crate::test_env::{assert_drawable, assert_sound, names};

const NASTY: [f64; 14] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e-320,
    1e-12,
    1e308,
    -1e308,
    1e12,
    1.0 + f64::EPSILON,
];

/// A linear congruential generator is random enough to mix extreme numbers.
struct Draw(u64);

impl Draw {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % count
    }

    fn number(&mut self) -> f64 {
        NASTY[self.below(NASTY.len())]
    }

    fn points(&mut self) -> Vec<Point> {
        let count = self.below(6);
        let bounds =
            |draw: &mut Self| (draw.below(2) == 0).then(|| Bounds::new(draw.number(), draw.number()));
        (0..count).map(|_| Point { x: self.number(), y: self.number(), interval: bounds(self) }).collect()
    }

    fn axis(&mut self) -> Axis {
        let scale = match self.below(4) {
            0 => Scale::Log,
            1 => {
                let count = self.below(4);
                Scale::Categories(names("n", count))
            }
            _ => Scale::Linear,
        };
        let range = (self.below(3) == 0).then(|| Bounds::new(self.number(), self.number()));
        Axis { label: "axis".to_owned(), scale, range, percent: self.below(2) == 0 }
    }

    fn layer(&mut self) -> Layer {
        match self.below(9) {
            0 => Layer::line("a", self.points()),
            1 => Layer::steps("b", self.points()),
            2 => Layer::dots("", self.points()),
            3 => Layer::bars("c", self.points()),
            4 => Layer::boxes(
                "d",
                vec![Summary {
                    at: self.number(),
                    low: self.number(),
                    q1: self.number(),
                    median: self.number(),
                    q3: self.number(),
                    high: self.number(),
                    outliers: None,
                }],
            ),
            5 => {
                let (rows, columns, count) = (self.below(4), self.below(4), self.below(12));
                let cell = |draw: &mut Self| Cell {
                    value: Some(draw.number()),
                    interval: Some(Bounds::new(draw.number(), draw.number())),
                    text: "1".to_owned(),
                };
                let cells = (0..count).map(|_| cell(self)).collect();
                let palette = if self.below(2) == 0 { Palette::Diverging } else { Palette::Sequential };
                let range = Some(Bounds::new(self.number(), self.number()));
                Layer::Heatmap(Heatmap {
                    rows: names("r", rows),
                    columns: names("c", columns),
                    cells,
                    palette,
                    range,
                    label: String::new(),
                    percent: false,
                })
            }
            6 => {
                let merges = (0..self.below(5)).map(|_| Merge {
                    a: self.below(6),
                    b: self.below(6),
                    height: self.number(),
                });
                let merges = merges.collect();
                let leaves = self.below(4);
                Layer::Dendrogram(Dendrogram {
                    leaves: names("l", leaves),
                    order: vec![self.below(6), self.below(6)],
                    merges,
                    noise: Some(self.number()),
                })
            }
            7 => Layer::vertical("v", self.number()),
            _ => Layer::horizontal("h", self.number()),
        }
    }
}

#[test]
fn extreme_numbers_give_valid_figures() {
    let mut draw = Draw(7);
    for round in 0..300 {
        let mut figure = Figure { columns: draw.below(7), ..Figure::new(format!("round {round}")) };
        for _ in 0..=draw.below(3) {
            let mut panel = Panel::new("panel", draw.axis(), draw.axis());
            for _ in 0..draw.below(4) {
                panel = panel.layer(draw.layer());
            }
            figure = figure.panel(panel);
        }
        let svg = figure.svg();
        assert_sound(&svg);
        // resvg is slow without optimization.
        if round % 15 == 0 {
            assert_drawable(&svg);
        }
        let page = figure.fragment("f");
        assert!(!page.contains("NaN") && !page.contains("Infinity"), "{figure:?}");
    }
}

#[test]
fn undrawn_points_are_counted_in_a_note() {
    let points = vec![Point::exact(1.0, 1.0), Point::exact(f64::NAN, 1.0), Point::exact(0.0, 1.0)];
    let figure = Figure::new("")
        .panel(Panel::new("", Axis::log("x"), Axis::linear("y")).layer(Layer::dots("", points)));
    let note = "2 points cannot be shown on these axes.";
    assert!(figure.svg().contains(note));
    assert!(figure.fragment("f").contains(note));
}

#[test]
fn missing_cell_is_hatched() {
    let cell = |value| Cell { value, ..Cell::default() };
    let heatmap = |cells| Heatmap {
        rows: names("r", 1),
        columns: names("c", 2),
        cells,
        range: Some(Bounds::new(0.0, 1.0)),
        ..Heatmap::default()
    };
    let draw = |cells| Figure::new("").panel(Panel::default().layer(Layer::Heatmap(heatmap(cells)))).svg();
    let lowest = "fill=\"#00204c\"";
    let zero = draw(vec![cell(Some(0.0)), cell(Some(1.0))]);
    assert!(zero.contains(lowest) && !zero.contains("fill=\"url(#hatch-missing)\""));
    for missing in [vec![cell(None), cell(Some(1.0))], vec![cell(Some(f64::NAN)), cell(Some(1.0))]] {
        let svg = draw(missing);
        assert!(
            !svg.contains(lowest) && svg.contains("fill=\"url(#hatch-missing)\"") && svg.contains("no data")
        );
    }
}

#[test]
fn missing_numbers_break_the_line() {
    let point = |x: i32| Point::exact(f64::from(x), if x == 2 { f64::NAN } else { 1.0 });
    let draw = |points: Vec<Point>| {
        let panel = Panel::new("", Axis::linear("x"), Axis::linear("y")).layer(Layer::steps("a", points));
        Figure::new("").panel(panel).svg()
    };
    let paths = |svg: &str| svg.matches("<path d=").count();
    assert_eq!(paths(&draw((0..5).map(point).collect())), 2);
    assert_eq!(paths(&draw((3..5).map(point).collect())), 1);
}
