use reasonscape_core::Test;

use super::grows;
use crate::solve::between;
use crate::solve::dates::{date, ordinal};

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
    let proportion = super::mean("dates@1", r#"{"kinds": "months", "operations": 1}"#, late_start);
    assert!(proportion > 0.2, "{proportion}");
}

/// In version 2 the rule decides at least a third of the problems of the kind `months`, at every number of steps and span.
#[test]
fn month_end_rule_decides_a_third_of_version_2() {
    use reasonscape_core::{Json, Params, TestStream, tasks};

    let task = tasks::by_name("dates@2").unwrap();
    for operations in [1, 3, 8] {
        for span_years in [1, 2, 20, 400] {
            let given = format!(
                r#"{{"kinds": "months", "operations": {operations}, "span_years": {span_years}, "distractors": 0}}"#
            );
            let params = Params::new(task, &Json::parse(&given).unwrap()).unwrap();
            let tests: Vec<Test> = TestStream::new(task, &params, 5).take(300).collect();
            let decided = tests.iter().filter(|test| needs_month_end_rule(&test.prompt)).count();
            assert!(decided * 3 >= tests.len(), "{given}: {decided} of {}", tests.len());
        }
    }
}

/// Whether some step of months arrives at a month without the day of the month it started from.
fn needs_month_end_rule(prompt: &str) -> bool {
    let start = between(prompt, "Start on ", " and follow");
    let numbers: Vec<i64> = start.split('-').map(|part| part.parse().unwrap()).collect();
    let mut day = ordinal((numbers[0], numbers[1], numbers[2]));
    between(prompt, "in order:\n\n", "\n\n").lines().any(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let count: i64 = words[2].parse::<i64>().unwrap() * if words[1] == "back" { -1 } else { 1 };
        if !line.contains(" month") {
            day += count * if line.contains(" week") { 7 } else { 1 };
            return false;
        }
        let (year, month, date) = date(day);
        let months = 12 * year + month - 1 + count;
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        let last = ordinal((year + month / 12, month % 12 + 1, 1)) - ordinal((year, month, 1));
        day = ordinal((year, month, date.min(last)));
        date > last
    })
}

/// A reader who answers without looking at the steps gets one in seven weekdays at every point.
#[test]
fn target_weekdays_are_uniform() {
    use reasonscape_core::{Json, Params, TestStream, tasks};

    for (version, kinds) in [(1, "days"), (1, "weeks"), (1, "months"), (2, "days"), (2, "months")] {
        let task = tasks::by_name(&format!("dates@{version}")).unwrap();
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
