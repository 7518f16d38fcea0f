//! The shapes, about the size of a unit circle around the origin, y pointing down as in SVG.
//!
//! Proportions keep every two names apart. Where a name of version 2 depends on equal sides, unequal ones differ by a quarter
//! or more; where it depends on right angles or parallel sides, others miss them by 20 degrees or more.

use crate::PyRandom;

/// The names that there are.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Square,
    Rectangle,
    Rhombus,
    Parallelogram,
    Trapezoid,
    Kite,
    Triangle,
    Pentagon,
    Hexagon,
    Heptagon,
    Octagon,
    FivePointedStar,
    SixPointedStar,
    Arrow,
    Cross,
    LetterL,
    Circle,
    Ellipse,
    Semicircle,
    QuarterCircle,
    IsoscelesTrapezoid,
    RightTrapezoid,
    ScaleneTrapezoid,
    Dart,
    Irregular,
}

/// Shapes with four straight sides.
pub(super) const QUADRILATERALS: &[Shape] =
    &[Shape::Square, Shape::Rectangle, Shape::Rhombus, Shape::Parallelogram, Shape::Trapezoid, Shape::Kite];

/// The names that version 2 asks for, all of shapes with four straight sides.
pub(super) const FOUR_CORNERS: &[Shape] = &[
    Shape::Square,
    Shape::Rectangle,
    Shape::Rhombus,
    Shape::Parallelogram,
    Shape::ScaleneTrapezoid,
    Shape::IsoscelesTrapezoid,
    Shape::RightTrapezoid,
    Shape::Kite,
    Shape::Dart,
    Shape::Irregular,
];

/// All other shapes.
pub(super) const REST: &[Shape] = &[
    Shape::Triangle,
    Shape::Pentagon,
    Shape::Hexagon,
    Shape::Heptagon,
    Shape::Octagon,
    Shape::FivePointedStar,
    Shape::SixPointedStar,
    Shape::Arrow,
    Shape::Cross,
    Shape::LetterL,
    Shape::Circle,
    Shape::Ellipse,
    Shape::Semicircle,
    Shape::QuarterCircle,
];

impl Shape {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Square => "square",
            Self::Rectangle => "rectangle",
            Self::Rhombus => "rhombus",
            Self::Parallelogram => "parallelogram",
            Self::Trapezoid | Self::ScaleneTrapezoid => "trapezoid",
            Self::Kite => "kite",
            Self::Triangle => "triangle",
            Self::Pentagon => "pentagon",
            Self::Hexagon => "hexagon",
            Self::Heptagon => "heptagon",
            Self::Octagon => "octagon",
            Self::FivePointedStar => "five-pointed star",
            Self::SixPointedStar => "six-pointed star",
            Self::Arrow => "arrow",
            Self::Cross => "cross",
            Self::LetterL => "L-shape",
            Self::Circle => "circle",
            Self::Ellipse => "ellipse",
            Self::Semicircle => "semicircle",
            Self::QuarterCircle => "quarter circle",
            Self::IsoscelesTrapezoid => "isosceles trapezoid",
            Self::RightTrapezoid => "right trapezoid",
            Self::Dart => "dart",
            Self::Irregular => "irregular quadrilateral",
        }
    }
}

pub(super) type Point = [f64; 2];

/// A closed line through corners, clockwise on the screen.
pub(super) struct Outline {
    pub(super) corners: Vec<Point>,
    /// How many of the sides, counted from the first corner, are quarters of an ellipse with these radii; the others
    /// are straight.
    pub(super) arcs: usize,
    pub(super) radii: [f64; 2],
}

impl Outline {
    /// An example of a shape.
    pub(super) fn new(shape: Shape, rng: &mut PyRandom) -> Self {
        let straight = |corners: Vec<Point>| Self { corners, arcs: 0, radii: [1.0, 1.0] };
        match shape {
            Shape::Square => straight(box_corners(0.75, 0.75)),
            Shape::Rectangle => {
                let short = 1.0 / rng.uniform(1.5, 3.0);
                let [width, height] = either_way([1.0, short], rng);
                straight(box_corners(width, height))
            }
            Shape::Rhombus => {
                let short = 1.0 / rng.uniform(1.5, 2.5);
                let [width, height] = either_way([1.0, short], rng);
                straight(vec![[0.0, -height], [width, 0.0], [0.0, height], [-width, 0.0]])
            }
            Shape::Parallelogram => straight(parallelogram(rng)),
            Shape::Trapezoid => straight(trapezoid(rng)),
            Shape::Kite => {
                let (top, side, bottom) =
                    (rng.uniform(0.4, 0.6), rng.uniform(0.6, 0.8), rng.uniform(1.2, 1.5));
                straight(vec![[0.0, -top], [side, 0.0], [0.0, bottom], [-side, 0.0]])
            }
            Shape::Triangle => {
                let corner = |degrees: f64, rng: &mut PyRandom| on_circle(degrees + rng.uniform(-20.0, 20.0));
                straight(vec![corner(-90.0, rng), corner(30.0, rng), corner(150.0, rng)])
            }
            Shape::Pentagon => straight(around(5, &[1.0])),
            Shape::Hexagon => straight(around(6, &[1.0])),
            Shape::Heptagon => straight(around(7, &[1.0])),
            Shape::Octagon => straight(around(8, &[1.0])),
            Shape::FivePointedStar => straight(around(10, &[1.0, rng.uniform(0.38, 0.48)])),
            Shape::SixPointedStar => straight(around(12, &[1.0, rng.uniform(0.5, 0.6)])),
            Shape::Arrow => {
                let (shaft, head, neck) =
                    (rng.uniform(0.2, 0.3), rng.uniform(0.6, 0.8), rng.uniform(0.1, 0.3));
                straight(vec![
                    [1.0, 0.0],
                    [neck, head],
                    [neck, shaft],
                    [-1.0, shaft],
                    [-1.0, -shaft],
                    [neck, -shaft],
                    [neck, -head],
                ])
            }
            Shape::Cross => straight(cross(rng.uniform(0.25, 0.4))),
            Shape::LetterL => {
                let (width, arm) = (rng.uniform(0.7, 0.9), rng.uniform(0.4, 0.6));
                straight(vec![
                    [-width, -1.0],
                    [arm - width, -1.0],
                    [arm - width, 1.0 - arm],
                    [width, 1.0 - arm],
                    [width, 1.0],
                    [-width, 1.0],
                ])
            }
            Shape::Circle => Self { corners: around(4, &[1.0]), arcs: 4, radii: [1.0, 1.0] },
            Shape::Ellipse => {
                let short = 1.0 / rng.uniform(1.5, 2.5);
                let [width, height] = either_way([1.0, short], rng);
                let corners = vec![[0.0, -height], [width, 0.0], [0.0, height], [-width, 0.0]];
                Self { corners, arcs: 4, radii: [width, height] }
            }
            Shape::Semicircle => {
                Self { corners: vec![[-1.0, 0.0], [0.0, -1.0], [1.0, 0.0]], arcs: 2, radii: [1.0, 1.0] }
            }
            Shape::QuarterCircle => {
                Self { corners: vec![[0.0, -1.0], [1.0, 0.0], [0.0, 0.0]], arcs: 1, radii: [1.0, 1.0] }
            }
            Shape::IsoscelesTrapezoid => {
                let (top, height) = (rng.uniform(0.35, 0.45), rng.uniform(0.4, 0.55));
                straight(vec![[-top, -height], [top, -height], [0.9, height], [-0.9, height]])
            }
            Shape::RightTrapezoid => {
                let (top, height) = (rng.uniform(-0.2, 0.1), rng.uniform(0.4, 0.55));
                straight(mirrored(vec![[-0.9, -height], [top, -height], [0.9, height], [-0.9, height]], rng))
            }
            Shape::ScaleneTrapezoid => {
                let (long, short) = (rng.uniform(0.9, 1.1), rng.uniform(0.3, 0.35));
                let height = rng.uniform(0.3, 0.37);
                let corners =
                    vec![[long - 0.9, -height], [0.9 - short, -height], [0.9, height], [-0.9, height]];
                straight(mirrored(corners, rng))
            }
            Shape::Dart => {
                let (side, notch) = (rng.uniform(0.65, 0.9), rng.uniform(0.15, 0.35));
                straight(vec![[0.0, -1.0], [side, 0.8], [0.0, notch], [-side, 0.8]])
            }
            // Adjacent sides differ in length by a third, opposite ones in direction by 30 degrees.
            Shape::Irregular => {
                let mut corner =
                    |x: f64, y: f64| [x + rng.uniform(-0.04, 0.04), y + rng.uniform(-0.04, 0.04)];
                let corners =
                    vec![corner(-0.9, 0.2), corner(-0.7, -0.47), corner(0.38, -0.68), corner(0.75, 0.95)];
                straight(mirrored(corners, rng))
            }
        }
    }
}

impl Outline {
    /// Gives all outlines the same middle and size, measured at the corners, so that neither tells the shape.
    pub(super) fn normalize(&mut self) {
        /// The root mean square of the distances from the middle; no outline becomes smaller.
        const SIZE: f64 = 1.2;
        let count = self.corners.len() as f64;
        let middle = [0, 1].map(|axis| self.corners.iter().map(|corner| corner[axis]).sum::<f64>() / count);
        let squares = |corner: &Point| {
            (corner[0] - middle[0]) * (corner[0] - middle[0])
                + (corner[1] - middle[1]) * (corner[1] - middle[1])
        };
        let factor = SIZE / (self.corners.iter().map(squares).sum::<f64>() / count).sqrt();
        for corner in &mut self.corners {
            *corner = [0, 1].map(|axis| factor * (corner[axis] - middle[axis]));
        }
        self.radii = self.radii.map(|radius| factor * radius);
    }
}

/// The point of the unit circle at an angle, by an implementation that gives the same bits on every machine.
pub(super) fn on_circle(degrees: f64) -> Point {
    let radians = degrees.to_radians();
    [libm::cos(radians), libm::sin(radians)]
}

/// Corners at equal angles from the top, their distances from the middle taken in turn.
fn around(count: usize, distances: &[f64]) -> Vec<Point> {
    let corner = |index: usize| {
        let distance = distances[index % distances.len()];
        on_circle(360.0 * index as f64 / count as f64 - 90.0).map(|coordinate| coordinate * distance)
    };
    (0..count).map(corner).collect()
}

fn box_corners(width: f64, height: f64) -> Vec<Point> {
    vec![[-width, -height], [width, -height], [width, height], [-width, height]]
}

fn either_way([width, height]: [f64; 2], rng: &mut PyRandom) -> [f64; 2] {
    if rng.random() < 0.5 { [width, height] } else { [height, width] }
}

fn parallelogram(rng: &mut PyRandom) -> Vec<Point> {
    let [x, y] = on_circle(rng.uniform(50.0, 70.0));
    let half = rng.uniform(0.4, 0.55);
    let lean = if rng.random() < 0.5 { half * x } else { -half * x };
    let (width, height) = (0.8, half * y);
    vec![[lean - width, -height], [lean + width, -height], [width - lean, height], [-lean - width, height]]
}

fn trapezoid(rng: &mut PyRandom) -> Vec<Point> {
    let (top, height, lean) = (rng.uniform(0.35, 0.55), rng.uniform(0.4, 0.65), rng.uniform(-0.3, 0.3));
    vec![[lean - top, -height], [lean + top, -height], [0.9, height], [-0.9, height]]
}

/// The corners or their mirror image, still clockwise.
fn mirrored(mut corners: Vec<Point>, rng: &mut PyRandom) -> Vec<Point> {
    if rng.random() < 0.5 {
        corners.reverse();
        for [x, _] in &mut corners {
            *x = -*x;
        }
    }
    corners
}

fn cross(arm: f64) -> Vec<Point> {
    vec![
        [-arm, -1.0],
        [arm, -1.0],
        [arm, -arm],
        [1.0, -arm],
        [1.0, arm],
        [arm, arm],
        [arm, 1.0],
        [-arm, 1.0],
        [-arm, arm],
        [-1.0, arm],
        [-1.0, -arm],
        [-arm, -arm],
    ]
}
