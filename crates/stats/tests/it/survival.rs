//! Survival against lifelines and statsmodels, and against simulated trials whose hazards are known.

use reasonscape_stats::random::PyRandom;
use reasonscape_stats::survival::{Cause, Quantile, RiskSet, SurvivalData};
use reasonscape_stats::{Confidence, Outcome};
use serde_json::Value;

use crate::golden::{assert_close, assert_proportion, cases, list, number, numbers};

const P95: Confidence = Confidence::P95;
const CAUSES: [Cause; 2] = [Cause::Correct, Cause::Incorrect];

fn survival_data(case: &Value) -> SurvivalData {
    let endings = [Outcome::Correct, Outcome::Incorrect, Outcome::Truncated];
    let trials = numbers(case, "tokens").into_iter().zip(numbers(case, "endings"));
    SurvivalData::new(trials.map(|(tokens, ending)| (tokens as u64, endings[ending as usize])))
        .expect("the golden trials are not empty")
}

fn assert_quantile(found: Quantile, expected: &Value) {
    for (found, name) in [(found.tokens, "tokens"), (found.low, "low"), (found.high, "high")] {
        assert_eq!(found, expected[name].as_f64().map(|tokens| tokens as u64), "{name} of {expected}");
    }
}

#[test]
fn survival_agrees_with_lifelines() {
    for case in cases("survival") {
        let curve = survival_data(&case).survival(P95);
        let steps = list(&case, "steps");
        assert_eq!(curve.steps().len(), steps.len());
        for (found, expected) in curve.steps().iter().zip(steps) {
            assert_eq!(found.tokens as f64, number(&expected, "tokens"));
            assert_eq!(found.at_risk as f64, number(&expected, "at_risk"));
            assert_eq!(found.answered as f64, number(&expected, "answered"));
            assert_close(found.proportion, number(&expected, "share"), "share");
            // Where nobody is left the reference has no variance, and for a bound the share.
            if found.proportion > 0.0 {
                let error = found.proportion * number(&expected, "greenwood").sqrt();
                assert_close(found.error, error, "Greenwood's error");
                assert_close(found.low, number(&expected, "low"), "low");
                assert_close(found.high, number(&expected, "high"), "high");
            }
        }
        assert_quantile(curve.median(), &case["median"]);
        for expected in list(&case, "quantiles") {
            assert_quantile(curve.quantile(number(&expected, "share")).unwrap(), &expected);
        }
    }
}

#[test]
fn incidence_agrees_with_lifelines() {
    let mut compared = 0;
    for case in cases("incidence") {
        let curve = survival_data(&case).incidence(CAUSES[number(&case, "cause") as usize], P95);
        for expected in list(&case, "steps") {
            let found = curve.at(number(&expected, "tokens") as u64);
            assert_close(found.proportion, number(&expected, "share"), "share");
            // Where nobody is left the reference divides by zero.
            if expected["variance"].is_number() {
                assert_close(found.error, number(&expected, "variance").sqrt(), "error");
                assert_close(found.low, number(&expected, "low"), "low");
                assert_close(found.high, number(&expected, "high"), "high");
                compared += 1;
            }
        }
    }
    assert!(compared > 80, "only {compared} steps have a variance");
}

#[test]
fn incidence_with_ties_agrees_with_statsmodels() {
    for case in cases("tied_incidence") {
        let survival_data = survival_data(&case);
        for (cause, proportions) in CAUSES.into_iter().zip(list(&case, "shares")) {
            let curve = survival_data.incidence(cause, P95);
            let proportions = proportions.as_array().expect("a list a cause").clone();
            for (tokens, proportion) in numbers(&case, "at").into_iter().zip(proportions) {
                assert_close(
                    curve.at(tokens as u64).proportion,
                    proportion.as_f64().expect("a share"),
                    "share",
                );
            }
        }
    }
}

/// Hazards of answering right and wrong in each bin of 100 tokens: right answers come early and then dry up, wrong ones
/// become ever more common.
const HAZARDS: [(f64, f64); 8] = [
    (0.05, 0.01),
    (0.15, 0.02),
    (0.3, 0.03),
    (0.3, 0.05),
    (0.2, 0.08),
    (0.1, 0.1),
    (0.05, 0.15),
    (0.02, 0.2),
];

/// A trial that runs into its limit at the end of a bin, or answers somewhere within one.
fn trial(rng: &mut PyRandom) -> (u64, Outcome) {
    let limit = if rng.random() < 0.3 { 500 } else { 800 };
    for (bin, (right, wrong)) in (0..).zip(HAZARDS) {
        let start = bin * 100;
        if start >= limit {
            break;
        }
        let draw = rng.random();
        if draw < right + wrong {
            let tokens = start + rng.randint(1, 100);
            return (tokens as u64, if draw < right { Outcome::Correct } else { Outcome::Incorrect });
        }
    }
    (limit as u64, Outcome::Truncated)
}

/// Shares still thinking, answered right and answered wrong by the end of each bin, in truth.
fn truth() -> Vec<(f64, f64, f64)> {
    let (mut thinking, mut right, mut wrong) = (1.0, 0.0, 0.0);
    HAZARDS
        .iter()
        .map(|(to_right, to_wrong)| {
            right += thinking * to_right;
            wrong += thinking * to_wrong;
            thinking *= 1.0 - to_right - to_wrong;
            (thinking, right, wrong)
        })
        .collect()
}

#[test]
fn bounds_cover_known_hazards_survival_and_incidence() {
    let runs = 300;
    let ends: Vec<u64> = (1..=8).map(|bin| bin * 100).collect();
    let truth = truth();
    let mut rng = PyRandom::new(1958);
    let (mut hazards, mut survival, mut incidence, mut medians) = ([0; 16], [0; 8], [0; 8], 0);
    for _ in 0..runs {
        let survival_data = SurvivalData::new((0..800).map(|_| trial(&mut rng))).unwrap();
        let bins = survival_data.hazards(&ends, RiskSet::Full, P95).unwrap();
        let curve = survival_data.survival(P95);
        let right = survival_data.incidence(Cause::Correct, P95);
        for bin in 0..8 {
            let is_in = |low: f64, truth: f64, high: f64| usize::from(low <= truth && truth <= high);
            let found = bins[bin];
            let (to_right, to_wrong) = HAZARDS[bin];
            hazards[2 * bin] += is_in(found.correct_hazard.low, to_right, found.correct_hazard.high);
            hazards[2 * bin + 1] += is_in(found.incorrect_hazard.low, to_wrong, found.incorrect_hazard.high);
            let step = curve.at(ends[bin]);
            survival[bin] += is_in(step.low, truth[bin].0, step.high);
            let step = right.at(ends[bin]);
            incidence[bin] += is_in(step.low, truth[bin].1, step.high);
        }
        // Half have answered within the fourth bin, 0.517 being left before it: at 300 + 100 * 0.017 / (0.517 * 0.35).
        let median = curve.median();
        let [low, high] =
            [median.low, median.high].map(|bound| bound.expect("half answer within the limits"));
        let before = truth[2].0;
        let exact = 300.0 + 100.0 * (before - 0.5) / (before - truth[3].0);
        medians += usize::from(low as f64 <= exact && exact <= high as f64 + 1.0);
    }
    for (name, counts) in [
        ("hazard", &hazards[..]),
        ("survival", &survival[..]),
        ("incidence", &incidence[..]),
        ("median", &[medians]),
    ] {
        for count in counts {
            assert_proportion(*count, runs, 0.95, name);
        }
    }
}

#[test]
fn accuracy_by_bin_shows_where_longer_responses_stop_helping() {
    let mut rng = PyRandom::new(42);
    let survival_data = SurvivalData::new((0..20_000).map(|_| trial(&mut rng))).unwrap();
    let ends: Vec<u64> = (1..=8).map(|bin| bin * 100).collect();
    let bins = survival_data.hazards(&ends, RiskSet::Full, P95).unwrap();
    // Of the answers in the first bins most are right, in the last most are wrong, in the sixth as many.
    assert!(bins[2].accuracy.low > 0.85 && bins[7].accuracy.high < 0.2);
    assert!(bins[5].accuracy.low < 0.5 && 0.5 < bins[5].accuracy.high);
    // With limits in the middle of a bin, counting the cut off by half takes the bias away.
    let cut = SurvivalData::new((0..20_000).map(|_| match trial(&mut rng) {
        (tokens, _) if tokens > 250 => (250, Outcome::Truncated),
        trial => trial,
    }))
    .unwrap();
    let [everybody, actuarial] = [RiskSet::Full, RiskSet::Actuarial]
        .map(|exposure| cut.hazards(&ends, exposure, P95).unwrap()[2].answer_hazard.point.unwrap());
    assert!(everybody < actuarial, "{everybody} {actuarial}");
}
