//! A reader with a wall calendar: it sums the lengths of years and months, and walks business days one by one.

use super::between;

const MONTHS: &str = "January February March April May June July August September October November December";
const WEEKDAYS: &str = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday";

pub(crate) fn solve(prompt: &str) -> String {
    let eu = prompt.contains("DD.MM.YYYY");
    let us = prompt.contains("MM/DD/YYYY");
    let mut day = ordinal(read_date(between(prompt, "Start on ", " and follow"), us, eu));
    let lines = between(prompt, "in order:\n\n", "\n\n");
    for line in lines.lines().filter(|line| line.starts_with("Go ")) {
        let words: Vec<&str> = line.trim_end_matches('.').split(' ').collect();
        let way = match words[1] {
            "forward" => 1,
            "back" => -1,
            other => panic!("no direction: {other}"),
        };
        if words[2] == "to" {
            assert_eq!(words[7], if way > 0 { "after" } else { "before" });
            let weekday = index_in(WEEKDAYS, words[5]);
            day += way;
            while day % 7 != weekday {
                day += way;
            }
            continue;
        }
        let count = number(words[2]);
        match words[3..].join(" ").trim_end_matches('s') {
            "day" => day += way * count,
            "week" => day += way * count * 7,
            "month" => {
                assert!(prompt.contains("take its last day"));
                day = add_months(day, way * count);
            }
            "business day" => {
                assert!(prompt.contains("Business days are Monday to Friday, and there are no holidays"));
                for _ in 0..count {
                    day += way;
                    while day % 7 > 4 {
                        day += way;
                    }
                }
            }
            other => panic!("no unit: {other}"),
        }
    }
    if prompt.contains("On which day of the week") {
        return WEEKDAYS.split(' ').nth(day as usize % 7).expect("seven weekdays").to_owned();
    }
    let (year, month, day) = date(day);
    format!("{year}-{month:02}-{day:02}")
}

fn read_date(text: &str, us: bool, eu: bool) -> (i64, i64, i64) {
    let numbers = |mark: char| -> Vec<i64> { text.split(mark).map(number).collect() };
    if text.contains('/') {
        assert!(us, "the order of {text} is not stated");
        let parts = numbers('/');
        return (parts[2], parts[0], parts[1]);
    }
    if text.contains('.') {
        assert!(eu, "the order of {text} is not stated");
        let parts = numbers('.');
        return (parts[2], parts[1], parts[0]);
    }
    if text.contains('-') {
        let parts = numbers('-');
        return (parts[0], parts[1], parts[2]);
    }
    let parts: Vec<&str> = text.split([' ', ',']).filter(|part| !part.is_empty()).collect();
    (number(parts[2]), index_in(MONTHS, parts[0]) + 1, number(parts[1]))
}

fn index_in(list: &str, word: &str) -> i64 {
    (0..)
        .zip(list.split(' '))
        .find(|(_, other)| *other == word)
        .unwrap_or_else(|| panic!("unknown: {word}"))
        .0
}

fn number(digits: &str) -> i64 {
    digits.parse().unwrap_or_else(|_| panic!("no number: {digits}"))
}

/// 1 January 1500 was a Monday in the Gregorian calendar, so that remainders of 7 are weekdays.
const FIRST_YEAR: i64 = 1500;

fn year_days(year: i64) -> i64 {
    if year % 400 == 0 || (year % 4 == 0 && year % 100 != 0) { 366 } else { 365 }
}

fn month_days(year: i64, month: i64) -> i64 {
    match month {
        2 => year_days(year) - 337,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

pub(crate) fn ordinal((year, month, day): (i64, i64, i64)) -> i64 {
    assert!((1..=month_days(year, month)).contains(&day), "no such day: {year}-{month}-{day}");
    (FIRST_YEAR..year).map(year_days).sum::<i64>()
        + (1..month).map(|month| month_days(year, month)).sum::<i64>()
        + day
        - 1
}

pub(crate) fn date(mut ordinal: i64) -> (i64, i64, i64) {
    let (mut year, mut month) = (FIRST_YEAR, 1);
    while ordinal >= year_days(year) {
        ordinal -= year_days(year);
        year += 1;
    }
    while ordinal >= month_days(year, month) {
        ordinal -= month_days(year, month);
        month += 1;
    }
    (year, month, ordinal + 1)
}

fn add_months(day: i64, months: i64) -> i64 {
    let (mut year, mut month, day) = date(day);
    for _ in 0..months.abs() {
        month += months.signum();
        if month == 13 {
            (year, month) = (year + 1, 1);
        } else if month == 0 {
            (year, month) = (year - 1, 12);
        }
    }
    ordinal((year, month, day.min(month_days(year, month))))
}
