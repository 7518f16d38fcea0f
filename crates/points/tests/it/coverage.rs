//! End to end on simulated models of known skill: how often the truth lies in each mode's interval.

use std::collections::BTreeMap;

use reasonscape_stats::{Assumption, Event, Mode};

use super::evaluate::TestEnv;
use super::test_env::{open, rows};

/// Tests at a point in one evaluation; a row of `docs/coverage.md`.
const TRIALS: usize = 32;

/// The share of intervals that `docs/coverage.md` has for a mode: an exact sum, of which this is a sample.
fn documented(section: &str, p: f64, mode: Mode) -> f64 {
    let page = include_str!("../../../../docs/coverage.md");
    let section = page.split("\n## ").find(|text| text.starts_with(section)).unwrap();
    let mut lines = section.lines();
    let heading: Vec<&str> = lines.find(|line| line.starts_with("| n |")).unwrap().split('|').collect();
    let row = lines.find(|line| line.starts_with(&format!("| {TRIALS} | {p} |"))).unwrap();
    let place = heading.iter().position(|name| name.trim() == mode.to_string()).unwrap();
    row.split('|').nth(place).unwrap().trim().trim_matches('*').parse::<f64>().unwrap() / 100.0
}

/// What a mode estimates, where a model knows and is cut off with these probabilities.
fn truth(mode: Mode, knows: f64, cut: f64, guess: f64) -> f64 {
    let of_completed = match mode.event {
        Event::Equality => knows + (1.0 - knows) * guess,
        Event::Correctness | Event::Calibrated => knows,
    };
    match mode.assumption {
        Assumption::Independence => of_completed,
        Assumption::Pessimism => of_completed * (1.0 - cut),
        Assumption::Optimism => 1.0 - (1.0 - of_completed) * (1.0 - cut),
    }
}

/// Asks a model the same tests again and again. Each repeat is an evaluation of its own; from cache to interval they go
/// the way that all answers go.
fn measure(repeats: u32, knows: f64, cut: f64) {
    let env = TestEnv::new();
    let eval = format!("model = \"sim-p{knows}-t{cut}\"\nsampler = \"sampled-2k\"");
    let study = env.study(&format!("count = {TRIALS}\nrepeats = {repeats}"), &[&eval]);
    env.fill_to(&study, TRIALS);
    env.evaluate(&study);
    let db = open(env.path());
    for mode in Mode::ALL {
        let question = format!(
            "SELECT base_task, estimate_low('{mode}', n, n_e, n_t, g), estimate_high('{mode}', n, n_e, n_t, g), n FROM \
             (SELECT base_task, params, repeat, count(*) AS n, count(*) FILTER (WHERE status = 1) AS n_e, \
             count(*) FILTER (WHERE status = 2) AS n_t, sum(CASE WHEN status = 2 THEN 0 ELSE guess END) AS g \
             FROM trials GROUP BY base_task, params, repeat)"
        );
        // By the chance of a guess: how many evaluations, and how many of them hold the truth.
        let mut held: BTreeMap<bool, (u32, u32)> = BTreeMap::new();
        for row in rows(&db, &question).unwrap() {
            assert_eq!(row[3], TRIALS);
            let is_choice = row[0] == "boolean";
            let truth = truth(mode, knows, cut, if is_choice { 0.5 } else { 0.0 });
            let (low, high) = (row[1].as_f64().unwrap() - 1e-12, row[2].as_f64().unwrap() + 1e-12);
            let (all, inside) = held.entry(is_choice).or_default();
            *all += 1;
            *inside += u32::from((low..=high).contains(&truth));
        }
        for (is_choice, (all, inside)) in held {
            assert_eq!(all, if is_choice { repeats } else { 3 * repeats });
            let kind = if is_choice { "2 options" } else { "Free-form" };
            let promised = documented(&format!("{kind}, truncation {cut}\n"), knows, mode);
            let found = f64::from(inside) / f64::from(all);
            let deviation = (promised * (1.0 - promised) / f64::from(all)).sqrt();
            println!(
                "{kind}, knows {knows}, cut {cut}, {mode}: {found:.3} of {all}, documented {promised:.3}"
            );
            // The page rounds to a tenth of a percent.
            let off = (found - promised).abs();
            assert!(
                off <= 4.0 * deviation + 0.0005,
                "{kind} {mode}: {found} of {all}, documented {promised}"
            );
        }
    }
}

#[test]
fn confidence_intervals_have_the_documented_coverage() {
    for (knows, cut) in [(0.2, 0.1), (0.8, 0.1), (0.5, 0.4)] {
        measure(120, knows, cut);
    }
}

#[test]
#[ignore = "takes minutes; the small one is run with all tests"]
fn confidence_intervals_have_the_documented_coverage_for_many() {
    for (knows, cut) in [(0.05, 0.1), (0.2, 0.4), (0.5, 0.1), (0.8, 0.1), (0.95, 0.4)] {
        measure(1_000, knows, cut);
    }
}
