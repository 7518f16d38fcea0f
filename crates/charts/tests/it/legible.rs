//! Texts don't overlap and stay within the figure, as measured by resvg.

use std::sync::{Arc, OnceLock};

use reasonscape_charts::{Axis, Bounds, Cell, Figure, Heatmap, Layer, Panel, Point, Scale};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{self, Node, Rect};

use crate::test_env::{all, names};

/// The bounding box of every text, in the font of PNGs.
fn texts(svg: &str) -> (Vec<(String, Rect)>, usvg::Size) {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = Database::new();
        fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
        fonts.load_font_data(epaint_default_fonts::HACK_REGULAR.to_vec());
        fonts.set_sans_serif_family("Ubuntu");
        Arc::new(fonts)
    });
    let options = usvg::Options { fontdb: Arc::clone(fonts), ..usvg::Options::default() };
    let svg_tree = usvg::Tree::from_str(svg, &options).expect("resvg reads it");
    let mut found = Vec::new();
    collect(svg_tree.root(), &mut found);
    (found, svg_tree.size())
}

fn collect(group: &usvg::Group, found: &mut Vec<(String, Rect)>) {
    for node in group.children() {
        match node {
            Node::Group(group) => collect(group, found),
            Node::Text(text) => {
                let words = text.chunks().iter().map(usvg::TextChunk::text).collect();
                found.push((words, text.abs_bounding_box()));
            }
            Node::Path(_) | Node::Image(_) => {}
        }
    }
}

/// Bounding boxes of slanted texts overlap although the texts don't, so only horizontal and vertical ones are compared.
fn overlaps(a: &Rect, b: &Rect) -> bool {
    let gap = 0.5;
    a.left() + gap < b.right()
        && b.left() + gap < a.right()
        && a.top() + gap < b.bottom()
        && b.top() + gap < a.bottom()
}

fn assert_legible(name: &str, figure: &Figure) {
    let svg = figure.svg();
    let (texts, size) = texts(&svg);
    let is_slanted = svg.contains("rotate(-45");
    for (index, (words, place)) in texts.iter().enumerate() {
        let inside = place.left() >= 0.0
            && place.top() >= 0.0
            && place.right() <= size.width()
            && place.bottom() <= size.height();
        assert!(inside, "{name}: {words} at {place:?} leaves {size:?}");
        for (other_words, other) in &texts[index + 1..] {
            assert!(
                is_slanted || !overlaps(place, other),
                "{name}: {words} {place:?} over {other_words} {other:?}"
            );
        }
    }
}

#[test]
fn labels_do_not_overlap_and_stay_inside() {
    for (name, figure) in all() {
        assert_legible(name, &figure);
    }
}

#[test]
fn tick_labels_do_not_overlap() {
    let ends = [
        (0.0, 1.0),
        (0.123, 0.124),
        (-5.0, 1e6),
        (1.0, 1e9),
        (3.0, 4.0),
        (1e-9, 1e-3),
        (99_990.0, 100_010.0),
    ];
    for (low, high) in ends {
        for columns in [1, 3] {
            for scale in [Scale::Linear, Scale::Log] {
                let axis = Axis {
                    label: "axis".to_owned(),
                    scale,
                    range: Some(Bounds::new(low, high)),
                    percent: high <= 1.0,
                };
                let panel = Panel::new("panel", axis.clone(), axis.clone());
                let figure = Figure { panels: vec![panel; columns], columns, ..Figure::new("title") };
                assert_legible(&format!("{low} to {high} in {columns}"), &figure);
            }
        }
    }
}

#[test]
fn long_names_are_shortened_with_full_title() {
    let long = "an-organization-with-a-name/a-model-with-a-name-that-does-not-end-Instruct-FP8";
    for count in [1, 3, 12, 60] {
        let categories: Vec<String> = (0..count).map(|index| format!("{long}-{index}")).collect();
        let points: Vec<Point> = (0..count).map(|at| Point::between(f64::from(at), 0.5, 0.4, 0.6)).collect();
        let turned =
            points.iter().map(|point| Point { x: point.y, y: point.x, interval: point.interval }).collect();
        let x = Axis::categories("", categories.clone());
        let upright = Panel::new(long, x.clone(), Axis::percent(long)).layer(Layer::dots(long, points));
        let sideways = Panel::new(long, Axis::percent(long), x).layer(Layer::dots(long, turned));
        for panel in [upright, sideways] {
            let figure = Figure::new(long.repeat(3)).subtitle(long).note(long).panel(panel).columns(1);
            assert_legible(&format!("{count} names"), &figure);
            assert!(figure.svg().contains(&format!(">{long}-0</")), "{count} names");
        }
    }
}

#[test]
fn cell_labels_fit_their_cells() {
    for (rows, columns) in [(1, 1), (3, 5), (10, 10), (30, 30)] {
        let cell = |index: usize| {
            let value = index as f64 / 900.0;
            Cell {
                value: Some(value),
                interval: Some(Bounds::new(value, value + 0.1)),
                text: format!("{:.1}", value * 100.0),
            }
        };
        let heatmap = Heatmap {
            rows: names("model-", rows),
            columns: names("t", columns),
            cells: (0..rows * columns).map(cell).collect(),
            label: "accuracy".to_owned(),
            percent: true,
            ..Heatmap::default()
        };
        let panel =
            Panel::new("", Axis::linear("task"), Axis::linear("model")).layer(Layer::Heatmap(heatmap));
        assert_legible(&format!("{rows} by {columns}"), &Figure::new("").panel(panel));
    }
}

#[test]
fn character_widths_match_the_font() {
    // A tick label ends where the axis begins, so its left end gives its width.
    let figure = Figure::new("").panel(Panel::new(
        "",
        Axis::linear(""),
        Axis::categories("", ["Wilhelmina 0123456789 (iIl)"]),
    ));
    let (texts, _) = texts(&figure.svg());
    let (_, place) = texts.iter().find(|(words, _)| words.starts_with("Wilhelmina")).unwrap();
    // The estimate has 6 % headroom, and the margin of the figure is 12 pixels.
    assert!((12.0..25.0).contains(&place.left()), "{place:?}");
}
