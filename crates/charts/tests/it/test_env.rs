//! One small figure of every kind.

use reasonscape_charts::{
    Axis, Bounds, Cell, Dendrogram, Figure, Heatmap, Layer, Merge, Palette, Panel, Point, Summary,
};
use resvg::usvg;

pub(crate) fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|index| format!("{prefix}{index}")).collect()
}

pub(crate) fn line() -> Figure {
    let points = |shift: f64| {
        let point = |x: i32| {
            let y = 0.9 - 0.15 * f64::from(x) - shift;
            Point::between(f64::from(x), y, y - 0.08, y + 0.07)
        };
        (0..5).map(point).collect()
    };
    Figure::new("Accuracy falls").subtitle("95 % confidence intervals").note("A note.").panel(
        Panel::new("", Axis::linear("depth"), Axis::percent("accuracy"))
            .layer(Layer::line("alpha", points(0.0)))
            .layer(Layer::line("beta", points(0.1)))
            .layer(Layer::horizontal("chance", 0.25)),
    )
}

pub(crate) fn steps() -> Figure {
    let points = [1.0, 0.8, 0.5, 0.1].into_iter().enumerate();
    let points = points.map(|(x, y)| Point::between(x as f64 * 500.0 + 1.0, y, y * 0.9, (y * 1.1).min(1.0)));
    Figure::new("Survival").panel(
        Panel::new("Not yet answered", Axis::log("tokens"), Axis::percent("proportion"))
            .layer(Layer::steps("alpha", points.collect()))
            .layer(Layer::vertical("median", 1000.0)),
    )
}

pub(crate) fn dots() -> Figure {
    let points = |shift: f64| {
        (0..4)
            .map(|row| Point {
                x: 800.0 - f64::from(row) * 90.0 + shift,
                y: f64::from(row),
                interval: Some(Bounds::new(
                    f64::from(700 - row * 90) + shift,
                    f64::from(860 - row * 90) + shift,
                )),
            })
            .collect()
    };
    Figure::new("Scores").panel(
        Panel::new("", Axis::linear("score"), Axis::categories("", names("model-", 4)))
            .layer(Layer::dots("easy", points(0.0)))
            .layer(Layer::dots("hard", points(-60.0))),
    )
}

pub(crate) fn bars() -> Figure {
    let points = (0..3).map(|at| {
        Point::between(
            f64::from(at),
            0.2 + 0.3 * f64::from(at),
            0.1 + 0.3 * f64::from(at),
            0.3 + 0.3 * f64::from(at),
        )
    });
    let points: Vec<Point> = points.collect();
    Figure::new("Tasks").panel(
        Panel::new("", Axis::categories("task", names("task ", 3)), Axis::percent("accuracy"))
            .layer(Layer::bars("alpha", points.clone()))
            .layer(Layer::bars("beta", points)),
    )
}

pub(crate) fn boxes() -> Figure {
    let boxes = (0..3).map(|at| {
        let at = f64::from(at);
        Summary {
            at,
            low: at,
            q1: at + 1.0,
            median: at + 1.5,
            q3: at + 2.0,
            high: at + 4.0,
            outliers: Some(2),
        }
    });
    Figure::new("Compression").panel(
        Panel::new(
            "",
            Axis::categories("", names("a rather long name of a model ", 3)),
            Axis::linear("bits per token"),
        )
        .layer(Layer::boxes("correct", boxes.collect())),
    )
}

pub(crate) fn heatmap_figure(palette: Palette) -> Figure {
    let cells = (0..6).map(|index| {
        let value = f64::from(index) / 5.0 - if palette == Palette::Diverging { 0.5 } else { 0.0 };
        let interval = Some(Bounds::new(value - 0.1, value + 0.1));
        Cell { value: (index != 4).then_some(value), interval, text: format!("{:.0}", value * 100.0) }
    });
    let heatmap = Heatmap {
        rows: names("model-", 2),
        columns: names("task ", 3),
        cells: cells.collect(),
        palette,
        range: None,
        label: "accuracy".to_owned(),
        percent: true,
    };
    Figure::new("Table")
        .panel(Panel::new("", Axis::linear("task"), Axis::linear("")).layer(Layer::Heatmap(heatmap)))
}

pub(crate) fn dendrogram_figure() -> Figure {
    let merges = vec![Merge { a: 0, b: 2, height: 0.2 }, Merge { a: 1, b: 3, height: 0.9 }];
    let dendrogram =
        Dendrogram { leaves: names("model-", 3), order: vec![0, 2, 1], merges, noise: Some(0.3) };
    Figure::new("Similar models").panel(
        Panel::new("", Axis::linear("distance"), Axis::linear("")).layer(Layer::Dendrogram(dendrogram)),
    )
}

pub(crate) fn multiples() -> Figure {
    let panel = |index: i32| {
        let points = (0..12).map(|x| {
            Point::between(f64::from(x * x * 40), f64::from(x), f64::from(x) - 0.5, f64::from(x) + 0.5)
        });
        Panel::new(format!("panel {index}"), Axis::linear("tokens"), Axis::linear("bits"))
            .layer(Layer::dots("measured", points.collect()))
            .layer(Layer::vertical("50% at 1000", 1000.0))
            .layer(Layer::vertical("50% at 1100", 1100.0))
    };
    Figure { panels: (0..5).map(panel).collect(), ..Figure::new("Panels") }
}

pub(crate) fn all() -> Vec<(&'static str, Figure)> {
    vec![
        ("line", line()),
        ("steps", steps()),
        ("dots", dots()),
        ("bars", bars()),
        ("boxes", boxes()),
        ("heat", heatmap_figure(Palette::Sequential)),
        ("differences", heatmap_figure(Palette::Diverging)),
        ("tree", dendrogram_figure()),
        ("multiples", multiples()),
        ("empty", Figure::default()),
    ]
}

/// The SVG, parsed by resvg's XML parser.
pub(crate) fn document(svg: &str) -> usvg::roxmltree::Document<'_> {
    usvg::roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}\n{svg}"))
}

/// Every attribute that holds numbers holds finite ones.
pub(crate) fn assert_sound(svg: &str) {
    let document = document(svg);
    for node in document.descendants().filter(usvg::roxmltree::Node::is_element) {
        for attribute in node.attributes() {
            let value = attribute.value();
            let is_word =
                matches!(attribute.name(), "fill" | "stroke" | "font-family" | "id" | "role" | "text-anchor");
            let has_number = value.contains("NaN") || value.contains("inf");
            assert!(is_word || !has_number, "{}=\"{value}\"", attribute.name());
        }
        if let Some(width) = node.attribute("width") {
            assert!(width.parse::<f64>().is_ok_and(|width| width >= 0.0), "width {width}");
        }
    }
}

/// Asserts that resvg can render it.
pub(crate) fn assert_drawable(svg: &str) {
    usvg::Tree::from_str(svg, &usvg::Options::default()).expect("resvg reads it");
}
