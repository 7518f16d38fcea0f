//! The coverage that the docs claim, against evaluations simulated trial by trial.

use reasonscape_stats::random::PyRandom;
use reasonscape_stats::{Assumption, Confidence, Counters, Event, Mode};

use crate::docs::{assert_has_line, page};

#[expect(dead_code, reason = "the example also prints the designs")]
#[path = "../../examples/coverage/score_design.rs"]
mod score_design;

/// The coverage of the ReasonScore in percent by design, in the order of the grid, as `docs/coverage.md` has it.
fn score_claims() -> Vec<f64> {
    let text = page("coverage.md");
    let (grid, _) = text.split_once("### ReasonScore, weak spots").expect("a section on weak spots");
    let rows = grid.lines().filter(|line| line.starts_with("| 0."));
    let number = |cell: &str| cell.trim().trim_matches('*').parse().expect("a percentage");
    rows.flat_map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        [number(cells[4]), number(cells[7])]
    })
    .collect()
}

#[test]
fn score_interval_covers_in_every_documented_design() {
    let claims = score_claims();
    let designs = score_design::grid();
    assert_eq!(claims.len(), designs.len());
    assert!(claims.len() >= 60);
    assert!(claims.iter().filter(|claim| !(92.0..=99.0).contains(*claim)).count() <= 3, "{claims:?}");
    assert!(claims.iter().all(|&claim| claim >= 88.0), "{claims:?}");
}

#[test]
fn documented_score_coverage_matches_simulation_with_another_seed() {
    const REPEATS: u32 = 400;
    for (design, claim) in score_design::grid().iter().zip(score_claims()).step_by(31) {
        let found = design.simulate(REPEATS, 77_777).likelihood;
        let claim = claim / 100.0;
        let error = (claim * (1.0 - claim) / f64::from(REPEATS)).sqrt();
        assert!((found - claim).abs() < 4.0 * error + 0.001, "{design:?}: {found} found, {claim} claimed");
    }
}

#[test]
fn v2_range_misses_strong_models_with_few_trials() {
    let strong = score_design::grid().into_iter().find(|design| {
        design.p > 0.9 && design.tasks == 12 && design.truncation == 0.0 && design.spread == 0.0
    });
    let found = strong.expect("a strong design").simulate(200, 5);
    assert!(found.v2 < 0.05 && found.likelihood > 0.9 && found.width < 80.0, "{found:?}");
}

/// A row of `docs/coverage.md`.
struct Claim {
    section: String,
    n: u32,
    p: f64,
    /// In percent, as printed, by mode.
    coverage: Vec<String>,
}

fn claims() -> Vec<Claim> {
    let mut section = String::new();
    let mut claims = Vec::new();
    for line in page("coverage.md").lines() {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut section);
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if let Ok(n) = cells[0].parse() {
            let coverage: Vec<String> = cells[2..].iter().map(|cell| cell.replace('*', "")).collect();
            assert_eq!(coverage.len(), Mode::ALL.len());
            claims.push(Claim {
                section: section.clone(),
                n,
                p: cells[1].parse().expect("the second column is p"),
                coverage,
            });
        }
    }
    claims
}

fn rows<'a>(claims: &'a [Claim], section: &str, n: u32) -> Vec<&'a Claim> {
    claims.iter().filter(|claim| claim.section == section && claim.n == n).collect()
}

/// The share of simulated evaluations whose interval contains the truth, by mode.
fn simulate(n: u32, p: f64, truncation: f64, options: f64, repeats: u32) -> [f64; 9] {
    let mut rng = PyRandom::new(95);
    let mut covered = [0_u32; 9];
    for _ in 0..repeats {
        let (mut n_t, mut n_e, mut g) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            if rng.random() < truncation {
                n_t += 1.0;
                continue;
            }
            g += 1.0 / options;
            if rng.random() < p || rng.random() * options < 1.0 {
                n_e += 1.0;
            }
        }
        let counters = Counters::new(f64::from(n), n_e, n_t, g).expect("counts that fit");
        for (count, mode) in covered.iter_mut().zip(Mode::ALL) {
            let right = match mode.event {
                Event::Equality => p + (1.0 - p) / options,
                Event::Correctness | Event::Calibrated => p,
            };
            let truth = match mode.assumption {
                Assumption::Independence => right,
                Assumption::Pessimism => right * (1.0 - truncation),
                Assumption::Optimism => truncation + right * (1.0 - truncation),
            };
            let interval = mode.estimate(&counters, Confidence::P95);
            *count += u32::from(interval.low <= truth + 1e-12 && truth <= interval.high + 1e-12);
        }
    }
    covered.map(|count| f64::from(count) / f64::from(repeats))
}

#[test]
fn documented_coverage_matches_simulation() {
    const REPEATS: u32 = 2500;
    let claims = claims();
    assert_eq!(claims.len(), 252);
    let designs = [
        ("2 options, truncation 0", 512, 0.0, 0.0, 2.0),
        ("2 options, truncation 0", 512, 0.2, 0.0, 2.0),
        ("2 options, truncation 0.4", 512, 0.5, 0.4, 2.0),
        ("2 options, truncation 0.1", 128, 0.05, 0.1, 2.0),
        ("4 options, truncation 0.1", 32, 0.2, 0.1, 4.0),
        ("10 options, truncation 0.4", 128, 0.95, 0.4, 10.0),
        ("Free-form, truncation 0.4", 32, 0.05, 0.4, f64::INFINITY),
    ];
    for (section, n, p, truncation, options) in designs {
        let claim =
            rows(&claims, section, n).into_iter().find(|claim| claim.p.to_bits() == f64::to_bits(p)).unwrap();
        let found = simulate(n, p, truncation, options, REPEATS);
        for ((mode, claimed), found) in Mode::ALL.iter().zip(&claim.coverage).zip(found) {
            let claimed = claimed.parse::<f64>().unwrap() / 100.0;
            let error = (claimed * (1.0 - claimed) / f64::from(REPEATS)).sqrt();
            // Four standard errors, and the rounding of the page.
            assert!(
                (found - claimed).abs() < 4.0 * error + 0.001,
                "{mode}, {section}, n = {n}, p = {p}: {found} found, {claimed} claimed"
            );
        }
    }
}

#[test]
fn c_undercovers_near_chance_and_k_does_not() {
    let claims = claims();
    let proportion = |claim: &Claim, mode: Mode| {
        let index = Mode::ALL.iter().position(|&other| other == mode).unwrap();
        claim.coverage[index].parse::<f64>().unwrap()
    };
    let two_options = rows(&claims, "2 options, truncation 0", 512);
    let at_p = |mode| -> Vec<f64> { two_options.iter().map(|claim| proportion(claim, mode)).collect() };
    assert_eq!(at_p(Mode::C_I), [51.8, 46.4, 74.0, 88.7, 93.5, 95.3, 100.0]);
    assert_eq!(at_p(Mode::K_I), [97.7, 94.8, 94.8, 95.4, 95.4, 95.3, 100.0]);
    assert!(claims.iter().all(|claim| proportion(claim, Mode::K_P) > 92.9));
}

#[test]
fn statistics_page_matches_coverage_page() {
    let (claims, text) = (claims(), page("statistics.md"));
    for section in ["2 options, truncation 0", "2 options, truncation 0.4"] {
        let rows = rows(&claims, section, 512);
        for (i, mode) in Mode::ALL.iter().enumerate() {
            if section.ends_with("0.4") || mode.assumption == Assumption::Independence {
                let cells: Vec<&str> = rows.iter().map(|claim| claim.coverage[i].as_str()).collect();
                assert_has_line(&text, &format!("| {mode} | {} |", cells.join(" | ")));
            }
        }
    }
}
