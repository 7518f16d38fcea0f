//! Generates reasoning text with exactly as many words as tokens are counted, either varied or looping.
//!
//! All of it is printable ASCII without quotes and backslashes, so it needs no escaping in JSON.

use crate::rng::Rng;

/// A sentence with a slot for a number.
struct Sentence {
    before: &'static str,
    after: &'static str,
    words: u32,
}

impl Sentence {
    const fn new(before: &'static str, after: &'static str) -> Self {
        Self { before, after, words: spaces(before) + spaces(after) + 1 }
    }
}

const fn spaces(text: &str) -> u32 {
    let (mut count, mut i) = (0, 0);
    while i < text.len() {
        if text.as_bytes()[i] == b' ' {
            count += 1;
        }
        i += 1;
    }
    count
}

static SENTENCES: [Sentence; 24] = [
    Sentence::new("So far the result of this part is ", "."),
    Sentence::new("Carrying ", " over to the next step keeps the total right."),
    Sentence::new("Now I look at item ", " and compare it with the one before."),
    Sentence::new("That leaves ", " of them still to be worked through."),
    Sentence::new("Position ", " does not change anything here, so I move on."),
    Sentence::new("Reading the question once more, rule ", " applies at this place."),
    Sentence::new("If I take ", " first, the remaining part becomes simpler."),
    Sentence::new("Checking: the value ", " agrees with what the statement says."),
    Sentence::new("Step ", " follows directly from the previous line."),
    Sentence::new("I write down ", " and keep it for later."),
    Sentence::new("There were ", " before this change, which fits."),
    Sentence::new("Next comes number ", ", and it needs some care."),
    Sentence::new("Put together, the pieces up to here give ", "."),
    Sentence::new("The remark about ", " is only a distraction."),
    Sentence::new("Going backwards from ", " confirms the same thing."),
    Sentence::new("Let me recount this row: ", " entries, none of them twice."),
    Sentence::new("Case ", " cannot happen under these rules."),
    Sentence::new("Since ", " is larger than its neighbour, the order stays."),
    Sentence::new("Another way to see it uses ", " and ends in the same place."),
    Sentence::new("With ", " done, only the last part is open."),
    Sentence::new("The first candidate, ", ", has to be dropped."),
    Sentence::new("Comparing both sides shows a difference of ", " at most."),
    Sentence::new("Line ", " of the text says this in so many words."),
    Sentence::new("Hence ", " moves to the front and the others follow."),
];

/// Closing sentences of a reasoning text; the one at index i has i + 1 words.
static CLOSING_SENTENCES: [&str; 12] = [
    "Done.",
    "That settles.",
    "That is all.",
    "That settles the matter.",
    "Nothing else is left open.",
    "Everything fits together as it should.",
    "No other reading of this makes sense.",
    "The parts agree and nothing is left over.",
    "I am through with all of the steps now.",
    "Looking at it as a whole, this is it then.",
    "Both ways of working it out lead to the same end.",
    "There is nothing left to check, so I can say it now.",
];

/// The sentence that a looping model repeats.
const LOOP: &str = "Wait, let me check that again. ";
const LOOP_WORDS: u32 = 6;
/// How many words of varied text precede a loop.
const WORDS_BEFORE_LOOP: u32 = 30;

/// How a reasoning text ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With a complete sentence.
    Finished,
    /// In the middle of a sentence, at the token limit.
    Cut,
    /// In a loop, until the token limit.
    Looping,
}

/// Writes exactly `words` words, without trailing white space.
///
/// The same draws give the same sentences for any number of words, so a truncated text is a prefix of the complete one.
pub(crate) fn write(out: &mut Vec<u8>, words: u32, ending: Ending, rng: &mut Rng) {
    let varied_words = if ending == Ending::Looping { words.min(WORDS_BEFORE_LOOP) } else { words };
    out.reserve(words as usize * 7);
    let mut left = varied_words;
    while left > 0 {
        let draw = rng.next();
        let sentence = &SENTENCES[(draw % SENTENCES.len() as u64) as usize];
        if sentence.words <= left {
            write_sentence(out, sentence, draw);
            left -= sentence.words;
        } else if ending == Ending::Finished {
            let last = CLOSING_SENTENCES[(left as usize - 1).min(CLOSING_SENTENCES.len() - 1)];
            out.extend_from_slice(last.as_bytes());
            left = 0;
        } else {
            write_beginning(out, sentence, draw, left);
            left = 0;
        }
    }
    if ending == Ending::Looping {
        let looping = words - varied_words;
        for _ in 0..looping / LOOP_WORDS {
            out.extend_from_slice(LOOP.as_bytes());
        }
        out.extend(LOOP.split_inclusive(' ').take((looping % LOOP_WORDS) as usize).flat_map(str::bytes));
    }
    if out.last() == Some(&b' ') {
        out.pop();
    }
}

/// A sentence and a space.
fn write_sentence(out: &mut Vec<u8>, sentence: &Sentence, draw: u64) {
    out.extend_from_slice(sentence.before.as_bytes());
    write_number(out, (draw >> 40) % 1000);
    out.extend_from_slice(sentence.after.as_bytes());
    out.push(b' ');
}

/// The first `words` words of a sentence that has more, and a space.
fn write_beginning(out: &mut Vec<u8>, sentence: &Sentence, draw: u64, words: u32) {
    let start = out.len();
    write_sentence(out, sentence, draw);
    let mut blanks = (start..out.len()).filter(|&at| out[at] == b' ');
    if let Some(end) = blanks.nth(words as usize - 1) {
        out.truncate(end + 1);
    }
}

fn write_number(out: &mut Vec<u8>, number: u64) {
    if number >= 100 {
        out.push(b'0' + (number / 100) as u8);
    }
    if number >= 10 {
        out.push(b'0' + (number / 10 % 10) as u8);
    }
    out.push(b'0' + (number % 10) as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_the_exact_word_count_and_needs_no_escaping() {
        for ending in [Ending::Finished, Ending::Cut, Ending::Looping] {
            for words in (0..200).chain([2048]) {
                let mut out = Vec::new();
                write(&mut out, words, ending, &mut Rng::new(u64::from(words), b"prose"));
                let text = String::from_utf8(out).unwrap();
                assert_eq!(text.split_whitespace().count(), words as usize, "{ending:?} {words}: {text}");
                assert_eq!(text, text.trim());
                assert!(
                    text.bytes().all(|b| (b' '..=b'~').contains(&b) && b != b'"' && b != b'\\'),
                    "{text}"
                );
                assert!(!text.contains("  ") && !text.to_lowercase().contains("answer"), "{text}");
            }
        }
    }

    #[test]
    fn endings_have_the_stated_length() {
        for (i, words) in CLOSING_SENTENCES.iter().enumerate() {
            assert_eq!(words.split(' ').count(), i + 1, "{words}");
        }
        assert!(SENTENCES.iter().all(|sentence| sentence.words as usize <= CLOSING_SENTENCES.len() + 1));
    }
}
