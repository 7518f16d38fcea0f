//! More names, slanted sides, larger and longer numbers, disorder and other paths.

use reasonscape_core::Test;

use super::{grows, grows_in_version};
use crate::solve::between;

#[test]
fn every_dimension_increases_path_complexity() {
    grows("shapes", &[r#"{"options": 4}"#, r#"{"options": 7}"#, r#"{"options": 10}"#], |test| {
        test.options.len() as f64
    });
    grows("shapes", &[r#"{"rotation": 0}"#, r#"{"rotation": 15}"#, r#"{"rotation": 45}"#], slant);
    // In version 2 the first side is any of the four.
    let turns = [r#"{"rotation": 45}"#, r#"{"rotation": 180}"#, r#"{"rotation": 360}"#];
    grows_in_version(1, "shapes", &turns, turn);
    grows("shapes", &[r#"{"scale": 1}"#, r#"{"scale": 10}"#, r#"{"scale": 100}"#], |test| {
        let corners = corners(test);
        (corners[0][0] - corners[1][0]).hypot(corners[0][1] - corners[1][1])
    });
    grows("shapes", &[r#"{"offset": 0}"#, r#"{"offset": 1000}"#, r#"{"offset": 10000}"#], |test| {
        corners(test)[0][0].abs()
    });
    grows("shapes", &[r#"{"precision": 0}"#, r#"{"precision": 2}"#, r#"{"precision": 6}"#], |test| {
        path(test).len() as f64
    });
    grows("shapes", &[r#"{"extra_paths": 0}"#, r#"{"extra_paths": 3}"#, r#"{"extra_paths": 8}"#], |test| {
        test.prompt.matches("<path").count() as f64
    });
    let orders = ["none", "start", "direction", "sides"]
        .map(|order| format!(r#"{{"rotation": 0, "reorder": "{order}"}}"#));
    grows("shapes", &orders.each_ref().map(String::as_str), disorder);
}

fn path(test: &Test) -> &str {
    between(&test.prompt, "<path id=\"shape\" d=\"", "\"")
}

/// The points after M and L.
fn corners(test: &Test) -> Vec<[f64; 2]> {
    let words: Vec<&str> = path(test).split(' ').collect();
    let number = |index: usize| words[index].parse::<f64>().unwrap();
    let mut corners = Vec::new();
    for (index, word) in words.iter().enumerate() {
        match *word {
            "M" | "L" => corners.push([number(index + 1), number(index + 2)]),
            "A" => corners.push([number(index + 6), number(index + 7)]),
            _ => {}
        }
    }
    corners
}

fn has_right_angles(test: &Test) -> bool {
    ["square", "rectangle"].contains(&test.target.as_str())
}

/// By how many degrees the first side of a rectangle or square misses the nearest axis; 0 for other shapes.
fn slant(test: &Test) -> f64 {
    if !has_right_angles(test) {
        return 0.0;
    }
    let degrees = turn(test) % 90.0;
    degrees.min(90.0 - degrees)
}

/// The direction of the first side of a rectangle or square, in degrees from the right; 0 for other shapes.
fn turn(test: &Test) -> f64 {
    if !has_right_angles(test) {
        return 0.0;
    }
    let corners = corners(test);
    let [x, y] = [corners[1][0] - corners[0][0], corners[1][1] - corners[0][1]];
    y.atan2(x).to_degrees().rem_euclid(360.0)
}

/// How far an upright rectangle or square is from being drawn in one go, from the top left, clockwise.
fn disorder(test: &Test) -> f64 {
    if !has_right_angles(test) {
        return 0.0;
    }
    let corners = corners(test);
    let starts_elsewhere = corners.iter().any(|corner| corner[0] + corner[1] < corners[0][0] + corners[0][1]);
    let [one, two, three] = [corners[0], corners[1], corners[2]];
    let runs_back = (two[0] - one[0]) * (three[1] - two[1]) - (two[1] - one[1]) * (three[0] - two[0]) < 0.0;
    let pieces = path(test).matches('M').count() - 1;
    f64::from(starts_elsewhere) + f64::from(runs_back) + pieces as f64
}
