//! Output in all three formats.

use reasonscape_charts::{Axis, Figure, FigureError, Kind, Layer, Panel, Point};
use resvg::tiny_skia::Pixmap;

use crate::test_env::line;

#[test]
fn png_has_expected_size_and_dark_pixels() {
    let figure = line();
    let png = Pixmap::decode_png(&figure.png(1.0).unwrap()).unwrap();
    assert_eq!(png.width(), 680);
    let height: u32 =
        figure.svg().split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    assert_eq!(png.height(), height);
    let white = png
        .pixels()
        .iter()
        .filter(|pixel| (pixel.red(), pixel.green(), pixel.blue()) == (255, 255, 255))
        .count();
    let proportion = white as f64 / png.pixels().len() as f64;
    assert!((0.5..0.98).contains(&proportion), "{proportion}");
    assert!(png.pixels().iter().all(|pixel| pixel.alpha() == 255));
    // The blue of the first series.
    assert!(png.pixels().iter().any(|pixel| (pixel.red(), pixel.green(), pixel.blue()) == (0, 0x72, 0xb2)));
}

#[test]
fn png_contains_text() {
    let with_words = Figure::new("Wide words").png(1.0).unwrap();
    let without = Figure::new("   ").svg();
    let dark = |png: &[u8]| {
        Pixmap::decode_png(png).unwrap().pixels().iter().filter(|pixel| pixel.red() < 128).count()
    };
    assert!(dark(&with_words) > 200, "{}", dark(&with_words));
    assert!(!without.contains("<text"));
}

#[test]
fn rejects_impossible_png_sizes() {
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1000.0] {
        let error = line().png(scale).unwrap_err();
        assert!(matches!(error, FigureError::Scale { .. }), "{error}");
    }
}

#[test]
fn format_follows_file_extension() {
    let kinds = ["a.svg", "b.PNG", "c.d.html"].map(|path| Kind::from_path(path.as_ref()).unwrap());
    assert_eq!(kinds, [Kind::Svg, Kind::Png, Kind::Html]);
    for path in ["a", "a.pdf", "svg", ""] {
        let error = Kind::from_path(path.as_ref()).unwrap_err().to_string();
        assert!(error.contains(&format!("`{path}`")) && error.contains(".svg, .png or .html"), "{error}");
    }
    let figure = line();
    assert_eq!(figure.bytes(Kind::Svg).unwrap(), figure.svg().into_bytes());
    assert!(figure.bytes(Kind::Html).unwrap().starts_with(b"<!doctype html>"));
}

#[test]
fn infinite_bar_is_clamped_beyond_the_edge() {
    let dots =
        vec![Point::between(4.0, 0.0, f64::NEG_INFINITY, 5.0), Point::between(6.0, 1.0, 5.0, f64::INFINITY)];
    let names = Axis::categories("", ["a", "b"]);
    let figure = Figure::new("")
        .panel(Panel::new("", Axis::linear("length").range(0.0, 10.0), names).layer(Layer::dots("", dots)));
    let page = figure.fragment("only");
    // Infinite ends are limited to ten times the width of the axis, which browsers can draw.
    assert!(page.contains("\"array\":[1.0,104.0]") && page.contains("\"arrayminus\":[104.0,1.0]"), "{page}");
    assert!(!page.contains("e+") && !page.contains("e300"), "{page}");
}
