//! Text of models for pages: control characters are visible, and HTML is escaped by the templates.

pub(crate) use reasonscape_core::escape_invisible;

/// The beginning of a text on one line, for a table.
pub(crate) fn excerpt(text: &str, max: usize) -> String {
    let mut shown: String =
        escape_invisible(text).chars().take(max).map(|c| if c == '\n' { ' ' } else { c }).collect();
    if text.chars().nth(max).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_control_characters() {
        assert_eq!(escape_invisible("plain\n\ttext"), "plain\n\ttext");
        assert_eq!(escape_invisible("\u{1b}[31mred\u{7}\r\nnext\rover"), "␛[31mred␇\nnext␍over");
        assert_eq!(escape_invisible("a\u{202e}b\u{85}"), "a[U+202E]b[U+0085]");
        assert_eq!(escape_invisible("<script>"), "<script>");
        assert_eq!(excerpt("one\ntwo three", 7), "one two…");
        assert_eq!(excerpt("one", 3), "one");
    }
}
