//! Counting letters in words.

mod words;

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use self::words::{WORDS, Word};
use super::Version;
use super::text::write_list;
use crate::{AnswerType, Dimension, Parameter, Params, PyRandom, Task, Test};

/// The task in a version.
pub(super) struct Letters(pub(super) Version);

const PARAMETERS: &[Parameter] = &[
    Parameter::int("words", Dimension::Length, [1, 64, 8], "how many words count"),
    Parameter::int(
        "letters",
        Dimension::MultiStep,
        [1, 4, 2],
        "how many different letters are counted together",
    ),
    Parameter::int(
        "confounders",
        Dimension::Interference,
        [0, 32, 4],
        "number of words in brackets, which contain requested letters but don't count",
    ),
    Parameter::proportion(
        "case_mutation",
        Dimension::Format,
        0.0,
        "probability that the case of a letter is random",
    ),
    Parameter::word(
        "separator",
        Dimension::Format,
        &["comma", "space", "newline", "semicolon", "dash"],
        "separator between words",
    ),
];

impl Task for Letters {
    fn name(&self) -> &'static str {
        self.0.of(["letters", "letters@2"])
    }

    fn version(&self) -> u32 {
        self.0.number()
    }

    fn description(&self) -> &'static str {
        "Count how often some letters occur in a list of words. Harder with more words, more letters to count \
         together, words in brackets that do not count, mixed case, and separators that glue words together."
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn answer_type(&self) -> AnswerType {
        AnswerType::Integer
    }

    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test {
        let how_many_confounders = params.size("confounders");
        let Selection { counted, letters, confounders, total, guess } = match self.0 {
            Version::V1 => {
                let counted = rng.sample(&WORDS, params.size("words"));
                let tally = tally(&counted);
                let letters = draw_letters(&tally, params.size("letters"), rng);
                let total = letters.iter().map(|letter| usize::from(tally[*letter])).sum();
                let confounders = Vec::new();
                Selection { counted, letters, confounders, total, guess: 0.0 }
            }
            Version::V2 => {
                Selection::draw(params.size("words"), params.size("letters"), how_many_confounders, rng)
            }
        };

        let mut shown: Vec<Shown> = counted.into_iter().map(|word| Shown { word, counts: true }).collect();
        let confounders = match self.0 {
            Version::V1 => draw_confounders(&letters, how_many_confounders, rng),
            Version::V2 => confounders,
        };
        shown.extend(confounders.into_iter().map(|word| Shown { word, counts: false }));
        rng.shuffle(&mut shown);

        let separator = match params.word("separator") {
            "space" => " ",
            "newline" => "\n",
            "semicolon" => "; ",
            "dash" => "-",
            _ => ", ",
        };
        let mut prompt = String::with_capacity(200 + 12 * shown.len());
        prompt.push_str(match letters.len() {
            1 => "How many times does the letter ",
            _ => "How many times do the letters ",
        });
        write_list(&letters, &mut prompt, |letter, text| {
            text.push('"');
            text.push(letter_at(*letter));
            text.push('"');
        });
        prompt.push_str(if shown.len() == 1 { " occur in this word" } else { " occur in these words" });
        prompt.push_str(if letters.len() == 1 { "?\n\n" } else { ", all together?\n\n" });
        let case_mutation = params.real("case_mutation");
        for (i, item) in shown.iter().enumerate() {
            if i > 0 {
                prompt.push_str(separator);
            }
            item.write(case_mutation, &mut prompt, rng);
        }
        prompt.push_str("\n\nUpper and lower case count alike. ");
        if shown.iter().any(|item| !item.counts) {
            prompt.push_str("Words in [square brackets] do not count. ");
        }
        prompt.push_str(self.0.of(["The answer is one integer.", "Reply with one integer."]));
        let test = Test::free_form(prompt, total.to_string());
        match self.0 {
            Version::V1 => test,
            Version::V2 => test.with_guess(guess),
        }
    }
}

/// Words that count, and the letters asked for.
struct Selection {
    counted: Vec<&'static Word>,
    letters: Vec<usize>,
    /// Words that have the letters and don't count.
    confounders: Vec<&'static Word>,
    /// How often the letters occur in the words.
    total: usize,
    /// The probability of each possible total.
    guess: f64,
}

impl Selection {
    /// The letters first, then how often they occur, then words that have them as often: every total from 0 on is
    /// as likely as another.
    fn draw(words: usize, how_many: usize, confounders: usize, rng: &mut PyRandom) -> Self {
        /// Letters that are neither so rare that no list has many of them nor in almost every word.
        const COMMON: [usize; 12] = [0, 2, 4, 8, 11, 13, 14, 15, 17, 18, 19, 20];

        let mut letters = rng.sample(&COMMON, how_many);
        letters.sort_unstable();
        let WordsByCount { words: mut by_count, mut left } = WordsByCount::of(&letters).clone();
        let mut starts = [0_usize; MAX_COUNT + 1];
        for count in 1..starts.len() {
            starts[count] = starts[count - 1] + left[count - 1];
        }
        let extreme = |counts: &mut dyn Iterator<Item = usize>| {
            let mut needed = words;
            let taken = counts.map(|count| {
                let taken = left[count].min(needed);
                needed -= taken;
                taken * count
            });
            taken.sum::<usize>()
        };
        let fewest = extreme(&mut (0..left.len()));
        let most = extreme(&mut (0..left.len()).rev()).min(words * (1 + how_many) / 2 + 3);
        let wanted = fewest + rng.index(most - fewest + 1);

        // A count for each word: random, as far as the others can make up for it.
        let mut counted = Vec::with_capacity(words);
        let mut missing = wanted;
        for others in (0..words).rev() {
            let mean = missing as f64 / (others + 1) as f64;
            let aim =
                if others == 0 { missing } else { (mean + rng.uniform(-1.2, 1.2)).round().max(0.0) as usize };
            let count = (0..left.len())
                .flat_map(|shift| [aim.checked_sub(shift), Some(aim + shift)])
                .flatten()
                .find(|count| *count <= missing && left.get(*count).is_some_and(|left| *left > 0))
                .or_else(|| left.iter().position(|left| *left > 0))
                .expect("there are more words than are counted");
            let place = starts[count] + rng.index(left[count]);
            left[count] -= 1;
            let last = starts[count] + left[count];
            by_count.swap(place, last);
            counted.push(WORDS[usize::from(by_count[last])]);
            missing = missing.saturating_sub(count);
        }
        let total = counted
            .iter()
            .flat_map(|word| letters.iter().map(|letter| usize::from(word.tally[*letter])))
            .sum();

        // Other words that have the letters, all different where there are enough of them.
        let with_letters = &mut by_count[starts[1]..];
        let mut unused = with_letters.len();
        let confounders = (0..confounders).map(|_| {
            if unused == 0 {
                return WORDS[usize::from(*rng.choice(with_letters))];
            }
            let place = rng.index(unused);
            unused -= 1;
            with_letters.swap(place, unused);
            WORDS[usize::from(with_letters[unused])]
        });
        let confounders = confounders.collect();
        Self { counted, letters, confounders, total, guess: 1.0 / (most - fewest + 1) as f64 }
    }
}

/// No word has more than four of a letter, and at most four letters are asked for.
const MAX_COUNT: usize = 16;

/// All words by how often they have some letters.
#[derive(Clone)]
struct WordsByCount {
    /// Their places in the list, those with the fewest first.
    words: Vec<u16>,
    /// How many have each count.
    left: [usize; MAX_COUNT + 1],
}

impl WordsByCount {
    /// Sorted once for each choice of letters, since that takes longer than drawing words.
    fn of(letters: &[usize]) -> &'static Self {
        static KNOWN: LazyLock<RwLock<HashMap<u32, &'static WordsByCount>>> = LazyLock::new(RwLock::default);

        let bits = letters.iter().fold(0, |bits, letter| bits | 1 << letter);
        if let Some(known) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&bits) {
            return known;
        }
        let count = |word: u16| -> usize {
            letters.iter().map(|letter| usize::from(WORDS[usize::from(word)].tally[*letter])).sum()
        };
        let mut words: Vec<u16> = (0..WORDS.len() as u16).collect();
        words.sort_by_key(|word| count(*word));
        let mut left = [0; MAX_COUNT + 1];
        for word in &words {
            left[count(*word)] += 1;
        }
        // At most 793 choices of letters, kept as long as the program runs.
        KNOWN
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(bits)
            .or_insert_with(|| Box::leak(Box::new(Self { words, left })))
    }
}

/// How often each letter occurs, from `a` as 0.
type Tally = [u16; 26];

/// No word has a letter more than four times, and there are 64 words at most.
const MAX_LETTERS: usize = 4 * 64;

fn tally(words: &[&Word]) -> Tally {
    let mut tally = [0; 26];
    for word in words {
        for (sum, count) in tally.iter_mut().zip(word.tally) {
            *sum += u16::from(count);
        }
    }
    tally
}

fn letter_at(index: usize) -> char {
    char::from(b'a' + index as u8)
}

/// Letters that occur, in order of the alphabet; others only where the words have too few.
///
/// A count is drawn before a letter that has it, so that answers spread: otherwise most letters of a short list
/// would occur once.
fn draw_letters(tally: &Tally, how_many: usize, rng: &mut PyRandom) -> Vec<usize> {
    // The letters left of each count, a bit each.
    let mut having = [0_u32; MAX_LETTERS + 1];
    for (letter, count) in tally.iter().enumerate() {
        having[usize::from(*count)] |= 1 << letter;
    }
    let highest = usize::from(*tally.iter().max().expect("there are 26 letters"));
    let mut drawn = Vec::with_capacity(how_many);
    for _ in 0..how_many {
        let mut counts = (1..=highest).filter(|count| having[*count] != 0);
        let count = match counts.clone().count() {
            0 => 0,
            different => counts.nth(rng.index(different)).expect("the place is below the number of counts"),
        };
        let letter = nth_bit(having[count], rng.index(having[count].count_ones() as usize));
        having[count] ^= 1 << letter;
        drawn.push(letter);
    }
    drawn.sort_unstable();
    drawn
}

/// The place of the set bit that has `n` set bits below it.
fn nth_bit(mut bits: u32, n: usize) -> usize {
    for _ in 0..n {
        bits &= bits - 1;
    }
    bits.trailing_zeros() as usize
}

/// Words that have one of the letters, all different where the list has enough of them.
fn draw_confounders(letters: &[usize], how_many: usize, rng: &mut PyRandom) -> Vec<&'static Word> {
    if how_many == 0 {
        return Vec::new();
    }
    let bits = letters.iter().fold(0, |bits, letter| bits | 1 << letter);
    let tempting: Vec<&Word> = WORDS.iter().copied().filter(|word| word.letters & bits != 0).collect();
    if how_many <= tempting.len() {
        rng.sample(&tempting, how_many)
    } else {
        (0..how_many).map(|_| *rng.choice(&tempting)).collect()
    }
}

/// A word of the list, in brackets unless it counts.
struct Shown {
    word: &'static Word,
    counts: bool,
}

impl Shown {
    fn write(&self, case_mutation: f64, text: &mut String, rng: &mut PyRandom) {
        if !self.counts {
            text.push('[');
        }
        if case_mutation == 0.0 {
            text.push_str(self.word.text);
        } else {
            text.extend(self.word.text.chars().map(|letter| {
                // Drawn again rather than flipped: a text in capitals throughout would be easy again.
                let upper = rng.random() < case_mutation && rng.getrandbits(1) == 1;
                if upper { letter.to_ascii_uppercase() } else { letter }
            }));
        }
        if !self.counts {
            text.push(']');
        }
    }
}
