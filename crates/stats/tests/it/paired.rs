//! Paired comparisons against golden values and against simulated models whose truth is known.
//!
//! The golden values are made by `tests/fixtures/make_paired.py`.

use rand_distr::{Binomial, Distribution};
use reasonscape_stats::multiple_testing::{benjamini_hochberg, holm};
use reasonscape_stats::paired::{Verdict, mcnemar, paired_difference};
use reasonscape_stats::paired_bootstrap::{
    PairedBootstrap, PairedCell, ScoreDifference, paired_score_difference,
};
use reasonscape_stats::power::{
    Design, minimum_detectable_difference, trials_for_difference, trials_for_difference_unpaired,
};
use reasonscape_stats::random::PyRandom;
use reasonscape_stats::{Confidence, Counters, Mode, Outcome};
use serde_json::Value;

/// The cases of one section of the golden values.
fn golden(section: &str) -> Vec<Value> {
    let all: Value =
        serde_json::from_str(include_str!("../fixtures/paired.json")).expect("golden values are JSON");
    all[section].as_array().unwrap_or_else(|| panic!("no section `{section}`")).clone()
}

fn number(case: &Value, name: &str) -> f64 {
    case[name].as_f64().unwrap_or_else(|| panic!("no number `{name}` in {case}"))
}

fn count_field(case: &Value, name: &str) -> u64 {
    case[name].as_u64().unwrap_or_else(|| panic!("no whole number `{name}` in {case}"))
}

fn numbers(case: &Value, name: &str) -> Vec<f64> {
    let list = case[name].as_array().unwrap_or_else(|| panic!("no list `{name}` in {case}"));
    list.iter().map(|value| value.as_f64().expect("a list of numbers")).collect()
}

fn design(case: &Value) -> Design {
    Design {
        confidence: Confidence::new(1.0 - number(case, "alpha")).expect("an alpha in range"),
        power: number(case, "power"),
    }
}

fn is_close(found: f64, expected: f64, relative: f64) -> bool {
    (found - expected).abs() <= relative * expected.abs()
}

#[test]
fn mcnemar_agrees_with_statsmodels_and_high_precision_tails() {
    for case in golden("mcnemar").into_iter().chain(golden("mcnemar_tails")) {
        let (b, c) = (count_field(&case, "b"), count_field(&case, "c"));
        let found = mcnemar(b, c);
        let digits = if b + c > 1_000_000 { 1e-10 } else { 1e-12 };
        assert!(is_close(found.exact_p, number(&case, "exact_p"), digits), "{found:?} {case}");
        assert!(is_close(found.mid_p, number(&case, "mid_p"), digits), "{found:?} {case}");
    }
}

#[test]
fn interval_agrees_with_numerical_likelihood() {
    for case in golden("tango") {
        let confidence = Confidence::new(number(&case, "confidence")).unwrap();
        let (n, b, c) = (count_field(&case, "n"), count_field(&case, "b"), count_field(&case, "c"));
        let found = paired_difference(n, b, c, confidence).unwrap();
        assert!((found.low - number(&case, "low")).abs() < 1e-11, "{found:?} {case}");
        assert!((found.high - number(&case, "high")).abs() < 1e-11, "{found:?} {case}");
    }
}

#[test]
fn adjusted_p_values_agree_with_statsmodels() {
    for case in golden("multiple") {
        let raw = numbers(&case, "p");
        for (found, name) in [(holm(&raw), "holm"), (benjamini_hochberg(&raw), "benjamini_hochberg")] {
            for (found, expected) in found.unwrap().into_iter().zip(numbers(&case, name)) {
                assert!(is_close(found, expected, 1e-14), "{name}: {found} {expected}");
            }
        }
    }
}

#[test]
fn trial_counts_agree_with_root_finding_and_statsmodels() {
    for case in golden("paired_power") {
        let (difference, psi) = (number(&case, "difference"), number(&case, "discordant_share"));
        let trials = trials_for_difference(difference, psi, design(&case)).unwrap();
        assert_eq!(trials, count_field(&case, "trials"), "{case}");
        let smallest = minimum_detectable_difference(trials, psi, design(&case)).unwrap();
        assert!(is_close(smallest, number(&case, "minimum_detectable"), 1e-11), "{smallest} {case}");
    }
    for case in golden("unpaired_power") {
        let (share_a, share_b) = (number(&case, "share_a"), number(&case, "share_b"));
        let trials = trials_for_difference_unpaired(share_a, share_b, design(&case)).unwrap();
        assert_eq!(trials, count_field(&case, "trials"), "{case}");
    }
}

/// Two models on `n` items: the probabilities that only A, only B, both are right.
#[derive(Clone, Copy)]
struct Truth {
    n: u64,
    only_a: f64,
    only_b: f64,
    both: f64,
}

/// How often each of these happened among the `n` items.
struct Observed {
    only_a: u64,
    only_b: u64,
    both: u64,
    neither: u64,
}

impl Truth {
    fn observe(self, rng: &mut PyRandom) -> Observed {
        let mut draw =
            |items, proportion: f64| Binomial::new(items, proportion.min(1.0)).expect("a share").sample(rng);
        let only_a = draw(self.n, self.only_a);
        let only_b = draw(self.n - only_a, self.only_b / (1.0 - self.only_a));
        let both = draw(self.n - only_a - only_b, self.both / (1.0 - self.only_a - self.only_b));
        Observed { only_a, only_b, both, neither: self.n - only_a - only_b - both }
    }
}

impl Observed {
    fn cells(&self) -> Vec<PairedCell> {
        use Outcome::{Correct, Incorrect};
        [
            (Correct, Incorrect, self.only_a),
            (Incorrect, Correct, self.only_b),
            (Correct, Correct, self.both),
            (Incorrect, Incorrect, self.neither),
        ]
        .map(|(a, b, count)| PairedCell { a, b, guess: 0.0, count })
        .to_vec()
    }
}

/// The share of `runs` in which `test` says yes.
fn proportion_of_runs(runs: u32, mut test: impl FnMut(u32) -> bool) -> f64 {
    let yes = (0..runs).filter(|&run| test(run)).count();
    yes as f64 / f64::from(runs)
}

#[test]
fn interval_covers_truth_at_95_percent() {
    let designs = [
        Truth { n: 50, only_a: 0.15, only_b: 0.15, both: 0.4 },
        Truth { n: 128, only_a: 0.12, only_b: 0.05, both: 0.6 },
        Truth { n: 512, only_a: 0.3, only_b: 0.2, both: 0.3 },
        Truth { n: 1000, only_a: 0.01, only_b: 0.004, both: 0.9 },
    ];
    let mut rng = PyRandom::new(1998);
    for truth in designs {
        let coverage = proportion_of_runs(10_000, |_| {
            let seen = truth.observe(&mut rng);
            let found = paired_difference(truth.n, seen.only_a, seen.only_b, Confidence::P95).unwrap();
            let difference = truth.only_a - truth.only_b;
            found.low <= difference && difference <= found.high
        });
        // Four standard errors are 0.9 points; what is discrete adds some of its own.
        assert!((0.938..=0.966).contains(&coverage), "n = {}: {coverage}", truth.n);
    }
}

#[test]
fn mcnemar_has_at_most_nominal_size() {
    let mut rng = PyRandom::new(2013);
    for (n, discordant) in [(30, 0.3), (128, 0.1), (128, 0.4), (1000, 0.2)] {
        let truth = Truth { n, only_a: discordant / 2.0, only_b: discordant / 2.0, both: 0.5 };
        let (mut exact, mut mid) = (0, 0);
        for _ in 0..10_000 {
            let seen = truth.observe(&mut rng);
            let test = mcnemar(seen.only_a, seen.only_b);
            exact += u32::from(test.exact_p < 0.05);
            mid += u32::from(test.mid_p < 0.05);
        }
        // Two standard errors above 5 %; well below 3 % the test would be as timid as the exact one.
        assert!((250..=544).contains(&mid), "n = {n}, {discordant}: {mid} of 10000");
        assert!(exact < mid, "n = {n}, {discordant}: exact {exact}, mid-p {mid}");
    }
}

#[test]
fn requested_power_is_attained() {
    let mut rng = PyRandom::new(1987);
    for case in golden("paired_power") {
        let (difference, psi) = (number(&case, "difference"), number(&case, "discordant_share"));
        let n = trials_for_difference(difference, psi, design(&case)).unwrap();
        let truth = Truth {
            n,
            only_a: f64::midpoint(psi, difference),
            only_b: (psi - difference) / 2.0,
            both: (1.0 - psi) / 2.0,
        };
        let attained = proportion_of_runs(4000, |_| {
            let seen = truth.observe(&mut rng);
            let found = paired_difference(n, seen.only_a, seen.only_b, design(&case).confidence).unwrap();
            found.verdict() != Verdict::CannotTell
        });
        // Four standard errors of the simulation; the formula itself is good to a point.
        let enumerated = number(&case, "attained");
        let noise = 4.0 * (enumerated * (1.0 - enumerated) / 4000.0).sqrt();
        assert!((attained - enumerated).abs() < noise, "{attained} {case}");
        assert!((enumerated - design(&case).power).abs() < 0.01, "{case}");
    }
}

/// Three tasks, as two models of which A is better (or, with `lead` 0, is not) would have answered them.
fn suite(lead: f64) -> [Truth; 3] {
    [(200, 0.5), (150, 0.2), (250, 0.7)].map(|(n, both)| Truth { n, only_a: 0.08 + lead, only_b: 0.08, both })
}

fn compare(suite: &[Truth], rng: &mut PyRandom, seed: u32) -> ScoreDifference {
    let tasks: Vec<Vec<PairedCell>> = suite.iter().map(|truth| truth.observe(rng).cells()).collect();
    let options = PairedBootstrap { replicates: 200, seed: u64::from(seed), ..PairedBootstrap::default() };
    paired_score_difference(&tasks, options).expect("tasks with items")
}

#[test]
fn bootstrap_covers_known_difference() {
    let suite = suite(0.06);
    // The statistic at the true shares, as it would come out of a run without luck.
    let score = |proportion: fn(&Truth) -> f64| {
        let centers = suite.each_ref().map(|truth| {
            let n = truth.n as f64;
            let counters = Counters::new(n, n * proportion(truth), 0.0, 0.0).unwrap();
            Mode::C_P.estimate(&counters, Confidence::P95).center()
        });
        1000.0 * reasonscape_stats::score::geometric_mean(&centers).unwrap()
    };
    let truth = score(|truth| truth.only_a + truth.both) - score(|truth| truth.only_b + truth.both);
    let mut rng = PyRandom::new(1979);
    let coverage = proportion_of_runs(500, |run| {
        let found = compare(&suite, &mut rng, run);
        found.ci_low <= truth && truth <= found.ci_high
    });
    // Three standard errors are 2.9 points.
    assert!((0.92..=0.98).contains(&coverage), "{coverage}");
}

#[test]
fn bootstrap_has_nominal_size() {
    let mut rng = PyRandom::new(1993);
    let mut alarms = [0, 0];
    for run in 0..500 {
        let found = compare(&suite(0.0), &mut rng, run);
        alarms[0] += u32::from(found.verdict() != Verdict::CannotTell);
        alarms[1] += u32::from(found.p < 0.05);
    }
    // 25 expected, with a standard deviation of 4.9.
    assert!(alarms.iter().all(|alarms| (10..=41).contains(alarms)), "{alarms:?} of 500");
}

#[test]
fn pairing_narrows_interval() {
    use Outcome::{Correct, Incorrect};
    let cell = |a, b, count| PairedCell { a, b, guess: 0.0, count };
    // Both models are right on 60 of 100; in one suite mostly on the same items, in the other as if by lot.
    let cells = |both: u64| {
        vec![
            cell(Correct, Correct, both),
            cell(Correct, Incorrect, 60 - both),
            cell(Incorrect, Correct, 60 - both),
            cell(Incorrect, Incorrect, both - 20),
        ]
    };
    let width = |both| {
        let found = paired_score_difference(&[cells(both), cells(both)], PairedBootstrap::default()).unwrap();
        assert!(found.ci_low < 0.0 && 0.0 < found.ci_high);
        found.ci_high - found.ci_low
    };
    // The widths are as the roots of the discordant shares: sqrt(0.12 / 0.48) = 0.5.
    let ratio = width(54) / width(36);
    assert!((0.45..=0.55).contains(&ratio), "{ratio}");
}

#[test]
fn result_depends_on_seed_and_not_on_threads() {
    let mut rng = PyRandom::new(2);
    let tasks = suite(0.05).map(|truth| truth.observe(&mut rng).cells());
    let on = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = PairedBootstrap { seed, ..PairedBootstrap::default() };
        pool.install(|| paired_score_difference(&tasks, options).unwrap())
    };
    let (first, neighbour) = (on(1, 42), on(2, 43));
    assert_eq!(first, on(2, 42));
    assert_eq!(first.difference, neighbour.difference);
    // Neighbouring seeds share no replicate: if they did, hardly an order statistic would move.
    assert!(first.ci_low != neighbour.ci_low && first.ci_high != neighbour.ci_high);
}
