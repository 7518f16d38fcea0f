//! Calendar arithmetic: leap years, month ends, weekdays and business days.

mod calendar;

use self::calendar::{Date, Day, WEEKDAYS, month_length};
use super::Version;
use super::text::{write_number, write_two_digits};
use crate::{AnswerType, Dimension, Parameter, Params, PyRandom, Task, Test};

/// The task in a version.
pub(super) struct Dates(pub(super) Version);

/// From easy to hard: a level has its own kind of step and those before it.
const KINDS: &[&str] = &["days", "weeks", "months", "weekdays", "business_days"];

/// `months`. A step to a weekday or to a business day would tell what the answer is, or what it is not.
const LAST_LEVEL_ASKING_WEEKDAYS: usize = 2;

/// The proportion of problems of the kind `months` that are made to need the rule of month ends; others need it by chance.
const PROB_MONTH_END: f64 = 0.45;

const PARAMETERS: &[Parameter] = &[
    Parameter::int("operations", Dimension::MultiStep, [1, 8, 3], "how many steps move the date"),
    Parameter::word(
        "kinds",
        Dimension::Depth,
        KINDS,
        "the hardest kind of step, met at least once; the kinds before it are met as well",
    )
    .with_default(2),
    Parameter::int(
        "span_years",
        Dimension::Length,
        [1, 400, 10],
        "how many years a step covers at most, and how far from the year 2000 dates lie",
    ),
    Parameter::word(
        "format",
        Dimension::Format,
        &["iso", "us", "eu", "long", "mixed"],
        "how dates are written in the question; the answer is always YYYY-MM-DD or a weekday",
    ),
    Parameter::int("distractors", Dimension::Interference, [0, 16, 2], "how many lines have no effect"),
];

impl Task for Dates {
    fn name(&self) -> &'static str {
        self.0.of(["dates", "dates@2"])
    }

    fn version(&self) -> u32 {
        self.0.number()
    }

    fn description(&self) -> &'static str {
        self.0.of([
            "Move a date by several steps in the Gregorian calendar and give the resulting date or weekday. Harder with more steps, \
             kinds of steps that need month ends or weekdays, longer spans, other notations, and lines without effect. \
             Up to the kind `months` half of the tests, drawn at random, ask for the weekday as a choice of seven; the \
             harder kinds would give weekdays away, so there the question is always the date.",
            "Move a date by several steps in the Gregorian calendar and give the resulting date or weekday. Harder with more steps, \
             kinds of steps that need month ends or weekdays, longer spans, other notations, and lines without effect. \
             With the kinds `days` and `months` half of the problems, drawn at random, ask for the weekday as a choice of seven; \
             the other kinds would give weekdays away, so there the question is always the date.",
        ])
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn answer_type(&self) -> AnswerType {
        AnswerType::Date
    }

    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test {
        let kinds = params.word("kinds");
        let level = KINDS.iter().position(|kind| *kind == kinds).expect("the schema knows the kinds");
        let generator = Generator::new(params.int("span_years"));
        // Weeks alone keep the weekday of the start.
        let keeps_weekday = self.0 == Version::V2 && kinds == "weeks";
        let asks_weekday = level <= LAST_LEVEL_ASKING_WEEKDAYS && !keeps_weekday && rng.random() < 0.5;
        let start = generator.start(rng);
        let operations = params.size("operations");
        let hardest = rng.index(operations);
        let (start, steps) = match self.0 {
            Version::V2 if KINDS[level] == "months" && rng.random() < PROB_MONTH_END => {
                generator.steps_over_month_end(start, operations, hardest, rng)
            }
            _ => {
                let mut day = start.to_day();
                let draw = |i| {
                    generator.next_step(
                        if i == hardest { level } else { rng.index(level + 1) },
                        &mut day,
                        rng,
                    )
                };
                (start, (0..operations).map(draw).collect())
            }
        };
        let day = steps.iter().fold(start.to_day(), |day, step| step.apply(day));

        let format = params.word("format");
        let distractors = params.size("distractors");
        let mut prompt = String::with_capacity(400 + 48 * (operations + distractors));
        prompt.push_str("Start on ");
        write_date(start, format, &mut prompt, rng);
        prompt.push_str(" and follow these lines in order:\n\n");
        let (mut steps_left, mut distractors_left) = (steps.iter(), distractors);
        for lines_left in (1..=operations + distractors).rev() {
            if rng.index(lines_left) < distractors_left {
                distractors_left -= 1;
                write_distractor(&generator, format, &mut prompt, rng);
            } else {
                let step = steps_left.next().expect("each line is a step or a distractor");
                step.write(&mut prompt);
            }
            prompt.push('\n');
        }
        prompt.push('\n');
        write_rules(&steps, format, distractors > 0, &mut prompt);
        if asks_weekday {
            prompt.push_str("On which day of the week do you arrive?");
            prompt.push_str(self.0.of(["\n", " Reply with one of these:\n"]));
            for (letter, weekday) in ('A'..).zip(WEEKDAYS) {
                prompt.push('\n');
                prompt.push(letter);
                prompt.push_str(") ");
                prompt.push_str(weekday);
            }
            prompt.push_str(self.0.of(["\n\nThe answer is one of these seven days.", ""]));
            return Test::choice(prompt, WEEKDAYS.map(str::to_owned).into(), day.weekday() as usize);
        }
        prompt.push_str("On which date do you arrive? ");
        prompt.push_str(self.0.of([
            "The answer is one date, written YYYY-MM-DD.",
            "Reply with the date in the form YYYY-MM-DD.",
        ]));
        let mut target = String::with_capacity(10);
        day.to_date().write_iso(&mut target);
        Test::free_form(prompt, target)
    }
}

/// A move from one day to another; negative counts go back.
enum Step {
    Days(i64),
    Weeks(i64),
    Months(i64),
    Weekday { weekday: i64, forward: bool },
    BusinessDays(i64),
}

impl Step {
    fn apply(&self, day: Day) -> Day {
        match *self {
            Self::Days(count) => day.plus_days(count),
            Self::Weeks(count) => day.plus_days(7 * count),
            Self::Months(count) => day.to_date().plus_months(count).to_day(),
            Self::Weekday { weekday, forward } => day.nearest(weekday, forward),
            Self::BusinessDays(count) => day.plus_business_days(count),
        }
    }

    fn reversed(self) -> Self {
        match self {
            Self::Days(count) => Self::Days(-count),
            Self::Weeks(count) => Self::Weeks(-count),
            Self::Months(count) => Self::Months(-count),
            Self::Weekday { weekday, forward } => Self::Weekday { weekday, forward: !forward },
            Self::BusinessDays(count) => Self::BusinessDays(-count),
        }
    }

    fn write(&self, text: &mut String) {
        let (count, unit) = match *self {
            Self::Days(count) => (count, "day"),
            Self::Weeks(count) => (count, "week"),
            Self::Months(count) => (count, "month"),
            Self::BusinessDays(count) => (count, "business day"),
            Self::Weekday { weekday, forward } => {
                let (way, side) = if forward { ("forward", "after") } else { ("back", "before") };
                text.push_str("Go ");
                text.push_str(way);
                text.push_str(" to the nearest ");
                text.push_str(WEEKDAYS[weekday as usize]);
                text.push_str(" strictly ");
                text.push_str(side);
                text.push_str(" the current date.");
                return;
            }
        };
        text.push_str(if count > 0 { "Go forward " } else { "Go back " });
        write_number(count.abs(), text);
        text.push(' ');
        text.push_str(unit);
        text.push_str(if count.abs() == 1 { "." } else { "s." });
    }
}

/// The years around 2000 in which everything happens.
struct Generator {
    span: i64,
    first: Day,
    last: Day,
}

impl Generator {
    fn new(span: i64) -> Self {
        let first = Date::new(2000 - span, 1, 1).to_day();
        let last = Date::new(2000 + span, 12, 31).to_day();
        Self { span, first, last }
    }

    fn date(&self, rng: &mut PyRandom) -> Date {
        Day(rng.randint(self.first.0, self.last.0)).to_date()
    }

    /// Ends of months are where calendars are hard, so every fourth test starts on one.
    fn start(&self, rng: &mut PyRandom) -> Date {
        let date = self.date(rng);
        let day = if rng.random() < 0.25 { month_length(date.year, date.month) } else { date.day };
        Date { day, ..date }
    }

    fn next_step(&self, level: usize, day: &mut Day, rng: &mut PyRandom) -> Step {
        let step = self.step(KINDS[level], *day, rng);
        *day = step.apply(*day);
        step
    }

    /// Steps of days, weeks and months, of which the one at `at` goes from the end of a month to a month without such a
    /// day. The date before it is moved to such a day: the start, or the goal of the step before, which counts days.
    fn steps_over_month_end(
        &self,
        start: Date,
        operations: usize,
        at: usize,
        rng: &mut PyRandom,
    ) -> (Date, Vec<Step>) {
        const MONTHS: usize = 2;
        let mut steps = Vec::with_capacity(operations);
        let mut day = start.to_day();
        for i in 0..at {
            let level = if i + 1 == at { 0 } else { rng.index(MONTHS + 1) };
            let before = day;
            let mut step = self.next_step(level, &mut day, rng);
            if i + 1 == at {
                let goal = Self::month_end(
                    day.to_date(),
                    |goal| (1..=365 * self.span).contains(&(goal.to_day().0 - before.0).abs()),
                    rng,
                );
                step = Step::Days(goal.to_day().0 - before.0);
                day = goal.to_day();
            }
            steps.push(step);
        }
        let start = if at == 0 { Self::month_end(start, |_| true, rng) } else { start };
        if at == 0 {
            day = start.to_day();
        }
        let step = self.step(KINDS[MONTHS], day, rng);
        let step = self.shorter_month(&step, day).unwrap_or(step);
        day = step.apply(day);
        steps.push(step);
        for _ in at + 1..operations {
            steps.push(self.next_step(rng.index(MONTHS + 1), &mut day, rng));
        }
        (start, steps)
    }

    /// A day of the same year that some months don't have, if one is allowed.
    fn month_end(date: Date, is_allowed: impl Fn(Date) -> bool, rng: &mut PyRandom) -> Date {
        // Five months lack the 31st, but only February lacks the others: its last day would be the commonest answer.
        let day = [29, 30].get(rng.index(20)).copied().unwrap_or(31);
        let first = rng.index(12) as i64;
        (0..12)
            .map(|shift| Date { month: (first + shift) % 12 + 1, day, ..date })
            .find(|goal| goal.month != 2 && day <= month_length(goal.year, goal.month) && is_allowed(*goal))
            .unwrap_or(date)
    }

    /// A step of months near the given one that reaches a month without the current day.
    fn shorter_month(&self, step: &Step, day: Day) -> Option<Step> {
        const MAX_SHIFT: i64 = 48;
        let Step::Months(count) = *step else { return None };
        let date = day.to_date();
        (0..=MAX_SHIFT)
            .flat_map(|shift| [count + shift, count - shift])
            .filter(|count| (1..=12 * self.span).contains(&count.abs()))
            .map(|count| (count, date.plus_months(count)))
            .find(|(_, goal)| goal.day < date.day && (self.first..=self.last).contains(&goal.to_day()))
            .map(|(count, _)| Step::Months(count))
    }

    fn step(&self, kind: &str, day: Day, rng: &mut PyRandom) -> Step {
        let step = match kind {
            "days" => Step::Days(rng.randint(1, 365 * self.span)),
            "weeks" => Step::Weeks(rng.randint(1, 52 * self.span)),
            "months" => Step::Months(rng.randint(1, 12 * self.span)),
            "weekdays" => Step::Weekday { weekday: rng.randint(0, 6), forward: true },
            _ => Step::BusinessDays(rng.randint(1, 260 * self.span)),
        };
        let step = if rng.random() < 0.5 { step } else { step.reversed() };
        // A step is at most half as wide as the world, so one of the two directions stays inside.
        let inside = (self.first..=self.last).contains(&step.apply(day));
        if inside { step } else { step.reversed() }
    }
}

fn write_date(date: Date, format: &str, text: &mut String, rng: &mut PyRandom) {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let Date { year, month, day } = date;
    match format {
        "iso" => date.write_iso(text),
        "us" => {
            write_two_digits(month, text);
            text.push('/');
            write_two_digits(day, text);
            text.push('/');
            write_number(year, text);
        }
        "eu" => {
            write_two_digits(day, text);
            text.push('.');
            write_two_digits(month, text);
            text.push('.');
            write_number(year, text);
        }
        "long" => {
            text.push_str(MONTHS[month as usize - 1]);
            text.push(' ');
            write_number(day, text);
            text.push_str(", ");
            write_number(year, text);
        }
        _ => write_date(date, rng.choice::<&str>(&["iso", "us", "eu", "long"]), text, rng),
    }
}

/// A line that mentions a date or a stretch of time and moves nothing.
fn write_distractor(generator: &Generator, format: &str, text: &mut String, rng: &mut PyRandom) {
    const DATES: [&str; 6] = [
        "An unrelated invoice is dated ",
        "A note on the desk mentions ",
        "A page of somebody else's diary is headed ",
        "An old photograph is marked ",
        "The cover of a magazine says ",
        "A different form bears the date ",
    ];
    const STRETCHES: [&str; 6] = [
        "A subscription of the neighbours runs for ",
        "The lease of another flat runs for ",
        "A course at the school lasts ",
        "Repairs to the bridge take ",
        "A voyage in a novel lasts ",
        "The warranty of the toaster runs for ",
    ];
    if rng.random() < 0.5 {
        text.push_str(rng.choice::<&str>(&DATES));
        write_date(generator.date(rng), format, text, rng);
    } else {
        text.push_str(rng.choice::<&str>(&STRETCHES));
        write_number(rng.randint(2, 99), text);
        text.push_str(rng.choice::<&str>(&[" days", " weeks", " months"]));
    }
    text.push('.');
}

/// What a reader cannot know, as far as this test needs it.
fn write_rules(steps: &[Step], format: &str, distracted: bool, text: &mut String) {
    text.push_str(match format {
        "us" => "The dates above are written MM/DD/YYYY. ",
        "eu" => "The dates above are written DD.MM.YYYY. ",
        "mixed" => "Dates above with slashes are written MM/DD/YYYY, those with dots DD.MM.YYYY. ",
        _ => "",
    });
    if distracted {
        text.push_str("Only lines that begin with \"Go\" move the date. ");
    }
    text.push_str("The Gregorian calendar applies to every year. ");
    if steps.iter().any(|step| matches!(step, Step::Months(_))) {
        text.push_str(
            "A step of months keeps the day of the month; if the month reached has no such day, take its last day. ",
        );
    }
    if steps.iter().any(|step| matches!(step, Step::BusinessDays(_))) {
        text.push_str(
            "Business days are Monday to Friday, and there are no holidays; counting begins with the day after \
             the current date, or with the day before it when going back. ",
        );
    }
}
