use reasonscape_core::Test;

use super::grows;
use crate::solve::between;

fn lines(test: &Test) -> impl Iterator<Item = &str> {
    between(&test.prompt, "in order:\n\n", "\n\n").lines()
}

/// How hard the hardest step is, by what it needs: counting, sevens, month ends, one weekday, all weekdays.
fn hardest_step(test: &Test) -> f64 {
    let rank = |line: &str| match line {
        _ if line.contains(" business day") => 5.0,
        _ if line.contains(" nearest ") => 4.0,
        _ if line.contains(" month") => 3.0,
        _ if line.contains(" week") => 2.0,
        _ => 1.0,
    };
    lines(test).filter(|line| line.starts_with("Go ")).map(rank).fold(0.0, f64::max)
}

/// The digits of the numbers that have to be added.
fn digits(test: &Test) -> f64 {
    let steps = lines(test).filter(|line| line.starts_with("Go "));
    steps.flat_map(str::bytes).filter(u8::is_ascii_digit).count() as f64
}

fn start(test: &Test) -> &str {
    between(&test.prompt, "Start on ", " and follow")
}

#[test]
fn every_dimension_of_dates() {
    grows("dates", &[r#"{"operations": 1}"#, r#"{"operations": 4}"#, r#"{"operations": 8}"#], |test| {
        lines(test).filter(|line| line.starts_with("Go ")).count() as f64
    });
    grows(
        "dates",
        &[
            r#"{"kinds": "days"}"#,
            r#"{"kinds": "weeks"}"#,
            r#"{"kinds": "months"}"#,
            r#"{"kinds": "weekdays"}"#,
            r#"{"kinds": "business_days"}"#,
        ],
        hardest_step,
    );
    grows(
        "dates",
        &[r#"{"span_years": 1}"#, r#"{"span_years": 4}"#, r#"{"span_years": 40}"#, r#"{"span_years": 400}"#],
        digits,
    );
    // A start that is not in the answer's own notation has to be rewritten.
    for format in ["us", "eu", "long"] {
        grows(
            "dates",
            &[r#"{"format": "iso"}"#, r#"{"format": "mixed"}"#, &format!(r#"{{"format": "{format}"}}"#)],
            |test| f64::from(!start(test).contains('-')),
        );
    }
    grows("dates", &[r#"{"distractors": 0}"#, r#"{"distractors": 4}"#, r#"{"distractors": 16}"#], |test| {
        lines(test).filter(|line| !line.starts_with("Go ")).count() as f64
    });
}

/// The ends of months, where the stated rule decides, are met and not just possible.
#[test]
fn month_end_rule_matters_in_many_tests() {
    let late_start = |test: &Test| f64::from(start(test)[8..].parse::<u32>().unwrap() > 28);
    let proportion = super::mean("dates", r#"{"kinds": "months", "operations": 1}"#, late_start);
    assert!(proportion > 0.2, "{proportion}");
}

/// A reader who answers without looking at the steps gets one in seven weekdays at every point.
#[test]
fn target_weekdays_are_uniform() {
    use reasonscape_core::{Json, Params, TestStream, tasks};

    let task = tasks::by_name("dates").unwrap();
    for kinds in ["days", "weeks", "months"] {
        for (operations, span_years) in [(1, 1), (1, 400), (8, 1)] {
            let given =
                format!(r#"{{"kinds": "{kinds}", "operations": {operations}, "span_years": {span_years}}}"#);
            let params = Params::new(task, &Json::parse(&given).unwrap()).unwrap();
            let mut counts = [0_u32; 7];
            let choices =
                TestStream::new(task, &params, 3).filter(|test| !test.options.is_empty()).take(2000);
            for test in choices {
                counts[test.options.iter().position(|option| *option == test.target).unwrap()] += 1;
            }
            let max = f64::from(*counts.iter().max().unwrap()) / 2000.0;
            assert!(max < 1.0 / 7.0 + 0.04, "{given}: {counts:?}");
        }
    }
}
