//! Separates reasoning from the rest of a reply.

/// Opening and closing reasoning tags of various model families, case-insensitive.
const TAGS: [[&str; 2]; 8] = [
    ["<think>", "</think>"],
    ["<thinking>", "</thinking>"],
    ["<reasoning>", "</reasoning>"],
    ["<thought>", "</thought>"],
    ["[THINK]", "[/THINK]"],
    ["<seed:think>", "</seed:think>"],
    ["<|begin_of_thought|>", "<|end_of_thought|>"],
    ["<|channel|>analysis<|message|>", "<|channel|>final<|message|>"],
];

/// A reply in pieces, each kind in the order of the reply.
#[derive(Debug, Default)]
pub(super) struct Parts<'a> {
    pub(super) reasoning: Vec<&'a str>,
    pub(super) text: Vec<&'a str>,
    /// The last reasoning tag was never closed.
    pub(super) unclosed: bool,
}

/// Splits a reply at its reasoning tags.
///
/// A block ends at the first closing tag of its own name: models whose template opens the block often open it once
/// more themselves, so a second opening tag inside is ignored. A closing tag without an opening one comes from
/// such a template too: everything before it is reasoning.
pub(super) fn separate(content: &str) -> Parts<'_> {
    struct Piece<'a> {
        text: &'a str,
        thought: bool,
    }
    let mut pieces = Vec::new();
    // Pieces before this one are reasoning, whatever they seemed to be when they were read.
    let mut all_thought_before = 0;
    let mut open = None;
    let (mut from, mut at) = (0, 0);
    while let Some(offset) = content[at..].find(['<', '[']) {
        at += offset;
        let Some(tag) = tag_at(&content[at..]) else {
            at += 1;
            continue;
        };
        let end = at + tag.length;
        if open.is_none() || (tag.closes && open == Some(tag.family)) {
            pieces.push(Piece { text: &content[from..at], thought: open.is_some() });
            if tag.closes && open.is_none() {
                all_thought_before = pieces.len();
            }
            open = (!tag.closes).then_some(tag.family);
            from = end;
        }
        at = end;
    }
    pieces.push(Piece { text: &content[from..], thought: open.is_some() });

    let mut parts = Parts { unclosed: open.is_some(), ..Parts::default() };
    for (i, piece) in pieces.into_iter().enumerate() {
        let kind =
            if piece.thought || i < all_thought_before { &mut parts.reasoning } else { &mut parts.text };
        kind.push(piece.text);
    }
    parts
}

struct Tag {
    family: usize,
    closes: bool,
    length: usize,
}

fn tag_at(text: &str) -> Option<Tag> {
    TAGS.iter().enumerate().find_map(|(family, names)| {
        let closes = names.iter().position(|name| super::search::starts_with_ignore_case(text, name))? == 1;
        Some(Tag { family, closes, length: names[usize::from(closes)].len() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_closing_tag_ends_reasoning() {
        let parts = separate("a<think>b</think>c</think>d");
        assert_eq!((parts.reasoning, parts.text), (vec!["a", "b", "c"], vec!["d"]));
    }

    #[test]
    fn block_ends_only_at_its_own_closing_tag() {
        assert!(separate("<think>a</reasoning>b").unclosed);
        assert!(!separate("<think><think>a</think>b").unclosed);
    }
}
