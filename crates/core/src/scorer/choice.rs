//! `choice`: one of the options, by letter or text; or a letter alone where the options aren't known.

use super::yes_no;
use crate::answer::{folded, plain, words};

/// Whether an answer chooses the target.
pub(super) fn matches(answer: &str, target: &str, options: &[String]) -> bool {
    let options = Options::new(options);
    match options.index_of(target) {
        Some(target) if options.are_truth_values() => options.chosen_truth(answer) == Some(target),
        Some(target) => options.chosen(answer) == Some(target),
        None => folded(answer) == folded(target),
    }
}

/// The letter of a text that is one: `C`, `(C)`, `[c]`, `C.`.
pub(super) fn letter(text: &str) -> Option<usize> {
    match text.trim_matches(['(', ')', '[', ']', ':', '.', '*', ' ', '{', '}']).as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(usize::from(letter.to_ascii_lowercase() - b'a')),
        _ => None,
    }
}

struct Options {
    texts: Vec<String>,
    /// Whether a letter alone stands for an option; not if an option is a letter itself.
    has_letters: bool,
}

/// Folded, without an article.
fn normal(text: &str) -> String {
    let folded = folded(text);
    ["the ", "a ", "an "]
        .iter()
        .find_map(|article| folded.strip_prefix(article))
        .unwrap_or(&folded)
        .to_owned()
}

impl Options {
    fn new(options: &[String]) -> Self {
        let texts: Vec<String> = options.iter().map(|option| normal(option)).collect();
        let is_letter = |text: &String| text.len() == 1 && text.starts_with(char::is_alphabetic);
        Self { has_letters: !texts.iter().any(is_letter), texts }
    }

    /// The option that a target is: by text, or by letter.
    fn index_of(&self, target: &str) -> Option<usize> {
        self.by_text(target).or_else(|| letter(target).filter(|index| self.has(*index)))
    }

    /// Whether there is an option of this letter; where options aren't known, there is.
    fn has(&self, index: usize) -> bool {
        self.texts.is_empty() || index < self.texts.len()
    }

    fn by_text(&self, text: &str) -> Option<usize> {
        let text = normal(text);
        self.texts.iter().position(|option| *option == text)
    }

    /// Whether the options are yes and no, or true and false, and nothing else.
    fn are_truth_values(&self) -> bool {
        let truths: Vec<Option<bool>> = self.texts.iter().map(|text| yes_no::truth(text)).collect();
        truths.len() == 2 && truths.contains(&Some(true)) && truths.contains(&Some(false))
    }

    /// The option of a truth value, by the rules of `yes_no`, or by its letter.
    fn chosen_truth(&self, answer: &str) -> Option<usize> {
        match yes_no::claimed_by(answer) {
            Some(value) => self.texts.iter().position(|text| yes_no::truth(text) == Some(value)),
            None => letter(plain(answer).trim()).filter(|index| self.has(*index)).or_else(|| {
                let text = plain(answer);
                let (index, remark) = labeled(text.trim())?;
                self.with_remark(index, remark)
            }),
        }
    }

    fn chosen(&self, answer: &str) -> Option<usize> {
        let text = plain(answer);
        let text = text.trim();
        if text.ends_with('?') {
            return None;
        }
        let text = without_likelihood(text);
        if let Some(index) = self.by_text(text) {
            return Some(index);
        }
        if self.has_letters
            && let Some(index) = letter(text).filter(|_| !text.contains(' '))
        {
            return Some(index).filter(|index| self.has(*index));
        }
        if let Some((index, reason)) = reasoned(text) {
            return Some(index)
                .filter(|index| self.has_letters && self.has(*index) && !is_taken_back(reason));
        }
        if let Some((index, remark)) = labeled(text) {
            return self.with_remark(index, remark);
        }
        if let Some(index) = self.leading(text) {
            return Some(index);
        }
        let remark = self.without_options(text);
        if is_denied(&remark) || is_rejection(without_reasons(&remark)) {
            return None;
        }
        self.by_mention(text)
    }

    /// The option whose text an answer begins with, if an explanation follows: `invalid, because it does not follow`.
    fn leading(&self, text: &str) -> Option<usize> {
        const REASONS: [&str; 5] = [" because ", " since ", ", because ", ", since ", ", as "];
        const LINKS: [&str; 8] = [", ", ". ", "; ", ": ", "\n", " - ", " (", "! "];
        let text = text.trim_start_matches(|c: char| "*_\"'".contains(c)).to_lowercase();
        let text =
            ["the ", "a ", "an "].iter().find_map(|article| text.strip_prefix(article)).unwrap_or(&text);
        let heads = self.texts.iter().enumerate().filter(|(_, option)| !option.is_empty());
        let (index, rest) = heads
            .filter_map(|(index, option)| Some((index, text.strip_prefix(option.as_str())?)))
            .filter(|(_, rest)| !rest.starts_with(char::is_alphanumeric))
            .min_by_key(|(_, rest)| rest.len())?;
        let rest = rest.trim_start_matches(['*', '_', '"']);
        if is_taken_back(rest) || rest.ends_with('?') {
            return None;
        }
        if REASONS.iter().any(|link| rest.starts_with(link)) {
            return Some(index);
        }
        let explanation = LINKS.iter().find_map(|link| rest.strip_prefix(link))?;
        let is_alternative = matches!(
            words(explanation).next(),
            Some("or" | "and" | "but" | "not" | "nor" | "maybe" | "perhaps" | "if" | "unless" | "no")
        );
        let names_other = self.mentioned_texts(explanation).into_iter().any(|other| other != index)
            || self.has_letters && !claimed_letters(explanation).is_empty();
        (!is_alternative && !names_other).then_some(index)
    }

    /// A letter with a remark: the option's text, or anything that names no other option.
    fn with_remark(&self, index: usize, remark: &str) -> Option<usize> {
        if !self.has(index) {
            return None;
        }
        let own = self.texts.get(index).map(String::as_str).unwrap_or_default();
        let rest = normal(remark);
        let restated = !own.is_empty()
            && rest.strip_prefix(own).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()));
        if restated {
            let after = &rest[own.len()..];
            let is_alternative = matches!(words(after).next(), Some("or" | "and" | "but" | "nor" | "not"));
            return (!is_alternative && !is_taken_back(after)).then_some(index);
        }
        let others = self.mentioned_texts(remark).into_iter().any(|other| other != index)
            || claimed_letters(remark).into_iter().any(|other| other != index)
            || stray_letters(remark).into_iter().any(|other| other != index);
        let is_alternative = matches!(words(&rest).next(), Some("or" | "and" | "but" | "not"));
        (self.has_letters && !others && !is_alternative).then_some(index)
    }

    /// The only option that a sentence names, by text or by letter.
    fn by_mention(&self, text: &str) -> Option<usize> {
        let mut named = self.mentioned_texts(text);
        let letters = if self.has_letters { claimed_letters(text) } else { Vec::new() };
        // Where a letter is named as the answer, other letters stand for what it was compared with only in "not B".
        if letters.len() > 1 && letters.iter().any(|letter| *letter != letters[0]) {
            return None;
        }
        named.extend(letters.into_iter().filter(|index| self.has(*index)));
        let first = *named.first()?;
        named.iter().all(|other| *other == first).then_some(first)
    }

    /// Whole words only, and the longest option that fits at each place.
    fn mentioned_texts(&self, text: &str) -> Vec<usize> {
        let lower = folded(text);
        let words: Vec<&str> = words(&lower).collect();
        let options = self.option_words();
        let mut mentioned = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let longest = longest_at(&options, &words[at..]);
            // A single letter that is an option is no mention: it may be an article or a label.
            mentioned.extend(longest.map(|(index, _)| index));
            at += longest.map_or(1, |(_, length)| length);
        }
        mentioned
    }

    /// A text without the options that it mentions: an "or" in an option is no alternative.
    fn without_options(&self, text: &str) -> String {
        let lower = folded(text);
        let words: Vec<&str> = words(&lower).collect();
        let options = self.option_words();
        let mut kept = Vec::new();
        let mut at = 0;
        while at < words.len() {
            if let Some((_, length)) = longest_at(&options, &words[at..]) {
                at += length;
            } else {
                kept.push(words[at]);
                at += 1;
            }
        }
        kept.join(" ")
    }

    fn option_words(&self) -> Vec<Vec<&str>> {
        self.texts.iter().map(|option| words(option).collect()).collect()
    }
}

fn longest_at(options: &[Vec<&str>], words: &[&str]) -> Option<(usize, usize)> {
    options
        .iter()
        .enumerate()
        .filter(|(_, option)| !option.is_empty() && words.starts_with(option))
        .map(|(index, option)| (index, option.len()))
        .max_by_key(|(_, length)| *length)
}

/// "Most likely" and "probably" state an answer.
fn without_likelihood(text: &str) -> &str {
    ["most likely ", "probably ", "most probably ", "likely "]
        .iter()
        .find_map(|likely| text.get(..likely.len()).filter(|head| head.eq_ignore_ascii_case(likely)))
        .map_or(text, |head| &text[head.len()..])
}

/// A letter that a text begins with, and what follows: `B. …`, `(B) …`, `B, …`, `B - …`, `option B: …`, `B because …`.
fn labeled(text: &str) -> Option<(usize, &str)> {
    const LINKS: [&str; 7] = [", ", "\n", " - ", " – ", " — ", " (", " is "];
    let text = ["option ", "choice ", "letter "]
        .iter()
        .find_map(|word| text.get(..word.len()).filter(|head| head.eq_ignore_ascii_case(word)))
        .map_or(text, |head| &text[head.len()..]);
    let bracketed = text.starts_with(['(', '[']);
    let inner = text.trim_start_matches(['(', '[']);
    let letter = inner.chars().next().filter(char::is_ascii_alphabetic)?;
    let rest = &inner[1..];
    let index = usize::from(u8::try_from(letter.to_ascii_lowercase()).ok()? - b'a');
    if bracketed {
        return rest
            .strip_prefix([')', ']'])
            .map(|remark| (index, remark.trim_matches([' ', ':', ',', '.', '-'])));
    }
    if let Some(remark) = rest.strip_prefix([')', ':', '.']) {
        return (remark.starts_with([' ', '\n']) || letter.is_uppercase())
            .then_some((index, remark.trim_start()));
    }
    if !letter.is_uppercase() {
        return None;
    }
    let link = LINKS.iter().find(|link| rest.starts_with(**link))?;
    let remark = &rest[link.len()..];
    if *link != " is " {
        return Some((index, remark));
    }
    // The reason names what it is compared with: "B is correct because C is too small".
    let claim = [" because ", " since ", ", as "].iter().find_map(|reason| remark.split_once(reason));
    let (claim, reason) = claim.unwrap_or((remark, ""));
    (is_praise(claim) && !is_taken_back(reason)).then_some((index, claim))
}

/// Whether what is said of an option makes it the answer: "the best one", but not "the least likely" or "the wrong one".
fn is_praise(text: &str) -> bool {
    const PRAISE: [&str; 9] =
        ["correct", "right", "best", "answer", "only", "solution", "likeliest", "closest", "true"];
    let lower = text.to_lowercase();
    let is_likely = lower.contains("most likely") || lower.contains("most probabl");
    let clause = lower.split(['.', ';', '\n']).next().unwrap_or_default();
    (is_likely || words(clause).any(|word| PRAISE.contains(&word))) && !is_rejection(clause)
}

/// What a sentence claims, without the reasons before "so" and after "because": those may reject other options.
fn without_reasons(text: &str) -> &str {
    let after = [" so ", " therefore ", " thus "]
        .iter()
        .filter_map(|link| Some(text.rfind(link)? + link.len()))
        .max();
    let claim = &text[after.unwrap_or(0)..];
    [" because ", " since "]
        .iter()
        .filter_map(|link| claim.find(link))
        .min()
        .map_or(claim, |end| &claim[..end])
}

/// Whether a text says that an option is none: "the wrong one", "can be excluded".
fn is_rejection(text: &str) -> bool {
    const REJECTIONS: [&str; 22] = [
        "wrong",
        "incorrect",
        "incorrectly",
        "inaccurate",
        "untrue",
        "false",
        "least",
        "worst",
        "unlikely",
        "unlikeliest",
        "except",
        "exception",
        "exclude",
        "excluded",
        "eliminate",
        "eliminated",
        "rejected",
        "ruled",
        "impossible",
        "not",
        "never",
        "distractor",
    ];
    let lower = text.to_lowercase().replace('’', "'");
    words(&lower).any(|word| REJECTIONS.contains(&word) || word.ends_with("n't"))
}

/// A letter with a reason, which may compare it with other options: `B because …`.
fn reasoned(text: &str) -> Option<(usize, &str)> {
    let head = text.trim_start_matches(['(', '[']);
    let rest = head.get(1..)?.trim_start_matches([')', ']', ',']);
    let reason = [" because ", " since "].iter().find_map(|link| rest.strip_prefix(link))?;
    letter(&head[..1]).filter(|_| head.starts_with(char::is_uppercase)).map(|index| (index, reason))
}

/// Whether an explanation takes the answer back.
fn is_taken_back(text: &str) -> bool {
    const RETRACTIONS: [&str; 6] = ["wait", "actually", "correction", "sorry", "oops", "mistake"];
    let lower = text.to_lowercase();
    words(&lower).any(|word| RETRACTIONS.contains(&word))
}

/// The letters that a sentence names as an option or as the answer.
fn claimed_letters(text: &str) -> Vec<usize> {
    const BEFORE: [&str; 12] = [
        "option", "choice", "letter", "answer", "is", "be", "choose", "pick", "select", "likely", "probably",
        "chose",
    ];
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let bare = token.trim_matches(['(', ')', '[', ']', '.', ':', ',', ';', '"', '*']);
        let [byte] = bare.as_bytes() else { continue };
        if !byte.is_ascii_uppercase() {
            continue;
        }
        let bracketed = token.starts_with(['(', '[']);
        let before =
            at.checked_sub(1).map(|before| tokens[before].trim_end_matches([':', ',']).to_lowercase());
        let announced = before.is_some_and(|before| BEFORE.contains(&before.as_str()));
        let after = tokens.get(at + 1).copied().unwrap_or_default();
        let ends = after.is_empty() || token.ends_with(['.', ',', ':', ';', ')', ']']);
        let praised = after == "is" && is_praise(&tokens[at + 2..].join(" "));
        let explained = ["because", "since", "as"].contains(&after);
        if bracketed || praised || announced && (ends || explained) {
            found.push(usize::from(byte.to_ascii_lowercase() - b'a'));
        }
    }
    found
}

/// Single capital letters, except "A" and "I" before a word.
fn stray_letters(text: &str) -> Vec<usize> {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let bare = token.trim_matches(['(', ')', '[', ']', '.', ':', ',', ';', '"', '*']);
        let [byte] = bare.as_bytes() else { continue };
        let is_word = ["A", "I"].contains(token) && tokens.get(at + 1).is_some();
        if byte.is_ascii_uppercase() && !is_word {
            found.push(usize::from(byte.to_ascii_lowercase() - b'a'));
        }
    }
    found
}

/// Whether a sentence denies, excludes or doubts what it names.
fn is_denied(text: &str) -> bool {
    const DENIALS: [&str; 21] = [
        "if",
        "not",
        "no",
        "or",
        "nor",
        "neither",
        "never",
        "cannot",
        "either",
        "maybe",
        "perhaps",
        "possibly",
        "unless",
        "except",
        "but",
        "could",
        "might",
        "none",
        "unclear",
        "excluding",
        "whether",
    ];
    let lower = text.to_lowercase().replace('’', "'");
    words(&lower).any(|word| DENIALS.contains(&word) || word.ends_with("n't"))
}
