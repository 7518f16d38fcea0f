//! Shapes drawn by SVG paths.

use std::fmt::Write;

use super::Version;
use super::text::write_options;
use crate::{AnswerType, Dimension, Parameter, Params, PyRandom, Task, Test};
use outline::{FOUR_CORNERS, Outline, QUADRILATERALS, REST, Shape};
use path::{Frame, Reorder};

mod outline;
mod path;

/// The task in a version.
pub(super) struct Shapes(pub(super) Version);

static PARAMETERS_1: [Parameter; 7] = parameters(
    "maximum translation of the shape along each axis",
    &["none", "start", "direction", "sides"],
    "whether the outline starts anywhere, runs either way, or comes side by side in any order",
);
static PARAMETERS: [Parameter; 7] = parameters(
    "maximum translation of the shape along each axis, in addition to twice its size",
    &["none", "direction", "sides"],
    "whether the outline, which starts at any corner, also runs either way, or comes side by side in any order",
);

const fn parameters(
    offset: &'static str,
    orders: &'static [&'static str],
    reorder: &'static str,
) -> [Parameter; 7] {
    [
        Parameter::int("options", Dimension::Length, [4, 10, 6], "how many names there are to choose from"),
        Parameter::int(
            "rotation",
            Dimension::Depth,
            [0, 360, 90],
            "maximum rotation of the shape, in degrees",
        ),
        Parameter::int("scale", Dimension::Format, [1, 100, 4], "maximum scale factor of the shape"),
        Parameter::int("offset", Dimension::Format, [0, 10_000, 100], offset),
        Parameter::int("precision", Dimension::Format, [0, 6, 1], "how many decimal places coordinates have"),
        Parameter::word("reorder", Dimension::Interference, orders, reorder),
        Parameter::int("extra_paths", Dimension::Interference, [0, 8, 1], "how many other paths are drawn"),
    ]
}

/// What a shape measures from its middle to its ends before it is enlarged. Rounded to whole numbers, the smallest
/// still shows which sides are equal, parallel or at right angles.
const MIN_RADIUS: f64 = 40.0;
const MAX_RADIUS: f64 = 60.0;

/// Other paths are smaller than the shape by this factor.
const EXTRA_SIZE: f64 = 0.25;

impl Task for Shapes {
    fn name(&self) -> &'static str {
        self.0.of(["shapes", "shapes@2"])
    }

    fn version(&self) -> u32 {
        self.0.number()
    }

    fn description(&self) -> &'static str {
        self.0.of([
            "Name the shape that an SVG path draws. Half of the names are quadrilaterals, which counting corners does \
             not distinguish. Harder with more names, turned and shifted shapes, larger and longer numbers, outlines \
             that start anywhere or come in pieces, and other paths around.",
            "Name the quadrilateral that an SVG path draws. All names have four corners, so counting them tells nothing. \
             Harder with more names, turned and shifted shapes, larger and longer numbers, outlines that start \
             anywhere or come in pieces, and other paths around.",
        ])
    }

    fn parameters(&self) -> &'static [Parameter] {
        match self.0 {
            Version::V1 => &PARAMETERS_1,
            Version::V2 => &PARAMETERS,
        }
    }

    fn answer_type(&self) -> AnswerType {
        AnswerType::Choice
    }

    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test {
        let count = params.size("options");
        let shapes = match self.0 {
            Version::V1 => {
                let mut shapes = rng.sample(QUADRILATERALS, count / 2);
                shapes.extend(rng.sample(REST, count - count / 2));
                rng.shuffle(&mut shapes);
                shapes
            }
            Version::V2 => rng.sample(FOUR_CORNERS, count),
        };
        let right = rng.index(count);

        let limit = |name: &str| params.int(name) as f64;
        let canvas = Canvas {
            version: self.0,
            rotation: limit("rotation"),
            scale: limit("scale"),
            offset: limit("offset"),
            precision: params.size("precision"),
            reorder: match (self.0, Reorder::from_name(params.word("reorder"))) {
                // A fixed first corner would tell some shapes from others.
                (Version::V2, Reorder::None) => Reorder::Start,
                (_, reorder) => reorder,
            },
        };
        let extra_paths = params.size("extra_paths");
        let mut prompt = String::with_capacity(2048);
        prompt.push_str("Which shape does the path with id=\"shape\" draw?");
        prompt.push_str(if extra_paths > 0 { " Other paths do not count.\n\n" } else { "\n\n" });
        let shape_at = rng.index(extra_paths + 1);
        for line in 0..=extra_paths {
            if line == shape_at {
                prompt.push_str("<path id=\"shape\" d=\"");
                canvas.draw(shapes[right], 1.0, rng, &mut prompt);
            } else {
                let number = if line < shape_at { line + 1 } else { line };
                let _ = write!(prompt, "<path id=\"extra-{number}\" d=\"");
                let shapes = if rng.random() < 0.5 { QUADRILATERALS } else { REST };
                canvas.draw(*rng.choice(shapes), EXTRA_SIZE, rng, &mut prompt);
            }
            prompt.push_str("\"/>\n");
        }
        prompt.push_str(
            "\nCoordinates are rounded. Where several names fit, the most specific one is right: a square is not \
             called a rectangle here.",
        );
        if self.0 != Version::V1 {
            prompt.push_str(
                " A trapezoid has exactly one pair of parallel sides: an isosceles one has equal legs, a right one two \
                 right angles. A kite has two pairs of equal sides that meet; a dart is a kite with a corner that points \
                 inward. An irregular quadrilateral is none of these.",
            );
        }
        let options: Vec<String> = shapes.iter().map(|shape| shape.name().to_owned()).collect();
        write_options(self.0, &options, &mut prompt);
        Test::choice(prompt, options, right)
    }
}

/// How shapes come to stand where they are.
struct Canvas {
    version: Version,
    rotation: f64,
    scale: f64,
    offset: f64,
    precision: usize,
    reorder: Reorder,
}

impl Canvas {
    fn draw(&self, shape: Shape, size: f64, rng: &mut PyRandom, text: &mut String) {
        let mut outline = Outline::new(shape, rng);
        let radius = size * rng.uniform(MIN_RADIUS, MAX_RADIUS) * rng.uniform(1.0, self.scale);
        let offset = match self.version {
            Version::V1 => self.offset,
            // Around the origin, the signs of the coordinates would tell which shapes are symmetric.
            Version::V2 => {
                outline.normalize();
                self.offset + 2.0 * radius
            }
        };
        let frame = Frame {
            radius,
            degrees: rng.uniform(0.0, self.rotation),
            shift: [rng.uniform(-offset, offset), rng.uniform(-offset, offset)],
            precision: self.precision,
        };
        frame.draw(&outline, self.reorder, rng, text);
    }
}
