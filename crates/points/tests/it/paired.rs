//! A planted difference is found as often as promised, and none where there is none.

use rayon::prelude::*;
use reasonscape_core::Outcome;
use reasonscape_points::{Filter, PairedTask};
use reasonscape_stats::Confidence;
use reasonscape_stats::paired::{Verdict, paired_difference};
use reasonscape_stats::power::{Design, trials_for_difference};
use tempfile::TempDir;

use super::test_env::{Draws, eval, open, point, trial, wait, write};

/// Studies that are made, each a task of its own.
const STUDIES: u64 = 120;
const PARAMS: &str = r#"{"length": 8}"#;

/// The share of tasks on which A is called better, and on which it is called worse.
fn verdicts(tasks: &[PairedTask], n: u64) -> (f64, f64) {
    assert_eq!(tasks.len() as u64, STUDIES);
    let called = |verdict: Verdict| {
        let tasks = tasks.iter().filter(|task| {
            assert_eq!(task.pairs(), n);
            let (b, c) = task.discordant();
            paired_difference(n, b, c, Confidence::P95).unwrap().verdict() == verdict
        });
        tasks.count() as f64 / STUDIES as f64
    };
    (called(Verdict::Better), called(Verdict::Worse))
}

#[test]
fn paired_test_has_the_documented_power_and_level() {
    // A alone knows 4 % of the tests, B alone 1 %.
    let n = trials_for_difference(0.03, 0.05, Design::default()).unwrap();
    assert!((380..500).contains(&n), "{n}");
    let study = TempDir::new().unwrap();
    let evals = ["a", "b", "twin"].map(|model| eval(model, "zero-shot", "sampled-2k", &[]));
    let mut draws = Draws(11);
    let mut units = Vec::new();
    for number in 0..STUDIES {
        let mut all = [Vec::new(), Vec::new(), Vec::new()];
        for index in 0..n as u64 {
            let draw = draws.below(1000);
            // Half the rest is known to both, half to neither.
            let (a, b) = match draw {
                0..40 => (true, false),
                40..50 => (false, true),
                _ => (draw.is_multiple_of(2), draw.is_multiple_of(2)),
            };
            // The twin is as good as A, which knows 51.5 % in all: on a tenth of the tests it draws anew.
            let tossed = draws.below(10) == 0;
            let twin = if tossed { draws.below(1000) < 515 } else { a };
            let known = [a, b, twin];
            for (trials, known) in all.iter_mut().zip(known) {
                trials.push(trial(index, if known { Outcome::Correct } else { Outcome::Incorrect }, 0.0));
            }
        }
        let task = format!("study-{number:03}");
        units.extend(evals.iter().zip(all).map(|(eval, trials)| (eval, task.clone(), trials)));
    }
    units.into_par_iter().for_each(|(eval, task, trials)| {
        write(study.path(), eval, &task, vec![point(PARAMS, &["m"], trials)]);
    });
    let db = open(study.path());
    let paired =
        |other: usize| wait(db.paired(&evals[0].eval_id, &evals[other].eval_id, &Filter::default())).unwrap();
    let (found, opposite) = verdicts(&paired(1), n);
    let promised = Design::default().power;
    let deviation = |share: f64| (share * (1.0 - share) / STUDIES as f64).sqrt();
    println!("found {found:.3}, promised {promised}");
    assert!((found - promised).abs() < 3.5 * deviation(promised), "found {found}, promised {promised}");
    assert_eq!(opposite, 0.0);
    let (better, worse) = verdicts(&paired(2), n);
    println!("false alarms {:.3}", better + worse);
    assert!(
        better + worse < 0.05 + 3.5 * deviation(0.05),
        "{better} and {worse} where there is no difference"
    );
}
