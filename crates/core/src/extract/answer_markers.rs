//! Answer markers: boxes, tags and phrases with which a model marks its answer.

use super::Method;
use super::search::{
    bracketed_value, continued_list, find_ignore_case, first_line, following_block, head, is_list_item,
    rfind_ignore_case, starts_with_ignore_case, tail,
};

/// A marker and its content; `answer` is empty if the reply ends there.
#[derive(Debug)]
pub(super) struct AnswerMarker<'a> {
    pub(super) method: Method,
    pub(super) answer: &'a str,
    start: usize,
    end: usize,
}

/// The last marker of a text, by start position.
///
/// So a box inside an answer tag beats the tag. A phrase inside a box is part of what the box holds.
pub(super) fn last(text: &str) -> Option<AnswerMarker<'_>> {
    let boxed = last_box(text);
    let phrase = last_phrase(text).filter(|phrase| {
        boxed.as_ref().is_none_or(|boxed| !(boxed.start..boxed.end).contains(&phrase.start))
    });
    [boxed, last_tag(text), phrase].into_iter().flatten().max_by_key(|mark| mark.start)
}

/// What the last complete `\boxed{…}` of a text holds, by balanced braces.
pub fn last_boxed(text: &str) -> Option<&str> {
    last_box(text).map(|found| found.answer).filter(|answer| !answer.is_empty())
}

const BOXES: [&str; 4] = [r"\boxed{", r"\boxed {", r"\fbox{", r"\framebox{"];

/// The last non-empty box. An empty one describes the answer format.
///
/// An unclosed box on the last line means that the reply was truncated; elsewhere it is ignored.
fn last_box(text: &str) -> Option<AnswerMarker<'_>> {
    struct Open {
        start: usize,
        inner: usize,
        boxed: bool,
    }
    let bytes = text.as_bytes();
    let mut open: Vec<Open> = Vec::new();
    let mut found: Option<AnswerMarker<'_>> = None;
    let mut at = 0;
    while let Some(offset) = text[at..].find(['\\', '{', '}']) {
        let start = at + offset;
        at = start + 1;
        match bytes[start] {
            b'{' => open.push(Open { start, inner: at, boxed: false }),
            b'}' => {
                let Some(Open { start, inner, .. }) = open.pop().filter(|open| open.boxed) else { continue };
                let close = closing_brace(text, inner, at - 1);
                let answer = text[inner..close].trim();
                if !answer.is_empty() && found.as_ref().is_none_or(|found| found.start < start) {
                    found = Some(AnswerMarker { method: Method::Boxed, answer, start, end: close + 1 });
                }
            }
            _ => {
                let rest = &text[start..];
                if let Some(command) = BOXES.iter().find(|command| rest.starts_with(**command)) {
                    at = start + command.len();
                    open.push(Open { start, inner: at, boxed: true });
                } else if rest.starts_with(r"\{") || rest.starts_with(r"\}") {
                    at += 1;
                }
            }
        }
    }
    let broken_off =
        open.iter().rev().find(|open| open.boxed).filter(|open| !text[open.start..].contains('\n'));
    match broken_off {
        Some(open) if found.as_ref().is_none_or(|found| found.start < open.start) => {
            Some(AnswerMarker { method: Method::Boxed, answer: "", start: open.start, end: text.len() })
        }
        _ => found,
    }
}

/// Where a box really closes. When brackets are the answer, `\boxed{)]}>}` holds `)]}>` although its first closing
/// brace comes earlier: as long as brackets follow, the last brace among them is the box's own.
fn closing_brace(text: &str, inner: usize, close: usize) -> usize {
    let is_bracket = |c: char| "()[]{}<> ".contains(c);
    if !text[inner..close].chars().all(is_bracket) {
        return close;
    }
    let rest = &text[close + 1..];
    let run = rest.len() - rest.trim_start_matches(is_bracket).len();
    rest[..run].rfind('}').map_or(close, |last| close + 1 + last)
}

/// The last `<answer>` that holds something.
///
/// Where the closing tag is missing, for it may have been the stop sequence, one line up to the end of the text is
/// taken; several lines are not. `<answer>42<answer>` counts as closed.
fn last_tag(text: &str) -> Option<AnswerMarker<'_>> {
    const OPEN: &str = "<answer>";
    const CLOSE: &str = "</answer>";
    let mut end = text.len();
    let mut broken_off = None;
    while let Some(start) = rfind_ignore_case(&text[..end], OPEN) {
        let inner = &text[start + OPEN.len()..end];
        let close = find_ignore_case(inner, CLOSE);
        let answer = inner[..close.unwrap_or(inner.len())].trim();
        let mark = AnswerMarker { method: Method::Tag, answer, start, end };
        if broken_off.is_some() && (close.is_some() || answer.contains('\n')) {
            return broken_off;
        }
        match (answer, close) {
            ("", None) if end == text.len() => broken_off = Some(mark),
            ("", _) => {}
            (_, None) if answer.contains('\n') => {}
            _ => return Some(mark),
        }
        end = start;
    }
    broken_off
}

/// The last phrase of the kind "Answer: …" or "the answer is …".
fn last_phrase(text: &str) -> Option<AnswerMarker<'_>> {
    let mut end = text.len();
    while let Some(start) = rfind_ignore_case(&text[..end], "answer") {
        if let Some(answer) = bracket_tag_at(text, start) {
            return Some(AnswerMarker { method: Method::Tag, answer, start, end: text.len() });
        }
        if let Some(answer) = member_at(text, start).or_else(|| phrase_at(text, start)) {
            return Some(AnswerMarker { method: Method::Phrase, answer, start, end: text.len() });
        }
        end = start;
    }
    None
}

/// How far the end of a bracketed tag or of a JSON value is looked for: without a limit, a text of many tags that are never
/// closed would take quadratic time.
const MAX_MARKED_LEN: usize = 2048;

/// What `[ANSWER]…[/ANSWER]` holds, with the word "answer" at `start`; one line if it isn't closed.
fn bracket_tag_at(text: &str, start: usize) -> Option<&str> {
    let inner = text[start + "answer".len()..].strip_prefix(']').filter(|_| text[..start].ends_with('['))?;
    let inner = head(inner, MAX_MARKED_LEN);
    let mut brackets = inner.match_indices('[');
    let answer = match brackets.find(|(at, _)| starts_with_ignore_case(&inner[*at..], "[/answer]")) {
        Some((close, _)) => &inner[..close],
        None => first_line(inner),
    };
    Some(answer.trim()).filter(|answer| !answer.is_empty())
}

/// The value of `"answer": …` at the end of a JSON object, with the word "answer" at `start`.
fn member_at(text: &str, start: usize) -> Option<&str> {
    let rest = text[start + "answer".len()..].strip_prefix('"').filter(|_| text[..start].ends_with('"'))?;
    let value = head(rest, MAX_MARKED_LEN).trim_start().strip_prefix(':')?.trim_start();
    let length = if let Some(string) = value.strip_prefix('"') {
        let mut escaped = false;
        let is_end = |byte: u8| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        };
        string.bytes().position(is_end)? + 2
    } else {
        if value.starts_with(['[', '{']) { bracketed_value(value) } else { value.find(['}', ',', '\n']) }?
    };
    let after = value[length..].trim_start();
    let value = value[..length].trim();
    let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    (after.starts_with('}') && !value.is_empty()).then_some(value)
}

/// What the phrase with the word "answer" at `start` marks, if it is one. Looks at a bounded piece of text unless it
/// is.
fn phrase_at(text: &str, start: usize) -> Option<&str> {
    let before = tail(&text[..start], 48);
    if before.ends_with(|c: char| c.is_alphanumeric() || "</_-".contains(c)) {
        return None;
    }
    let previous = before.trim_end_matches([' ', '*', '_']);
    let previous_words = previous.to_ascii_lowercase();
    let conditional = ["if the", "whether the", "if my", "what the", "once the"];
    if conditional.iter().any(|words| previous_words.ends_with(words)) {
        return None;
    }
    if is_list_item(text, start, "answer".len()) {
        return None;
    }
    let link = link(before, &text[start + "answer".len()..])?;
    let rest = link.rest.trim_start_matches(['*', '_']);
    let start_of_rest =
        first_line(head(rest, 120)).trim_matches(|c: char| c.is_whitespace() || "*_:".contains(c));
    if start_of_rest.is_empty() && (rest.len() <= 120 || head(rest, 120).contains('\n')) {
        let block = following_block(&rest[first_line(rest).len()..]);
        return (link.expects_more || !block.is_empty()).then_some(block);
    }
    if is_remark(start_of_rest) {
        return None;
    }
    let line = continued_list(rest);
    Some(&line[..find_ignore_case(line, "</answer>").unwrap_or(line.len())])
}

struct Link<'a> {
    /// What follows the phrase.
    rest: &'a str,
    /// A colon or a heading must be followed by an answer; otherwise the reply was truncated here.
    expects_more: bool,
}

/// Reads the words between "answer" and the answer itself.
fn link<'a>(before: &str, after: &'a str) -> Option<Link<'a>> {
    let rest = after.trim_start_matches(['*', '_', ' ']);
    if let Some(rest) = rest.strip_prefix([':', '：', '=']) {
        return Some(Link { rest, expects_more: true });
    }
    if let Some(rest) = after_is(rest) {
        return Some(rest);
    }
    let line = first_line(head(rest, 120));
    if ["to ", "for ", "of "].iter().any(|word| starts_with_ignore_case(line, word)) {
        return line.find(" is").and_then(|at| after_is(&rest[at + 1..]));
    }
    if line.starts_with('(') {
        let close = ["):", ")**:", "):**"].iter().find_map(|close| Some(line.find(close)? + close.len()));
        return match close {
            Some(at) => Some(Link { rest: &rest[at..], expects_more: true }),
            // "the answer (in dollars) is 70"
            None => line.find(") is").and_then(|at| after_is(&rest[at + 2..])),
        };
    }
    let words = before.rsplit('\n').next().unwrap_or(before);
    let is_heading = line.trim().is_empty()
        && words.split(|c: char| !c.is_alphanumeric()).all(|word| {
            ["", "the", "my", "final", "correct"].iter().any(|known| known.eq_ignore_ascii_case(word))
        })
        && (before.len() < 48 || before.contains('\n'));
    is_heading.then_some(Link { rest, expects_more: true })
}

/// What follows "is" or "is:".
fn after_is(text: &str) -> Option<Link<'_>> {
    let rest = text.get(2..).filter(|_| starts_with_ignore_case(text, "is"))?;
    if rest.starts_with(char::is_alphanumeric) {
        return None;
    }
    let colon = rest.trim_start_matches(['*', '_', ' ']).strip_prefix(':');
    Some(Link { rest: colon.unwrap_or(rest), expects_more: colon.is_some() })
}

/// Phrases after "the answer is" that don't give one: a description of the format, or filler.
fn is_remark(rest: &str) -> bool {
    const FORMS: [&str; 14] = [
        "integer", "number", "list", "date", "word", "words", "name", "letter", "string", "value", "weekday",
        "json", "array", "line",
    ];
    const REMARKS: [&str; 8] = ["helpful", "useful", "clear", "unclear", "as", "given", "found", "below"];
    if rest.trim_matches(['.', '?', '!', ',']).is_empty() {
        return true;
    }
    let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default().to_ascii_lowercase();
    match first.as_str() {
        "one" | "a" | "an" | "exactly" | "your" | "just" | "only" => {
            // "a list: 1, 2" gives the list that it announces.
            !rest.contains(':') && words.any(|word| FORMS.iter().any(|form| form.eq_ignore_ascii_case(word)))
        }
        first => REMARKS.contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> Option<(Method, &str)> {
        last(text).map(|mark| (mark.method, mark.answer.trim()))
    }

    #[test]
    fn boxes_nest_and_may_contain_braces() {
        for (text, answer) in [
            (r"\boxed{42}", "42"),
            (r"\boxed{\text{dark red}}", r"\text{dark red}"),
            (r"\boxed{\boxed{1}}", "1"),
            (r"\boxed{)]}>}", ")]}>"),
            (r"$\boxed{}}$", "}"),
            (r"\boxed{\}]}", r"\}]"),
            (r"\boxed{7} and then \boxed{}", "7"),
            (r"\boxed{ a \text{The answer is: b} }", r"a \text{The answer is: b}"),
            (r"{ \boxed{3} ", "3"),
            ("\\boxed{1\nand on. \\boxed{2}", "2"),
        ] {
            assert_eq!(marked(text), Some((Method::Boxed, answer)), "{text}");
        }
        assert_eq!(marked(r"\boxed{12} or rather \boxed{100"), Some((Method::Boxed, "")));
    }

    #[test]
    fn accepts_unclosed_tags() {
        for (text, answer) in [
            ("<answer>42</answer>", "42"),
            ("<ANSWER>\n42\n</Answer> Done.", "42"),
            ("<answer>41</answer><answer>42", "42"),
            ("<answer>42<answer>", "42"),
            ("<answer>42</answer><answer></answer>", "42"),
            ("<answer>12</answer> No: <answer>", ""),
        ] {
            assert_eq!(marked(text), Some((Method::Tag, answer)), "{text}");
        }
        assert_eq!(marked("<answer>\n42\nand so on"), None);
    }

    #[test]
    fn phrases_mark_the_rest_of_the_line_or_the_next_block() {
        for (text, answer) in [
            ("Answer: 42", "42"),
            ("**Answer:** 42", "42"),
            ("**Answer**: 42", "42"),
            ("So the final answer is **42**.", "**42**."),
            ("The answer to the question is: 42", "42"),
            ("Answer (integer): 42", "42"),
            ("### Final Answer\n\n42", "42"),
            ("The correct answer is\n\n42", "42"),
            ("Answer:\n```\n42\n```", "42"),
            ("Answer: 41\nNo. Answer: 42\nI hope the answer is helpful.", "42"),
            ("Final answer:", ""),
        ] {
            assert_eq!(marked(text), Some((Method::Phrase, answer)), "{text}");
        }
    }

    #[test]
    fn remarks_about_answers_are_not_markers() {
        for text in [
            "The answer is one integer.\n6 * 7 = 42",
            "I wonder whether the answer is 42",
            "I do not know what the answer is.",
            "Answers vary: 42",
            "an unanswerable question",
        ] {
            assert_eq!(marked(text), None, "{text}");
        }
    }
}
