//! The Gregorian calendar, extended to every year from 1 on.

use crate::tasks::text::write_two_digits;

/// A day by its number, so that days can be added: day 0 is 1 March of the year 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(pub(super) i64);

/// A day as people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) year: i64,
    /// From 1 to 12.
    pub(super) month: i64,
    /// From 1 to the length of the month.
    pub(super) day: i64,
}

/// The days of the week, from Monday as 0.
pub(super) const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

const SATURDAY: i64 = 5;

impl Date {
    pub(super) fn new(year: i64, month: i64, day: i64) -> Self {
        Self { year, month, day }
    }

    pub(super) fn to_day(self) -> Day {
        // Counted from March the leap day is the last of its year, and months follow a pattern of 153 days in five.
        let (year, month) =
            if self.month > 2 { (self.year, self.month - 3) } else { (self.year - 1, self.month + 9) };
        Day(days_before(year) + days_before_month(month) + self.day - 1)
    }

    /// The date `months` later, on the same day of the month or, where there is none, on the month's last day.
    pub(super) fn plus_months(self, months: i64) -> Self {
        let total = self.year * 12 + self.month - 1 + months;
        let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
        Self { year, month, day: self.day.min(month_length(year, month)) }
    }

    /// Appends YYYY-MM-DD.
    pub(super) fn write_iso(self, text: &mut String) {
        // Two halves of the year, so that the year 987 begins with a 0.
        write_two_digits(self.year / 100, text);
        write_two_digits(self.year % 100, text);
        text.push('-');
        write_two_digits(self.month, text);
        text.push('-');
        write_two_digits(self.day, text);
    }
}

impl Day {
    pub(super) fn to_date(self) -> Date {
        // 400 years have 146,097 days. The quotient is a year off at most, so this steps down twice at most.
        let mut year = self.0 * 400 / 146_097 + 1;
        while days_before(year) > self.0 {
            year -= 1;
        }
        let rest = self.0 - days_before(year);
        let month = (rest * 5 + 2) / 153;
        let day = rest - days_before_month(month) + 1;
        if month < 10 { Date::new(year, month + 3, day) } else { Date::new(year + 1, month - 9, day) }
    }

    /// The day of the week, from Monday as 0. Day 0 was a Wednesday.
    pub(super) fn weekday(self) -> i64 {
        (self.0 + 2).rem_euclid(7)
    }

    pub(super) fn plus_days(self, days: i64) -> Self {
        Self(self.0 + days)
    }

    /// The nearest day of this weekday strictly after, or strictly before.
    pub(super) fn nearest(self, weekday: i64, forward: bool) -> Self {
        if forward {
            self.plus_days((weekday - self.weekday() - 1).rem_euclid(7) + 1)
        } else {
            self.plus_days(-(self.weekday() - weekday - 1).rem_euclid(7) - 1)
        }
    }

    /// The `count`th day from Monday to Friday strictly after, or strictly before where `count` is negative.
    pub(super) fn plus_business_days(self, count: i64) -> Self {
        // From a weekend, counting starts at the working day that lies behind.
        let days_into_weekend = (self.weekday() - SATURDAY + 1).max(0);
        let base = match (days_into_weekend, count > 0) {
            (0, _) => self,
            (days, true) => self.plus_days(-days),
            (days, false) => self.plus_days(3 - days),
        };
        let offset = base.weekday() + count;
        Self(base.0 - base.weekday() + offset.div_euclid(5) * 7 + offset.rem_euclid(5))
    }
}

/// How many days lie before 1 March of a year.
fn days_before(year: i64) -> i64 {
    365 * year + year / 4 - year / 100 + year / 400
}

/// How many days lie between 1 March and the first of a month, counted from March as 0.
fn days_before_month(month: i64) -> i64 {
    (153 * month + 2) / 5
}

pub(super) fn month_length(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A walk from one day to the next meets every date of 900 years in order.
    #[test]
    fn day_numbers_and_dates_round_trip() {
        let mut day = Date::new(1550, 1, 1).to_day();
        for year in 1550..2450 {
            for month in 1..=12 {
                for day_of_month in 1..=month_length(year, month) {
                    let date = Date::new(year, month, day_of_month);
                    assert_eq!((date.to_day(), day.to_date()), (day, date));
                    day = day.plus_days(1);
                }
            }
        }
    }

    #[test]
    fn weekdays_match_known_dates() {
        for (year, month, day, weekday) in [
            (1582, 10, 15, "Friday"),
            (1969, 7, 20, "Sunday"),
            (2000, 1, 1, "Saturday"),
            (2024, 2, 29, "Thursday"),
        ] {
            assert_eq!(WEEKDAYS[Date::new(year, month, day).to_day().weekday() as usize], weekday);
        }
    }

    #[test]
    fn month_lengths_are_correct() {
        let end = Date::new(2023, 12, 31);
        assert_eq!(end.plus_months(2), Date::new(2024, 2, 29));
        assert_eq!(end.plus_months(-10), Date::new(2023, 2, 28));
        assert_eq!(end.plus_months(-13), Date::new(2022, 11, 30));
    }

    #[test]
    fn business_days_match_day_by_day_count() {
        for start in (0..7).map(|offset| Date::new(2024, 2, 26).to_day().plus_days(offset)) {
            for step in [1, -1] {
                let mut walked = start;
                for count in 1..30 {
                    walked = walked.plus_days(step);
                    while walked.weekday() >= SATURDAY {
                        walked = walked.plus_days(step);
                    }
                    assert_eq!(start.plus_business_days(step * count), walked);
                }
            }
        }
    }

    #[test]
    fn nearest_weekday_is_one_to_seven_days_away() {
        let start = Date::new(2024, 2, 29).to_day();
        for weekday in 0..7 {
            let (after, before) = (start.nearest(weekday, true), start.nearest(weekday, false));
            assert_eq!((after.weekday(), before.weekday()), (weekday, weekday));
            assert!((1..=7).contains(&(after.0 - start.0)) && (1..=7).contains(&(start.0 - before.0)));
        }
    }
}
