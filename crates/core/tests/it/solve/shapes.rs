//! Reads the path back into an outline and names it from lengths and angles, allowing for rounding.

use super::between;

type Point = [f64; 2];

pub(crate) fn solve(prompt: &str) -> String {
    let strokes = strokes(between(prompt, "<path id=\"shape\" d=\"", "\""));
    let corners = outline(&strokes);
    let arcs: Vec<Arc> = strokes.iter().filter_map(|stroke| stroke.arc).collect();
    for stroke in &strokes {
        assert!(stroke.bulges_from(middle(&strokes, &corners)), "a dent: {prompt}");
    }
    let name = match (arcs.len(), corners.len()) {
        (0, 3) => "triangle",
        (0, 4) if prompt.contains("a right one two right angles") => specific_quadrilateral(&corners),
        (0, 4) => quadrilateral(&corners),
        (0, 5) => "pentagon",
        (0, 6) if is_convex(&corners) => "hexagon",
        (0, 6) if right_angles(&corners) == 6 => "L-shape",
        (0, 7) if is_convex(&corners) => "heptagon",
        (0, 7) => "arrow",
        (0, 8) => "octagon",
        (0, 10) => "five-pointed star",
        (0, 12) if right_angles(&corners) == 12 => "cross",
        (0, 12) => "six-pointed star",
        (4, 4) if arcs.iter().all(|arc| close(arc.radii[0], arc.radii[1])) => "circle",
        (4, 4) => "ellipse",
        (2, 3) => "semicircle",
        (1, 3) => "quarter circle",
        other => panic!("no shape has {other:?} arcs and corners: {prompt}"),
    };
    let options = prompt.split_once("one of these:\n").unwrap().1;
    assert_eq!(options.lines().filter(|line| line[3..] == *name).count(), 1, "{name}: {prompt}");
    name.to_owned()
}

#[derive(Clone, Copy)]
struct Stroke {
    from: Point,
    to: Point,
    arc: Option<Arc>,
}

#[derive(Clone, Copy)]
struct Arc {
    radii: [f64; 2],
    turn: f64,
    clockwise: bool,
}

impl Stroke {
    /// Whether the middle of the ellipse that an arc belongs to is where it should be; true of straight strokes.
    fn bulges_from(&self, middle: Point) -> bool {
        let Some(arc) = self.arc else { return true };
        let (sine, cosine) = arc.turn.to_radians().sin_cos();
        // Where the ellipse is a unit circle, its middle is off the chord's to the side that the direction tells.
        let flat =
            |[x, y]: Point| [(x * cosine + y * sine) / arc.radii[0], (y * cosine - x * sine) / arc.radii[1]];
        let ([a, b], [c, d], expected) = (flat(self.from), flat(self.to), flat(middle));
        let chord = length([c - a, d - b]);
        let off =
            (1.0 - chord * chord / 4.0).max(0.0).sqrt() / chord * if arc.clockwise { 1.0 } else { -1.0 };
        let found = [a.midpoint(c) - off * (d - b), b.midpoint(d) + off * (c - a)];
        length(between_points(found, expected)) < 0.15
    }
}

/// The middle of the circle or ellipse that the arcs should be parts of.
fn middle(strokes: &[Stroke], corners: &[Point]) -> Point {
    let straight: Vec<&Stroke> = strokes.iter().filter(|stroke| stroke.arc.is_none()).collect();
    let of_two = |[a, b]: Point, [c, d]: Point| [a.midpoint(c), b.midpoint(d)];
    match straight[..] {
        [] => of_two(corners[0], corners[2]),
        [diameter] => of_two(diameter.from, diameter.to),
        [one, two, ..] if two.from == one.from || two.to == one.from => one.from,
        [one, ..] => one.to,
    }
}

fn strokes(path: &str) -> Vec<Stroke> {
    let mut strokes: Vec<Stroke> = Vec::new();
    let (mut first, mut here) = ([0.0; 2], [0.0; 2]);
    let mut words = path.split(' ');
    while let Some(command) = words.next() {
        let mut number = || words.next().unwrap().parse::<f64>().unwrap();
        let mut arc = None;
        let to = match command {
            "M" => {
                here = [number(), number()];
                first = here;
                continue;
            }
            "L" => [number(), number()],
            "A" => {
                let radii = [number(), number()];
                let [turn, large, sweep] = [number(), number(), number()];
                assert_eq!(large, 0.0);
                arc = Some(Arc { radii, turn, clockwise: sweep == 1.0 });
                [number(), number()]
            }
            "Z" => first,
            other => panic!("no command: {other}"),
        };
        if to != here {
            strokes.push(Stroke { from: here, to, arc });
        }
        here = to;
    }
    strokes
}

/// The corners in order, whatever order and direction the strokes come in.
fn outline(strokes: &[Stroke]) -> Vec<Point> {
    let mut left = strokes.to_vec();
    let first = left.remove(0);
    let mut corners = vec![first.from];
    let mut here = first.to;
    while !left.is_empty() {
        corners.push(here);
        let next =
            left.iter().position(|stroke| stroke.from == here || stroke.to == here).expect("a closed line");
        let stroke = left.remove(next);
        here = if stroke.from == here { stroke.to } else { stroke.from };
    }
    assert_eq!(here, corners[0], "the line closes");
    corners
}

/// Equal up to rounding; proportions that differ at all differ by far more.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.12 * a.max(b)
}

fn between_points(from: Point, to: Point) -> Point {
    [to[0] - from[0], to[1] - from[1]]
}

fn length([x, y]: Point) -> f64 {
    x.hypot(y)
}

fn cross_product([a, b]: Point, [c, d]: Point) -> f64 {
    a * d - b * c
}

/// The sides as vectors, in order.
fn sides(corners: &[Point]) -> Vec<Point> {
    (0..corners.len()).map(|i| between_points(corners[i], corners[(i + 1) % corners.len()])).collect()
}

/// The sine of the angle between two sides.
fn sine(a: Point, b: Point) -> f64 {
    cross_product(a, b) / (length(a) * length(b))
}

fn is_convex(corners: &[Point]) -> bool {
    let sides = sides(corners);
    let turns: Vec<f64> = (0..sides.len()).map(|i| sine(sides[i], sides[(i + 1) % sides.len()])).collect();
    turns.iter().all(|turn| *turn > 0.0) || turns.iter().all(|turn| *turn < 0.0)
}

fn right_angles(corners: &[Point]) -> usize {
    let sides = sides(corners);
    (0..sides.len()).filter(|i| sine(sides[*i], sides[(i + 1) % sides.len()]).abs() > 0.985).count()
}

fn quadrilateral(corners: &[Point]) -> &'static str {
    let sides = sides(corners);
    let equal = |a: usize, b: usize| close(length(sides[a]), length(sides[b]));
    let parallel = |a: usize, b: usize| sine(sides[a], sides[b]).abs() < 0.1;
    let right = right_angles(corners) == 4;
    let equilateral = equal(0, 1) && equal(1, 2) && equal(2, 3);
    match (parallel(0, 2), parallel(1, 3)) {
        (true, true) if right && equilateral => "square",
        (true, true) if right => "rectangle",
        (true, true) if equilateral => "rhombus",
        (true, true) => "parallelogram",
        (false, false) => {
            assert!((equal(0, 1) && equal(2, 3)) || (equal(1, 2) && equal(3, 0)), "no kite: {corners:?}");
            "kite"
        }
        _ => "trapezoid",
    }
}

/// As version 2 defines the names.
fn specific_quadrilateral(corners: &[Point]) -> &'static str {
    let sides = sides(corners);
    let equal = |a: usize, b: usize| close(length(sides[a]), length(sides[b]));
    let parallel = |a: usize, b: usize| sine(sides[a], sides[b]).abs() < 0.1;
    if !is_convex(corners) {
        assert!((equal(0, 1) && equal(2, 3)) || (equal(1, 2) && equal(3, 0)), "no dart: {corners:?}");
        return "dart";
    }
    match (parallel(0, 2), parallel(1, 3)) {
        (false, false) if (equal(0, 1) && equal(2, 3)) || (equal(1, 2) && equal(3, 0)) => "kite",
        (false, false) => "irregular quadrilateral",
        (true, true) => quadrilateral(corners),
        (one, _) => {
            let legs = if one { [1, 3] } else { [0, 2] };
            match (right_angles(corners), equal(legs[0], legs[1])) {
                (2, _) => "right trapezoid",
                (_, true) => "isosceles trapezoid",
                _ => "trapezoid",
            }
        }
    }
}

/// Random coordinates seldom meet the hardest case: small shapes in whole numbers.
#[test]
fn rounding_never_changes_the_shape() {
    use reasonscape_core::{Json, Params, TestStream, tasks};

    for (task, reorder) in ["shapes@1", "shapes@2"].into_iter().flat_map(|task| {
        ["none", "direction", "sides"].map(|reorder| (tasks::by_name(task).unwrap(), reorder))
    }) {
        let params = format!(r#"{{"precision": 0, "scale": 1, "rotation": 360, "reorder": "{reorder}"}}"#);
        let params = Params::new(task, &Json::parse(&params).unwrap()).unwrap();
        for test in TestStream::new(task, &params, 0).take(3000) {
            assert_eq!(solve(&test.prompt), test.target, "{}", test.prompt);
        }
    }
}

/// The margins that docs/tasks.md promises for version 2.
#[test]
fn names_are_as_far_apart_as_promised() {
    use std::collections::HashMap;

    use reasonscape_core::{Json, Params, TestStream, tasks};

    const MIN_RATIO: f64 = 1.25;
    const MIN_DEGREES: f64 = 19.99;
    let task = tasks::by_name("shapes@2").unwrap();
    let given = r#"{"precision": 6, "scale": 1, "options": 10, "extra_paths": 0, "reorder": "direction"}"#;
    let params = Params::new(task, &Json::parse(given).unwrap()).unwrap();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for test in TestStream::new(task, &params, 1).take(4000) {
        let corners = outline(&strokes(between(&test.prompt, "<path id=\"shape\" d=\"", "\"")));
        let sides = sides(&corners);
        let ratio = |a: usize, b: usize| {
            let [a, b] = [a, b].map(|side| length(sides[side % 4]));
            a.max(b) / a.min(b)
        };
        // How far two sides are from being parallel, and two neighbors from a right angle.
        let slant = |a: usize, b: usize| sine(sides[a % 4], sides[b % 4]).abs().asin().to_degrees();
        let no_right_angles = (0..4).all(|side| 90.0 - slant(side, side + 1) >= MIN_DEGREES);
        let no_kite = |side: usize| ratio(side, side + 1).max(ratio(side + 2, side + 3)) >= MIN_RATIO;
        let legs = if slant(0, 2) < slant(1, 3) { [1, 3] } else { [0, 2] };
        let bases_alone_are_parallel = slant(legs[0], legs[1]) >= MIN_DEGREES;
        let holds = match test.target.as_str() {
            "square" => true,
            "rectangle" => ratio(0, 1) >= MIN_RATIO,
            "rhombus" => no_right_angles,
            "parallelogram" => ratio(0, 1) >= MIN_RATIO && no_right_angles,
            "kite" | "dart" => ratio(0, 1).max(ratio(1, 2)) >= MIN_RATIO,
            "right trapezoid" => bases_alone_are_parallel,
            "isosceles trapezoid" => bases_alone_are_parallel && no_right_angles,
            "trapezoid" => {
                bases_alone_are_parallel && no_right_angles && ratio(legs[0], legs[1]) >= MIN_RATIO
            }
            "irregular quadrilateral" => {
                no_kite(0) && no_kite(1) && slant(0, 2).min(slant(1, 3)) >= MIN_DEGREES
            }
            other => panic!("no promise about {other}"),
        };
        assert!(holds, "{}: {corners:?}", test.target);
        *seen.entry(test.target).or_default() += 1;
    }
    assert!(seen.len() == 10 && seen.values().all(|count| *count > 200), "{seen:?}");
}
