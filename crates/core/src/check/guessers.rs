//! Blind guessers: ways to answer that look at the surface of a prompt and don't solve it.
//!
//! A guesser may learn from the first half of the problems, with their answers, and is tested on the second half.

use std::collections::HashMap;

use super::Problem;
use super::logit::{Candidate, Choice, Logit};
use super::surface::{Surface, body, mentions, shared_text, without_options};
use super::tricks::{Clue, tricks};

/// How often a guesser was correct.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tally {
    pub(super) name: String,
    pub(super) does_part_of_the_work: bool,
    pub(super) correct: usize,
    pub(super) problems: usize,
}

/// Labels and answers with weights of their own in the logistic model.
const MAX_LABELS: usize = 16;

/// Words whose count, first and last position are features of the logistic model.
const MAX_WORDS: usize = 16;

/// Tests all guessers on problems of one kind: all with options, or all free-form.
pub(super) fn test(task: &str, problems: &[&Problem]) -> Vec<Tally> {
    let (train, held_out) = problems.split_at(problems.len() / 2);
    if train.is_empty() {
        return Vec::new();
    }
    let shared = shared_text(train.iter().map(|problem| without_options(problem)));
    let seen = Seen { surfaces: train.iter().map(|p| see(p, shared)).collect(), problems: train };
    let tested = Seen { surfaces: held_out.iter().map(|p| see(p, shared)).collect(), problems: held_out };
    let mut tallies = Vec::new();
    let mut add = |name: &str, does_part_of_the_work: bool, guess: &dyn Fn(usize) -> Option<String>| {
        let correct = (0..held_out.len())
            .filter(|&index| guess(index).is_some_and(|answer| answer == held_out[index].target))
            .count();
        let problems = held_out.len();
        tallies.push(Tally { name: name.to_owned(), does_part_of_the_work, correct, problems });
    };
    let constant = Answers::count(train.iter().copied());
    add("constant", false, &|index| constant.best(held_out[index]));
    if train.iter().all(|problem| problem.options.is_empty()) {
        free_form(&seen, &tested, &mut add);
    } else {
        choice(&seen, &tested, &mut add);
    }
    let model = Model::fit(&seen);
    add("logistic model", false, &|index| model.guess(&tested, index));
    for trick in tricks(task) {
        let clues: Vec<Clue> = train.iter().map(|problem| (trick.clue)(problem)).collect();
        let mut by_key: HashMap<&str, Answers<'_>> = HashMap::new();
        for (problem, clue) in train.iter().zip(&clues) {
            if let Clue::Key(key) = clue {
                by_key.entry(key).or_default().add(problem);
            }
        }
        add(trick.name, trick.does_part_of_the_work, &|index| match (trick.clue)(held_out[index]) {
            Clue::Answer(answer) => Some(answer),
            Clue::Key(key) => by_key.get(key.as_str()).unwrap_or(&constant).best(held_out[index]),
            Clue::None => None,
        });
    }
    tallies
}

fn see(problem: &Problem, shared: (usize, usize)) -> Surface<'_> {
    Surface::new(body(without_options(problem), shared))
}

/// Problems with what is seen of them.
struct Seen<'a> {
    problems: &'a [&'a Problem],
    surfaces: Vec<Surface<'a>>,
}

/// How often each answer was correct, and how often it was offered.
#[derive(Default)]
struct Answers<'a> {
    by_text: HashMap<&'a str, (usize, usize)>,
}

impl<'a> Answers<'a> {
    fn count(problems: impl Iterator<Item = &'a Problem>) -> Self {
        let mut answers = Self::default();
        problems.for_each(|problem| answers.add(problem));
        answers
    }

    fn add(&mut self, problem: &'a Problem) {
        self.by_text.entry(&problem.target).or_default().0 += 1;
        for option in &problem.options {
            self.by_text.entry(option).or_default().1 += 1;
        }
    }

    /// The answer that is correct most often: among the options, by how often it was correct when offered.
    fn best(&self, problem: &Problem) -> Option<String> {
        if problem.options.is_empty() {
            return self.most_common().map(|(answer, _)| answer.to_owned());
        }
        let rate = |option: &String| {
            let (correct, offered) = self.by_text.get(option.as_str()).copied().unwrap_or_default();
            // One more offer, so that an option seen once doesn't count as certain.
            (correct as f64 + 0.1) / (offered as f64 + 1.0)
        };
        first_best(&problem.options, rate).cloned()
    }

    fn most_common(&self) -> Option<(&'a str, usize)> {
        // The text decides between equals, since a map has no order.
        self.by_text
            .iter()
            .map(|(text, (correct, _))| (*text, *correct))
            .max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0)))
    }
}

/// The first of the items with the largest value.
fn first_best<T>(items: &[T], value: impl Fn(&T) -> f64) -> Option<&T> {
    let mut best: Option<(&T, f64)> = None;
    for item in items {
        let value = value(item);
        if best.is_none_or(|(_, largest)| value > largest) {
            best = Some((item, value));
        }
    }
    best.map(|(item, _)| item)
}

type Add<'f> = dyn FnMut(&str, bool, &dyn Fn(usize) -> Option<String>) + 'f;

fn choice(seen: &Seen<'_>, tested: &Seen<'_>, add: &mut Add<'_>) {
    let width = seen.problems.iter().map(|problem| problem.options.len()).max().unwrap_or(0);
    let mut positions = vec![0_usize; width];
    for problem in seen.problems {
        if let Some(position) = problem.options.iter().position(|option| *option == problem.target) {
            positions[position] += 1;
        }
    }
    let ranks: Vec<usize> = (0..width).collect();
    let best_position = first_best(&ranks, |&rank| positions[rank] as f64).copied().unwrap_or(0);
    let option = |index: usize, position: usize| tested.problems[index].options.get(position).cloned();
    add("first option", false, &|index| option(index, 0));
    add("last option", false, &|index| tested.problems[index].options.last().cloned());
    add("best position", false, &|index| option(index, best_position));
    let best = |index: usize, value: &dyn Fn(&String) -> f64| {
        first_best(&tested.problems[index].options, value).cloned()
    };
    add("longest option", false, &|index| best(index, &|option| option.len() as f64));
    add("shortest option", false, &|index| best(index, &|option| -(option.len() as f64)));
    let mentioned: Vec<Vec<Mentions>> = all_mentions(tested);
    let by_mentions = |index: usize, value: &dyn Fn(&Mentions) -> f64| {
        let ranks: Vec<usize> = (0..mentioned[index].len()).collect();
        first_best(&ranks, |&rank| value(&mentioned[index][rank])).and_then(|&rank| option(index, rank))
    };
    add("most mentioned", false, &|index| by_mentions(index, &|m| m.count as f64));
    add("least mentioned", false, &|index| by_mentions(index, &|m| -(m.count as f64)));
    add("first mentioned", false, &|index| by_mentions(index, &|m| m.first.map_or(-2.0, |at| -at)));
    add("last mentioned", false, &|index| by_mentions(index, &|m| m.last.unwrap_or(-1.0)));
    add("last to act", false, &|index| by_mentions(index, &|m| m.last_subject.unwrap_or(-1.0)));
}

/// Where a text mentions an option, as proportions of the text.
#[derive(Debug, Clone, Copy, Default)]
struct Mentions {
    count: usize,
    first: Option<f64>,
    last: Option<f64>,
    /// In how many lines it is the first of the options mentioned.
    subjects: usize,
    last_subject: Option<f64>,
}

fn all_mentions(seen: &Seen<'_>) -> Vec<Vec<Mentions>> {
    seen.problems
        .iter()
        .zip(&seen.surfaces)
        .map(|(problem, surface)| {
            let length = surface.body.len().max(1) as f64;
            let mut found = vec![Mentions::default(); problem.options.len()];
            // Line breaks before a position number its line.
            let mut subjects: HashMap<usize, (usize, usize)> = HashMap::new();
            let line_starts: Vec<usize> = surface.body.match_indices('\n').map(|(at, _)| at).collect();
            for (rank, option) in problem.options.iter().enumerate() {
                for at in mentions(surface.body, option) {
                    let mention = &mut found[rank];
                    let position = at.start as f64 / length;
                    mention.count += 1;
                    mention.first = mention.first.or(Some(position));
                    mention.last = Some(position);
                    let line = line_starts.partition_point(|start| *start < at.start);
                    let earliest = subjects.entry(line).or_insert((at.start, rank));
                    if at.start < earliest.0 {
                        *earliest = (at.start, rank);
                    }
                }
            }
            for (start, rank) in subjects.into_values() {
                let position = start as f64 / length;
                found[rank].subjects += 1;
                found[rank].last_subject =
                    Some(found[rank].last_subject.map_or(position, |last| last.max(position)));
            }
            found
        })
        .collect()
}

fn free_form(seen: &Seen<'_>, tested: &Seen<'_>, add: &mut Add<'_>) {
    let numbers = |index: usize| tested.surfaces[index].numbers.as_slice();
    let text = |number: i64| Some(number.to_string());
    if seen.problems.iter().any(|problem| problem.target.parse::<i64>().is_ok()) {
        add("first number", false, &|index| numbers(index).first().copied().and_then(text));
        add("last number", false, &|index| numbers(index).last().copied().and_then(text));
        add("largest number", false, &|index| numbers(index).iter().max().copied().and_then(text));
        add("smallest number", false, &|index| numbers(index).iter().min().copied().and_then(text));
        add("how many numbers", false, &|index| Some(numbers(index).len().to_string()));
        add("sum of all numbers", false, &|index| {
            text(numbers(index).iter().fold(0_i64, |sum, number| sum.wrapping_add(*number)))
        });
    }
    // Answers of one word that were correct before.
    let mut known: HashMap<&str, usize> = HashMap::new();
    for problem in seen.problems {
        *known.entry(problem.target.as_str()).or_default() += 1;
    }
    let candidates = |index: usize| {
        tested.surfaces[index]
            .tokens
            .iter()
            .filter(|token| known.contains_key(**token))
            .map(|token| (*token).to_owned())
    };
    add("first mentioned", false, &|index| candidates(index).next());
    add("last mentioned", false, &|index| candidates(index).next_back());
    add("most mentioned", false, &|index| {
        let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
        for (position, token) in candidates(index).enumerate() {
            counts.entry(token).or_insert((0, position)).0 += 1;
        }
        counts
            .into_iter()
            .max_by_key(|(_, (count, first))| (*count, usize::MAX - first))
            .map(|(token, _)| token)
    });
}

/// The logistic model with what it needs to read a problem.
struct Model<'a> {
    logit: Logit,
    labels: Vec<&'a str>,
    words: Vec<&'a str>,
    /// Mean and deviation of each feature of the prompt.
    scales: Vec<(f64, f64)>,
}

impl<'a> Model<'a> {
    fn fit(seen: &Seen<'a>) -> Self {
        let mut targets: HashMap<&str, usize> = HashMap::new();
        for problem in seen.problems {
            *targets.entry(problem.target.as_str()).or_default() += 1;
        }
        let mut labels: Vec<(&str, usize)> = targets.into_iter().collect();
        labels.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        // Weights of a label need answers to be learned from.
        labels.retain(|(_, count)| *count >= 3 && count * 50 >= seen.problems.len());
        labels.truncate(MAX_LABELS);
        let mut model = Self {
            logit: Logit::fit(&[], 0),
            labels: labels.into_iter().map(|(label, _)| label).collect(),
            words: variable_words(&seen.surfaces),
            scales: Vec::new(),
        };
        let raw: Vec<Vec<f64>> = seen.surfaces.iter().map(|surface| model.prompt_features(surface)).collect();
        let width = raw.first().map_or(0, Vec::len);
        let count = raw.len() as f64;
        model.scales = (0..width)
            .map(|place| {
                let mean = raw.iter().map(|row| row[place]).sum::<f64>() / count;
                let variance =
                    raw.iter().map(|row| (row[place] - mean) * (row[place] - mean)).sum::<f64>() / count;
                (mean, variance.sqrt())
            })
            .collect();
        let choices = model.choices(seen);
        model.logit = Logit::fit(&choices, model.labels.len());
        model
    }

    fn guess(&self, tested: &Seen<'_>, index: usize) -> Option<String> {
        let problem = tested.problems[index];
        let one = Seen {
            problems: &tested.problems[index..=index],
            surfaces: vec![Surface::new(tested.surfaces[index].body)],
        };
        let choices = self.choices(&one);
        let best = self.logit.predict(&choices[0])?;
        if problem.options.is_empty() {
            Some(self.labels[best].to_owned())
        } else {
            problem.options.get(best).cloned()
        }
    }

    fn choices(&self, seen: &Seen<'_>) -> Vec<Choice> {
        let mentioned = all_mentions(seen);
        let mut choices = Vec::with_capacity(seen.problems.len());
        for (index, problem) in seen.problems.iter().enumerate() {
            let label_of = |text: &str| self.labels.iter().position(|label| *label == text);
            let prompt = if self.labels.is_empty() { Vec::new() } else { self.scaled(&seen.surfaces[index]) };
            let candidates: Vec<Candidate> = if problem.options.is_empty() {
                (0..self.labels.len())
                    .map(|label| Candidate { features: Vec::new(), label: Some(label) })
                    .collect()
            } else {
                let count = problem.options.len();
                (0..count)
                    .map(|rank| Candidate {
                        features: option_features(&mentioned[index], rank, &problem.options),
                        label: label_of(&problem.options[rank]),
                    })
                    .collect()
            };
            let target = if problem.options.is_empty() {
                label_of(&problem.target)
            } else {
                problem.options.iter().position(|option| *option == problem.target)
            };
            choices.push(Choice { prompt, candidates, target });
        }
        choices
    }

    fn scaled(&self, surface: &Surface<'_>) -> Vec<f64> {
        let features = self.prompt_features(surface);
        let mut scaled: Vec<f64> = features
            .iter()
            .zip(&self.scales)
            .filter(|(_, (_, deviation))| *deviation > 1e-9)
            .map(|(value, (mean, deviation))| ((value - mean) / deviation).clamp(-4.0, 4.0))
            .collect();
        scaled.push(1.0);
        scaled
    }

    fn prompt_features(&self, surface: &Surface<'_>) -> Vec<f64> {
        let numbers = &surface.numbers;
        let log = |value: f64| libm::copysign(libm::log1p(value.abs()), value);
        let mut features = vec![
            surface.body.len() as f64,
            surface.tokens.len() as f64,
            surface.body.matches('\n').count() as f64,
            numbers.len() as f64,
            log(numbers.iter().max().copied().unwrap_or(0) as f64),
            log(numbers.iter().min().copied().unwrap_or(0) as f64),
            log(numbers.first().copied().unwrap_or(0) as f64),
            log(numbers.last().copied().unwrap_or(0) as f64),
            numbers.iter().map(|number| log(*number as f64)).sum::<f64>() / numbers.len().max(1) as f64,
        ];
        let start = features.len();
        features.resize(start + 3 * self.words.len(), 0.0);
        let place = |token: &str| self.words.iter().position(|word| *word == token);
        for token in &surface.tokens {
            if let Some(word) = place(token) {
                features[start + 3 * word] += 1.0;
            }
        }
        // The first and the last of these words in the text.
        if let Some(word) = surface.tokens.iter().find_map(|token| place(token)) {
            features[start + 3 * word + 1] = 1.0;
        }
        if let Some(word) = surface.tokens.iter().rev().find_map(|token| place(token)) {
            features[start + 3 * word + 2] = 1.0;
        }
        features
    }
}

/// The words whose counts vary most between prompts.
fn variable_words<'a>(surfaces: &[Surface<'a>]) -> Vec<&'a str> {
    // Sum and sum of squares of the counts.
    let mut totals: HashMap<&str, (f64, f64)> = HashMap::new();
    let mut counts: HashMap<&str, f64> = HashMap::new();
    for surface in surfaces {
        counts.clear();
        for token in &surface.tokens {
            *counts.entry(token).or_default() += 1.0;
        }
        for (token, count) in &counts {
            let total = totals.entry(token).or_default();
            total.0 += count;
            total.1 += count * count;
        }
    }
    let n = surfaces.len() as f64;
    let mut words: Vec<(&str, f64)> = totals
        .into_iter()
        .map(|(word, (sum, squares))| (word, squares / n - (sum / n) * (sum / n)))
        .collect();
    words.retain(|(_, variance)| *variance > 1e-6);
    words.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    words.truncate(MAX_WORDS);
    words.into_iter().map(|(word, _)| word).collect()
}

/// Position, length and mentions of an option, compared with the other options.
fn option_features(mentions: &[Mentions], rank: usize, options: &[String]) -> Vec<f64> {
    let count = options.len() as f64;
    let of = mentions[rank];
    let mean = mentions.iter().map(|m| m.count as f64).sum::<f64>() / count;
    let flag = |holds: bool| f64::from(u8::from(holds));
    let is_extreme = |value: &dyn Fn(&Mentions) -> f64| {
        flag(mentions.iter().all(|other| value(other) <= value(&of)) && of.count > 0)
    };
    vec![
        flag(rank == 0),
        flag(rank + 1 == options.len()),
        rank as f64 / count,
        options[rank].len() as f64 / 8.0,
        of.count as f64 / mean.max(1.0),
        is_extreme(&|m| m.count as f64),
        flag(of.count == 0),
        of.first.unwrap_or(1.0),
        of.last.unwrap_or(0.0),
        is_extreme(&|m| m.first.map_or(-2.0, |at| -at)),
        is_extreme(&|m| m.last.unwrap_or(-1.0)),
        of.subjects as f64 / mean.max(1.0),
        of.last_subject.unwrap_or(0.0),
        is_extreme(&|m| m.last_subject.unwrap_or(-1.0)),
    ]
}
