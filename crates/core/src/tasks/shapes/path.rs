//! Outlines as the commands of an SVG path.

use std::fmt::Write;

use super::outline::{Outline, Point, on_circle};
use crate::PyRandom;

/// In which order the sides of an outline are written.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Reorder {
    /// From the first corner on.
    None,
    /// From any corner on.
    Start,
    /// From any corner on, either way round.
    Direction,
    /// Side by side, in any order and each either way.
    Sides,
}

impl Reorder {
    pub(super) fn from_name(name: &str) -> Self {
        match name {
            "none" => Self::None,
            "start" => Self::Start,
            "direction" => Self::Direction,
            _ => Self::Sides,
        }
    }
}

/// The position of an outline, and the precision of its text.
pub(super) struct Frame {
    pub(super) radius: f64,
    pub(super) degrees: f64,
    pub(super) shift: Point,
    pub(super) precision: usize,
}

/// A side of an outline, between corners counted in units of the last decimal place.
#[derive(Clone, Copy)]
struct Side {
    from: [i64; 2],
    to: [i64; 2],
    curve: Curve,
}

#[derive(Clone, Copy, PartialEq)]
enum Curve {
    Straight,
    Clockwise,
    Counterclockwise,
}

impl Side {
    fn reversed(self) -> Self {
        let curve = match self.curve {
            Curve::Straight => Curve::Straight,
            Curve::Clockwise => Curve::Counterclockwise,
            Curve::Counterclockwise => Curve::Clockwise,
        };
        Self { from: self.to, to: self.from, curve }
    }
}

impl Frame {
    /// Writes the commands that draw an outline.
    pub(super) fn draw(&self, outline: &Outline, reorder: Reorder, rng: &mut PyRandom, text: &mut String) {
        let mut sides = self.sides(outline);
        if reorder != Reorder::None {
            let start = rng.index(sides.len());
            sides.rotate_left(start);
        }
        if reorder == Reorder::Direction && rng.random() < 0.5 {
            sides.reverse();
            for side in &mut sides {
                *side = side.reversed();
            }
        }
        if reorder == Reorder::Sides {
            rng.shuffle(&mut sides);
            for side in &mut sides {
                if rng.random() < 0.5 {
                    *side = side.reversed();
                }
            }
        }
        let pieces = reorder == Reorder::Sides;
        for (index, side) in sides.iter().enumerate() {
            if index == 0 || pieces {
                text.push_str(if index == 0 { "M" } else { " M" });
                self.point(side.from, text);
            }
            let closes = index + 1 == sides.len() && !pieces;
            match side.curve {
                Curve::Straight if closes => {}
                Curve::Straight => {
                    text.push_str(" L");
                    self.point(side.to, text);
                }
                curve => {
                    self.arc(outline.radii, curve, text);
                    self.point(side.to, text);
                }
            }
            text.push_str(if closes { " Z" } else { "" });
        }
    }

    fn sides(&self, outline: &Outline) -> Vec<Side> {
        let [cosine, sine] = on_circle(self.degrees);
        let corner = |index: usize| {
            let [x, y] = outline.corners[index % outline.corners.len()];
            [
                self.round(self.radius * (x * cosine - y * sine) + self.shift[0]),
                self.round(self.radius * (x * sine + y * cosine) + self.shift[1]),
            ]
        };
        let side = |index: usize| {
            let curve = if index < outline.arcs { Curve::Clockwise } else { Curve::Straight };
            Side { from: corner(index), to: corner(index + 1), curve }
        };
        (0..outline.corners.len()).map(side).collect()
    }

    fn arc(&self, radii: [f64; 2], curve: Curve, text: &mut String) {
        text.push_str(" A");
        let [width, height] = radii.map(|radius| self.round(self.radius * radius));
        self.point([width, height], text);
        // Turning changes nothing about a circle, and half a turn nothing about an ellipse.
        let turn = if width == height { 0 } else { self.round(self.degrees % 180.0) };
        self.number(turn, text);
        text.push_str(if curve == Curve::Clockwise { " 0 1" } else { " 0 0" });
    }

    fn point(&self, [x, y]: [i64; 2], text: &mut String) {
        self.number(x, text);
        self.number(y, text);
    }

    fn round(&self, number: f64) -> i64 {
        (number * self.unit() as f64).round() as i64
    }

    fn unit(&self) -> u64 {
        10u64.pow(self.precision as u32)
    }

    /// Writes a space and a number of units of the last decimal place.
    fn number(&self, number: i64, text: &mut String) {
        let (integer, fraction) = (number.unsigned_abs() / self.unit(), number.unsigned_abs() % self.unit());
        let sign = if number < 0 { "-" } else { "" };
        let _ = match self.precision {
            0 => write!(text, " {sign}{integer}"),
            precision => write!(text, " {sign}{integer}.{fraction:0precision$}"),
        };
    }
}
