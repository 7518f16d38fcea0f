//! Shortcuts of single tasks, known ways to an answer without the reasoning that a task asks for. An optional registry: a task
//! without an entry is still checked by the guessers that know no task.

use super::Problem;
use super::surface::{Surface, mentions, tokens};
use crate::Json;

/// What a trick makes of a problem.
pub(super) enum Clue {
    /// The answer itself.
    Answer(String),
    /// A summary of the prompt; the guesser learns the most common answer for each value.
    Key(String),
    /// The trick doesn't apply to this problem.
    None,
}

/// A shortcut of one task.
pub(super) struct Trick {
    pub(super) name: &'static str,
    /// Whether it does a part of the work, such as evaluating an expression without precedence. It is reported, but no limit
    /// applies: where the part that it leaves out doesn't matter, it is right.
    pub(super) does_part_of_the_work: bool,
    pub(super) clue: fn(&Problem) -> Clue,
}

const fn blind(name: &'static str, clue: fn(&Problem) -> Clue) -> Trick {
    Trick { name, does_part_of_the_work: false, clue }
}

const fn partial(name: &'static str, clue: fn(&Problem) -> Clue) -> Trick {
    Trick { name, does_part_of_the_work: true, clue }
}

/// The tricks of a task.
pub(super) fn tricks(task: &str) -> &'static [Trick] {
    match task {
        "boolean" => {
            const {
                &[
                    blind("literals", |problem| literals(problem, false)),
                    blind("negated literals", |problem| literals(problem, true)),
                    blind("last operator", last_operator),
                    partial("left to right", |problem| left_to_right(problem, true)),
                    partial("left to right without parentheses", |problem| left_to_right(problem, false)),
                ]
            }
        }
        "shapes" => const { &[blind("number of corners", corners)] },
        "shuffle" => {
            const {
                &[
                    blind("nothing changed", unmoved_thing),
                    blind("last line on the thing", last_line_on_thing),
                ]
            }
        }
        "cars" => const { &[blind("nothing changed", unmoved_vehicle), blind("last mover", last_mover)] },
        "brackets" => const { &[blind("last three brackets", last_brackets)] },
        "dates" => const { &[blind("start date", start_date)] },
        "sort" => const { &[blind("as shown", as_shown)] },
        "sequence" => const { &[blind("last term again", last_term)] },
        _ => &[],
    }
}

/// The guesser that does all of the work at a point that is a stated baseline: what it scores there is no shortcut.
pub(super) fn baseline(task: &str, params: &Json) -> Option<&'static str> {
    // Without entries of other categories every number counts.
    let every_number_counts =
        task == "objects" && matches!(params.get("distractor_ratio"), Some(Json::Float(0.0)));
    every_number_counts.then_some("sum of all numbers")
}

/// The paragraph below the first one, which has the expression, list or brackets.
fn expression(problem: &Problem) -> &str {
    problem.prompt.split("\n\n").nth(1).unwrap_or(&problem.prompt)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Symbol {
    Literal(bool),
    Not,
    And,
    Or,
    Xor,
    Implies,
    Open,
    Close,
}

/// The symbols of a logical expression whose literals are the two options, the true one first.
fn symbols(problem: &Problem) -> Option<Vec<Symbol>> {
    let [yes, no] = &problem.options[..] else { return None };
    let known = [
        (yes.as_str(), Symbol::Literal(true)),
        (no.as_str(), Symbol::Literal(false)),
        ("not", Symbol::Not),
        ("and", Symbol::And),
        ("or", Symbol::Or),
        ("xor", Symbol::Xor),
        ("implies", Symbol::Implies),
        ("(", Symbol::Open),
        (")", Symbol::Close),
    ];
    let mut rest = expression(problem).trim();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let longest =
            known.iter().filter(|(text, _)| rest.starts_with(text)).max_by_key(|(text, _)| text.len());
        let (text, symbol) = longest?;
        found.push(*symbol);
        rest = rest[text.len()..].trim_start();
    }
    Some(found)
}

/// The literals of an expression, with a `not` directly before them applied on request.
fn literal_values(symbols: &[Symbol], negated: bool) -> Vec<bool> {
    let mut values = Vec::new();
    let mut flips = 0;
    for symbol in symbols {
        match symbol {
            Symbol::Not => flips += 1,
            Symbol::Literal(value) => {
                values.push(value ^ (negated && flips % 2 == 1));
                flips = 0;
            }
            _ => flips = 0,
        }
    }
    values
}

fn literals(problem: &Problem, negated: bool) -> Clue {
    let Some(symbols) = symbols(problem) else { return Clue::None };
    let values = literal_values(&symbols, negated);
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return Clue::None };
    let proportion = values.iter().filter(|value| **value).count() as f64 / values.len() as f64;
    Clue::Key(format!("{first} {last} {:.0}", 8.0 * proportion))
}

/// The first and last operators outside parentheses with the literals at the ends.
fn last_operator(problem: &Problem) -> Clue {
    let Some(symbols) = symbols(problem) else { return Clue::None };
    let mut depth = 0;
    let mut operators = Vec::new();
    for symbol in &symbols {
        match symbol {
            Symbol::Open => depth += 1,
            Symbol::Close => depth -= 1,
            Symbol::And | Symbol::Or | Symbol::Xor | Symbol::Implies if depth == 0 => operators.push(*symbol),
            _ => {}
        }
    }
    let values = literal_values(&symbols, true);
    Clue::Key(format!(
        "{:?} {:?} {:?} {:?}",
        operators.first(),
        operators.last(),
        values.first(),
        values.last()
    ))
}

/// Evaluates from left to right as if all operators had the same precedence.
fn left_to_right(problem: &Problem, parentheses: bool) -> Clue {
    let Some(mut symbols) = symbols(problem) else { return Clue::None };
    if !parentheses {
        symbols.retain(|symbol| !matches!(symbol, Symbol::Open | Symbol::Close));
    }
    let mut rest = &symbols[..];
    let value = fold(&mut rest);
    value.map_or(Clue::None, |value| Clue::Answer(problem.options[usize::from(!value)].clone()))
}

fn fold(rest: &mut &[Symbol]) -> Option<bool> {
    let mut value = operand(rest)?;
    while let Some((operator, tail)) = rest.split_first() {
        if *operator == Symbol::Close {
            break;
        }
        *rest = tail;
        let right = operand(rest)?;
        value = match operator {
            Symbol::And => value && right,
            Symbol::Or => value || right,
            Symbol::Xor => value ^ right,
            Symbol::Implies => !value || right,
            _ => return None,
        };
    }
    Some(value)
}

fn operand(rest: &mut &[Symbol]) -> Option<bool> {
    let (symbol, tail) = rest.split_first()?;
    *rest = tail;
    match symbol {
        Symbol::Not => operand(rest).map(|value| !value),
        Symbol::Literal(value) => Some(*value),
        Symbol::Open => {
            let value = fold(rest)?;
            *rest = rest.get(1..)?;
            Some(value)
        }
        _ => None,
    }
}

/// How many corners, arcs and pieces the path in question has.
fn corners(problem: &Problem) -> Clue {
    let Some(path) = problem.prompt.split("id=\"shape\"").nth(2).and_then(|rest| rest.split('"').nth(1))
    else {
        return Clue::None;
    };
    let count = |command: char| path.chars().filter(|c| *c == command).count();
    Clue::Key(format!("{} {} {}", count('L'), count('A'), count('M')))
}

/// The words of the question, which is the last sentence that ends with a question mark.
fn question(problem: &Problem) -> &str {
    let text = &problem.prompt;
    let end = text.rfind('?').unwrap_or(text.len());
    let start = text[..end].rfind(['.', '\n']).map_or(0, |at| at + 1);
    &text[start..end]
}

/// The clauses of the first sentence, which say where everything is at the start.
fn clauses(problem: &Problem) -> Vec<&str> {
    let first = problem.prompt.lines().next().unwrap_or_default();
    let list = first.split_once(": ").map_or(first, |(_, list)| list);
    list.trim_end_matches('.').split(", ").flat_map(|part| part.split(" and ")).collect()
}

/// The word of the question that exactly one clause has, and that clause.
fn thing_asked_for(problem: &Problem) -> Option<(&str, &str)> {
    let clauses = clauses(problem);
    tokens(question(problem)).find_map(|word| {
        let mut with_word = clauses.iter().filter(|clause| tokens(clause).any(|other| other == word));
        let clause = with_word.next()?;
        with_word.next().is_none().then_some((word, *clause))
    })
}

fn option_in(problem: &Problem, text: &str) -> Option<String> {
    problem
        .options
        .iter()
        .filter(|option| mentions(text, option).next().is_some())
        .max_by_key(|option| option.len())
        .cloned()
}

fn unmoved_thing(problem: &Problem) -> Clue {
    thing_asked_for(problem)
        .and_then(|(_, clause)| option_in(problem, clause))
        .map_or(Clue::None, Clue::Answer)
}

/// Where the last line that names the thing has it.
fn last_line_on_thing(problem: &Problem) -> Clue {
    let Some((word, _)) = thing_asked_for(problem) else { return Clue::None };
    let text = super::surface::without_options(problem);
    let before_question = text.rfind("\n\n").map_or(text, |end| &text[..end]);
    before_question
        .lines()
        .skip(1)
        .filter(|line| tokens(line).any(|other| other == word))
        .filter_map(|line| option_in(problem, line))
        .last()
        .map_or_else(|| unmoved_thing(problem), Clue::Answer)
}

/// The vehicle that is at the place at the start, or the place of the vehicle.
fn unmoved_vehicle(problem: &Problem) -> Clue {
    let mut places = Vec::new();
    for line in problem.prompt.lines() {
        let Some((lane, vehicles)) = line.strip_prefix("Lane ").and_then(|line| line.split_once(": ")) else {
            continue;
        };
        if vehicles != "empty" {
            places.extend(
                vehicles.split(", ").enumerate().map(|(i, vehicle)| (format!("{lane}{:02}", i + 1), vehicle)),
            );
        }
    }
    let words: Vec<&str> = tokens(question(problem)).collect();
    let answer = places.iter().find_map(|(place, vehicle)| {
        if problem.options.is_empty() {
            words.contains(vehicle).then(|| place.clone())
        } else {
            words.contains(&place.as_str()).then(|| (*vehicle).to_owned())
        }
    });
    answer.map_or(Clue::None, Clue::Answer)
}

/// The vehicle that the last instruction moves.
fn last_mover(problem: &Problem) -> Clue {
    let is_move = |line: &&str| line.contains(" moves to the ") || line.ends_with(" swap places.");
    let first_named = |line: &str| {
        let position = |option: &&String| mentions(line, option).next().map_or(usize::MAX, |at| at.start);
        problem.options.iter().filter(|option| position(option) < usize::MAX).min_by_key(position).cloned()
    };
    problem.prompt.lines().rfind(is_move).and_then(first_named).map_or(Clue::None, Clue::Answer)
}

fn last_brackets(problem: &Problem) -> Clue {
    let brackets: Vec<char> = expression(problem).chars().filter(|c| "()[]{}<>".contains(*c)).collect();
    Clue::Key(brackets[brackets.len().saturating_sub(3)..].iter().collect())
}

/// Sakamoto's method for the day of the week, in which Sunday is 0: how far the months shift it.
const SHIFT: [i64; 12] = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4];

/// The start date, or its day of the week.
fn start_date(problem: &Problem) -> Clue {
    let date = problem
        .prompt
        .split(|c: char| !(c.is_ascii_digit() || c == '-'))
        .find(|word| word.len() == 10 && word.as_bytes()[4] == b'-' && word.as_bytes()[7] == b'-');
    let Some(date) = date else { return Clue::None };
    if problem.options.len() != 7 {
        return Clue::Answer(date.to_owned());
    }
    let number = |range| date.get(range).and_then(|digits: &str| digits.parse::<i64>().ok());
    let (Some(year), Some(month), Some(day)) = (number(0..4), number(5..7), number(8..10)) else {
        return Clue::None;
    };
    let Some(shift) = usize::try_from(month - 1).ok().and_then(|month| SHIFT.get(month)) else {
        return Clue::None;
    };
    let year = if month < 3 { year - 1 } else { year };
    // The options begin with Monday.
    let sunday_based = (year + year / 4 - year / 100 + year / 400 + shift + day).rem_euclid(7);
    usize::try_from((sunday_based + 6) % 7)
        .ok()
        .and_then(|index| problem.options.get(index))
        .map_or(Clue::None, |option| Clue::Answer(option.clone()))
}

fn as_shown(problem: &Problem) -> Clue {
    let list = expression(problem);
    let is_item = |c: char| c.is_alphanumeric();
    let items: Vec<&str> = list.split(|c| !is_item(c)).filter(|item| !item.is_empty()).collect();
    Clue::Answer(items.join(", "))
}

fn last_term(problem: &Problem) -> Clue {
    let terms = expression(problem);
    let last = Surface::new(terms).numbers.last().copied();
    let count = Surface::new(question(problem))
        .numbers
        .first()
        .map_or(1, |count| usize::try_from(*count).unwrap_or(1));
    last.map_or(Clue::None, |last| Clue::Answer(vec![last.to_string(); count].join(", ")))
}
