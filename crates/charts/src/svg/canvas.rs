//! Writer of SVG elements. Texts are escaped, and coordinates are always finite.

use std::fmt::Write as _;

use crate::number::coordinate;
use crate::style::{Marker, TEXT};
use crate::text_layout::escape;

/// The alignment of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Anchor {
    #[default]
    Start,
    Middle,
    End,
}

/// A text with its style.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextSpan<'a> {
    pub(crate) text: &'a str,
    /// The full text, if it was shortened.
    pub(crate) full: &'a str,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) size: f64,
    pub(crate) bold: bool,
    pub(crate) fill: &'a str,
    pub(crate) anchor: Anchor,
    /// Degrees, clockwise.
    pub(crate) rotation: f64,
    /// Whether a white outline separates it from the background.
    pub(crate) halo: bool,
}

impl<'a> TextSpan<'a> {
    pub(crate) fn new(text: &'a str, x: f64, y: f64) -> Self {
        let (size, fill, anchor) = (12.0, TEXT, Anchor::Start);
        Self { text, full: text, x, y, size, bold: false, fill, anchor, rotation: 0.0, halo: false }
    }

    pub(crate) fn anchor(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    pub(crate) fn fill(self, fill: &'a str) -> Self {
        Self { fill, ..self }
    }
}

/// Stroke and fill of a line or an area.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint<'a> {
    pub(crate) fill: &'a str,
    pub(crate) opacity: f64,
    pub(crate) stroke: &'a str,
    pub(crate) width: f64,
    pub(crate) dash: &'a str,
}

impl<'a> Paint<'a> {
    pub(crate) fn stroke(stroke: &'a str, width: f64) -> Self {
        Self { fill: "none", opacity: 1.0, stroke, width, dash: "" }
    }

    pub(crate) fn dashed(stroke: &'a str, width: f64, dash: &'a str) -> Self {
        Self { dash, ..Self::stroke(stroke, width) }
    }

    pub(crate) fn fill(fill: &'a str) -> Self {
        Self { fill, opacity: 1.0, stroke: "none", width: 0.0, dash: "" }
    }

    pub(crate) fn opacity(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Area {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Area {
    pub(crate) fn right(self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(self) -> f64 {
        self.y + self.height
    }

    pub(crate) fn grown(self, by: f64) -> Self {
        Self { x: self.x - by, y: self.y - by, width: self.width + 2.0 * by, height: self.height + 2.0 * by }
    }
}

/// Builder of an SVG.
#[derive(Debug, Default)]
pub(crate) struct Canvas {
    body: String,
    /// The font of PNG files is light; an outline in the color of the text makes it legible.
    embolden: bool,
}

/// The path data through these points.
pub(crate) fn path<'p>(points: impl IntoIterator<Item = &'p (f64, f64)>) -> String {
    let mut data = String::new();
    for (index, (x, y)) in points.into_iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        let _ = write!(data, "{command}{} {}", coordinate(*x), coordinate(*y));
    }
    data
}

impl Canvas {
    pub(crate) fn new(embolden: bool) -> Self {
        Self { body: String::new(), embolden }
    }

    pub(crate) fn finish(self) -> String {
        self.body
    }

    fn element(&mut self, name: &str, attributes: &[(&str, f64)], paint: &Paint<'_>, title: &str) {
        let _ = write!(self.body, "<{name}");
        for (attribute, number) in attributes {
            let _ = write!(self.body, " {attribute}=\"{}\"", coordinate(*number));
        }
        self.painted(name, paint, title);
    }

    fn painted(&mut self, name: &str, paint: &Paint<'_>, title: &str) {
        let Paint { fill, opacity, stroke, width, dash } = paint;
        let _ = write!(self.body, " fill=\"{fill}\"");
        if *opacity < 1.0 {
            let _ = write!(self.body, " opacity=\"{}\"", coordinate(*opacity));
        }
        if *stroke != "none" {
            let _ = write!(self.body, " stroke=\"{stroke}\" stroke-width=\"{}\"", coordinate(*width));
        }
        if !dash.is_empty() {
            let _ = write!(self.body, " stroke-dasharray=\"{dash}\"");
        }
        if title.is_empty() {
            self.body.push_str("/>\n");
        } else {
            let _ = writeln!(self.body, "><title>{}</title></{name}>", escape(title));
        }
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), paint: &Paint<'_>) {
        self.element("line", &[("x1", from.0), ("y1", from.1), ("x2", to.0), ("y2", to.1)], paint, "");
    }

    pub(crate) fn rectangle(&mut self, area: Area, paint: &Paint<'_>, title: &str) {
        let numbers = [("x", area.x), ("y", area.y), ("width", area.width), ("height", area.height)];
        self.element("rect", &numbers, paint, title);
    }

    pub(crate) fn path(&mut self, data: &str, paint: &Paint<'_>) {
        let _ = write!(self.body, "<path d=\"{data}\" stroke-linejoin=\"round\"");
        self.painted("path", paint, "");
    }

    pub(crate) fn text(&mut self, words: TextSpan<'_>) {
        if words.text.is_empty() {
            return;
        }
        if words.halo {
            let edge =
                " stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\" aria-hidden=\"true\"";
            self.letters(&words, edge);
        }
        let edge = match (self.embolden, words.bold) {
            (true, true) => format!(" stroke=\"{}\" stroke-width=\"0.7\"", words.fill),
            (true, false) => format!(" stroke=\"{}\" stroke-width=\"0.25\"", words.fill),
            (false, true) => " font-weight=\"bold\"".to_owned(),
            (false, false) => String::new(),
        };
        self.letters(&words, &edge);
    }

    fn letters(&mut self, words: &TextSpan<'_>, extra: &str) {
        let (x, y) = (coordinate(words.x), coordinate(words.y));
        let _ = write!(self.body, "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"", coordinate(words.size));
        let _ = write!(self.body, " fill=\"{}\"{extra}", words.fill);
        match words.anchor {
            Anchor::Start => {}
            Anchor::Middle => self.body.push_str(" text-anchor=\"middle\""),
            Anchor::End => self.body.push_str(" text-anchor=\"end\""),
        }
        if words.rotation != 0.0 {
            let _ = write!(self.body, " transform=\"rotate({} {x} {y})\"", coordinate(words.rotation));
        }
        self.body.push('>');
        if words.full != words.text {
            let _ = write!(self.body, "<title>{}</title>", escape(words.full));
        }
        let _ = writeln!(self.body, "{}</text>", escape(words.text));
    }

    /// Clips what `draw` draws to the area. A nested `<svg>` is used instead of a clip path, whose id could collide with those
    /// of other figures on the page.
    pub(crate) fn within(&mut self, area: Area, draw: impl FnOnce(&mut Self)) {
        let [x, y, width, height] = [area.x, area.y, area.width, area.height].map(coordinate);
        let _ = writeln!(
            self.body,
            "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" viewBox=\"{x} {y} {width} {height}\">"
        );
        draw(self);
        self.body.push_str("</svg>\n");
    }

    /// Adds a tooltip to what `draw` draws.
    pub(crate) fn titled(&mut self, title: &str, draw: impl FnOnce(&mut Self)) {
        let _ = writeln!(self.body, "<g><title>{}</title>", escape(title));
        draw(self);
        self.body.push_str("</g>\n");
    }

    /// A marker, within a circle of this radius.
    pub(crate) fn marker(&mut self, marker: Marker, (x, y): (f64, f64), radius: f64, color: &str) {
        let filled = Paint { fill: color, opacity: 1.0, stroke: "#ffffff", width: 0.8, dash: "" };
        let polygon = |corners: &[(f64, f64)]| {
            let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx * radius, y + dy * radius)).collect();
            path(&corners) + "Z"
        };
        match marker {
            Marker::Circle => self.element("circle", &[("cx", x), ("cy", y), ("r", radius)], &filled, ""),
            Marker::Square => {
                self.path(&polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]), &filled);
            }
            Marker::Up => self.path(&polygon(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]), &filled),
            Marker::Down => self.path(&polygon(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]), &filled),
            Marker::Diamond => {
                self.path(&polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]), &filled);
            }
            Marker::Hexagon => {
                let corners =
                    [(0.0, -1.1), (1.0, -0.55), (1.0, 0.55), (0.0, 1.1), (-1.0, 0.55), (-1.0, -0.55)];
                self.path(
                    &polygon(&corners),
                    &Paint { fill: "#ffffff", stroke: color, width: 1.4, ..filled },
                );
            }
            Marker::Plus => {
                let arms = polygon(&[(-1.1, 0.0), (1.1, 0.0)]) + &polygon(&[(0.0, -1.1), (0.0, 1.1)]);
                self.path(&arms, &Paint::stroke(color, 2.0));
            }
            Marker::Cross => {
                let arms = polygon(&[(-0.9, -0.9), (0.9, 0.9)]) + &polygon(&[(-0.9, 0.9), (0.9, -0.9)]);
                self.path(&arms, &Paint::stroke(color, 2.0));
            }
        }
    }
}
