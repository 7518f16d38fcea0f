//! Text search: case-insensitive, by line, by block.

use crate::Json;

pub(super) fn starts_with_ignore_case(text: &str, prefix: &str) -> bool {
    text.as_bytes().get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix.as_bytes()))
}

/// The first place of an ASCII word, in any case.
pub(super) fn find_ignore_case(text: &str, word: &str) -> Option<usize> {
    text.as_bytes().windows(word.len()).position(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

/// The last place of an ASCII word, in any case.
pub(super) fn rfind_ignore_case(text: &str, word: &str) -> Option<usize> {
    text.as_bytes().windows(word.len()).rposition(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

/// At most `bytes` bytes from the start.
pub(super) fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// At most `bytes` bytes from the end.
pub(super) fn tail(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

/// Up to the end of the line.
pub(super) fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or(text)
}

/// A blank line, a rule, a lone fence or the delimiters of a formula: never an answer.
pub(super) fn is_decoration(line: &str) -> bool {
    let line = line.trim();
    line.trim_matches(['-', '*', '_', '=', '~', '`', '$', '#']).is_empty()
        || matches!(line, r"\[" | r"\]" | r"\(" | r"\)")
}

/// An item of a bulleted or numbered list.
pub(crate) fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    without_marker(line).len() < line.len()
}

/// A line without the bullet or the number of a list item.
pub(crate) fn without_marker(line: &str) -> &str {
    let number = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = line[number..].strip_prefix(['.', ')']).and_then(|rest| rest.strip_prefix(' '));
    numbered.filter(|_| number > 0).unwrap_or_else(|| without_bullet(line))
}

/// A line without the bullet it starts with.
pub(crate) fn without_bullet(line: &str) -> &str {
    ["- ", "* ", "• "].iter().find_map(|bullet| line.strip_prefix(bullet)).unwrap_or(line)
}

/// One word that ends no sentence and announces nothing.
fn is_one_word(line: &str) -> bool {
    let line = line.trim();
    line.contains(char::is_alphanumeric)
        && !line.contains(char::is_whitespace)
        && !line.ends_with(['.', '!', ':'])
}

/// Whether a line is a piece of a list: items of at most three words each, with commas between them.
fn is_list_line(line: &str) -> bool {
    let line = line.trim().trim_end_matches(',');
    !line.is_empty() && line.split(',').all(|item| (1..=3).contains(&item.split_whitespace().take(4).count()))
}

/// The first line, with the lines below it while a list continues: each ends with a comma.
pub(super) fn continued_list(text: &str) -> &str {
    let mut end = first_line(text).len();
    let mut line = &text[..end];
    while line.trim_end().ends_with(',') && is_list_line(line) && end < text.len() {
        let next = first_line(&text[end + 1..]);
        if !is_list_line(next) {
            break;
        }
        end += 1 + next.len();
        line = next;
    }
    &text[..end]
}

/// The length of the value in brackets that a text begins with.
pub(super) fn bracketed_value(text: &str) -> Option<usize> {
    text.starts_with(['[', '{']).then(|| closing_bracket(text)).flatten().map(|close| close + 1)
}

/// Whether a word is an item of a list that is written down the page: a bullet before it, or single words around it.
pub(super) fn is_list_item(text: &str, start: usize, length: usize) -> bool {
    let before = tail(&text[..start], 64);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    if line_start == 0 && before.len() < start {
        return false;
    }
    let after = head(&text[start + length..], 64);
    if !first_line(after).trim().is_empty() {
        return false;
    }
    let bullet = before[line_start..].trim();
    if !bullet.is_empty() {
        return ["-", "*", "•"].contains(&bullet);
    }
    let above = before[..line_start].trim_end();
    let above = above.rsplit('\n').next().unwrap_or_default();
    let below = after.trim_start();
    let is_lower = text[start..].starts_with(char::is_lowercase);
    let between_words = is_one_word(above) && (below.is_empty() || is_one_word(first_line(below)));
    let first_of_words = is_lower
        && (above.trim().is_empty()
            || above.trim_end().ends_with([':', '*'])
            || above.trim().starts_with("```"))
        && is_one_word(first_line(below));
    // The last word of a list that continues in the next line.
    let ends_list = is_lower && above.ends_with(',') && is_list_line(above);
    between_words || first_of_words || ends_list
}

/// Several lines of one word each: a list written down the page.
fn is_column(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.next().is_some_and(is_one_word) && lines.peek().is_some() && lines.all(is_one_word)
}

/// What a mark at the end of its line refers to: the fenced block, the JSON value, the list, or the line that comes
/// next. Empty when nothing comes.
pub(super) fn following_block(text: &str) -> &str {
    let mut start = 0;
    let mut lines = text.split_inclusive('\n');
    let line = loop {
        match lines.next() {
            None => return "",
            Some(line) if line.trim_start().starts_with("```") => return fenced(&text[start + line.len()..]),
            Some(line) if is_decoration(line) => start += line.len(),
            Some(line) => break line,
        }
    };
    let block = &text[start..];
    let length: usize = if line.starts_with(['[', '{']) {
        value_length(block).unwrap_or(line.len())
    } else if is_item(line) {
        block.split_inclusive('\n').take_while(|line| is_item(line)).map(str::len).sum()
    } else if is_column(block) {
        block.len()
    } else {
        line.len()
    };
    let block = block[..length].trim();
    // A list of one item is that item: its bullet isn't a minus.
    if block.contains('\n') { block } else { without_bullet(block) }
}

/// From below an opening fence to its closing one.
fn fenced(text: &str) -> &str {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            break;
        }
        length += line.len();
    }
    text[..length].trim()
}

/// Where the brackets that a text opens with are all closed, at the end of that line.
fn value_length(text: &str) -> Option<usize> {
    let close = closing_bracket(text)?;
    Some(close + first_line(&text[close..]).len())
}

/// Where the brackets that a text opens with are all closed.
fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.bytes().position(|byte| {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// The start and the end of each line, the last one first.
fn lines_backward(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let line_to = |end: usize| (text[..end].rfind('\n').map_or(0, |newline| newline + 1), end);
    std::iter::successors(Some(line_to(text.len())), move |&(start, _)| Some(line_to(start.checked_sub(1)?)))
}

/// The fenced block that ends a text.
pub(super) fn closing_fence(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let mut fences =
        lines_backward(text).filter(|&(start, end)| text[start..end].trim_start().starts_with("```"));
    let (close, end) = fences.next()?;
    if end < text.len() || text[close..].trim() != "```" {
        return None;
    }
    let (_, open) = fences.next()?;
    Some(text[open..close].trim())
}

/// The last line that is not decoration, with the lines above it where they are one list or one JSON value.
pub(super) fn last_lines(text: &str) -> &str {
    if is_column(text) {
        return text;
    }
    let mut lines = lines_backward(text).skip_while(|&(start, end)| is_decoration(&text[start..end]));
    let Some((mut start, end)) = lines.next() else { return "" };
    match text[start..end].trim() {
        close @ ("]" | "}") => {
            let open = if close == "]" { '[' } else { '{' };
            let value = lines.map(|(start, _)| &text[start..end]).find(|value| value.starts_with(open));
            if let Some(value) = value.filter(|value| Json::parse(value).is_ok()) {
                return value;
            }
        }
        line if is_item(line) => {
            start = lines
                .take_while(|&(start, end)| is_item(&text[start..end]))
                .last()
                .map_or(start, |(start, _)| start);
        }
        line if is_list_line(line) => {
            // A list that continues from the line above.
            for (above, above_end) in lines {
                let line = &text[above..above_end];
                if !line.trim_end().ends_with(',') || !is_list_line(line) {
                    break;
                }
                start = above;
            }
        }
        _ => {}
    }
    let lines = text[start..end].trim();
    // The number of the last step is not what the step comes to.
    if lines.contains('\n') { lines } else { without_marker(lines) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_following_block() {
        for (text, block) in [
            ("\n\n42\nI am sure.", "42"),
            ("\n```json\n[1,\n2]\n```\nDone.", "[1,\n2]"),
            ("\n[\n1,\n2\n]\nDone.", "[\n1,\n2\n]"),
            ("\n- a\n- b\n\nDone, all of it.", "- a\n- b"),
            ("\n- 42\n", "42"),
            ("\na\nb", "a\nb"),
            ("\n$$\n42\n$$", "42"),
            ("\n[ never closed\n", "[ never closed"),
            ("\n---\n", ""),
        ] {
            assert_eq!(following_block(text), block, "{text:?}");
        }
    }

    #[test]
    fn last_lines_are_one_line_list_or_value() {
        for (text, lines) in [
            ("Well.\n42\n\n---", "42"),
            ("Here:\n1. a\n2. b", "1. a\n2. b"),
            ("So it is\n[\n  1\n]", "[\n  1\n]"),
            ("Close it with\n(\n]", "]"),
            ("- 42", "42"),
            ("3. Add them", "Add them"),
            ("***", ""),
        ] {
            assert_eq!(last_lines(text), lines, "{text:?}");
        }
    }

    #[test]
    fn fence_counts_only_at_the_end() {
        assert_eq!(closing_fence("a\n```\nb\n```\n"), Some("b"));
        assert_eq!(closing_fence("a\n```\nb\n```\nc"), None);
        assert_eq!(closing_fence("a\n```python"), None);
    }
}
