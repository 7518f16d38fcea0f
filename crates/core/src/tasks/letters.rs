//! Counting letters in words.

mod words;

use self::words::{WORDS, Word};
use super::text::write_list;
use crate::{AnswerType, Dimension, Parameter, Params, PyRandom, Task, Test};

/// The task.
pub(super) struct Letters;

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
        "letters"
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
        let counted = rng.sample(&WORDS, params.size("words"));
        let tally = tally(&counted);
        let letters = draw_letters(&tally, params.size("letters"), rng);
        let total: u16 = letters.iter().map(|letter| tally[*letter]).sum();

        let mut shown: Vec<Shown> = counted.into_iter().map(|word| Shown { word, counts: true }).collect();
        let confounders = draw_confounders(&letters, params.size("confounders"), rng);
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
        prompt.push_str("The answer is one integer.");
        Test::free_form(prompt, total.to_string())
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
                // Tossed anew rather than flipped: a text in capitals throughout would be easy again.
                let upper = rng.random() < case_mutation && rng.getrandbits(1) == 1;
                if upper { letter.to_ascii_uppercase() } else { letter }
            }));
        }
        if !self.counts {
            text.push(']');
        }
    }
}
