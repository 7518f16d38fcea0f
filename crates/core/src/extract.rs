//! Extracts the answer from a reply: reasoning is separated first, then the last answer marker in the rest wins.
//!
//! Extraction doesn't depend on the problem. Cleaning removes only what can't be part of an answer; what depends on
//! the answer type (a thousands separator, a bullet that could be a minus) is left to [`Task::check`](crate::Task::check).
//! Every step is linear in the text, so a reply of several megabytes takes milliseconds.

mod answer_markers;
mod reasoning;
mod search;
mod strip_markup;

pub use answer_markers::last_boxed;
pub(crate) use search::{is_item, without_bullet, without_marker};
pub(crate) use strip_markup::{TYPE_COMMANDS, tidy};

use std::borrow::Cow;

/// What a model sent back.
///
/// ```
/// use reasonscape_core::Reply;
///
/// let reply = Reply { content: "42", reasoning: Some("six times seven") };
/// assert_eq!(Reply::from("42").content, reply.content);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply<'a> {
    /// The message itself.
    pub content: &'a str,
    /// Reasoning that the provider returned separately, as `reasoning_content` or similar.
    pub reasoning: Option<&'a str>,
}

impl<'a> From<&'a str> for Reply<'a> {
    fn from(content: &'a str) -> Self {
        Self { content, reasoning: None }
    }
}

/// The parts of a reply.
///
/// ```
/// use reasonscape_core::{Reply, extract};
///
/// let found = extract(&Reply::from("<think>6 * 7</think>That makes **42**."));
/// assert_eq!(found.reasoning.as_deref(), Some("6 * 7"));
/// assert_eq!(found.text, "That makes **42**.");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extraction<'a> {
    /// The reasoning: the provider's field, then the text between reasoning tags. `None` if blank.
    pub reasoning: Option<Cow<'a, str>>,
    /// The reasoning exactly as it was received: the same pieces, in order, with their white space. Blank
    /// counts as none. Compression is measured on this.
    pub trace: Option<Cow<'a, str>>,
    /// The reply without its reasoning.
    pub text: Cow<'a, str>,
    /// The answer, lightly cleaned; never empty.
    pub answer: Option<String>,
    /// How the answer was found, or why there is none.
    pub method: Method,
}

impl Extraction<'_> {
    /// The reasoning and the text of the reply before the line of the answer; for a
    /// reply without an answer, all of it.
    ///
    /// ```
    /// use reasonscape_core::{Reply, extract};
    ///
    /// let found = extract(&Reply::from("6 * 7 = 42\n\nAnswer: 42"));
    /// assert_eq!(found.thoughts().as_deref(), Some("6 * 7 = 42"));
    /// assert_eq!(extract(&Reply::from("42")).thoughts(), None);
    /// ```
    pub fn thoughts(&self) -> Option<Cow<'_, str>> {
        let end = match &self.answer {
            None => self.text.len(),
            // Cleaning may have changed the answer; assume the last line in that case.
            Some(answer) => self.text.rfind(answer.as_str()).unwrap_or(self.text.trim_end().len()),
        };
        let before = match &self.answer {
            None => &self.text[..],
            Some(_) => &self.text[..self.text[..end].rfind('\n').unwrap_or(0)],
        };
        let thoughts = joined(self.reasoning.as_deref().into_iter().chain([before]));
        Some(thoughts).filter(|thoughts| !thoughts.is_empty())
    }
}

/// How an answer was found, or why there is none.
///
/// ```
/// use reasonscape_core::{Method, Reply, extract};
///
/// assert_eq!(extract(&Reply::from(r"So $\boxed{42}$.")).method, Method::Boxed);
/// assert_eq!(extract(&Reply::from("<think>It is 42, no,")).method, Method::Unfinished);
/// assert_eq!(Method::LastLine.name(), "last line");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// `\boxed{…}` or `\fbox{…}`.
    Boxed,
    /// `<answer>…</answer>`.
    Tag,
    /// "Answer: …", "the final answer is …", or a heading that says so.
    Phrase,
    /// No marker, but the reply ends with a fenced block.
    Fence,
    /// No marker: the last line that isn't markup only.
    LastLine,
    /// No answer: the reasoning never ended, or the reply ends inside the last marker.
    Unfinished,
    /// No answer: the reply has no text outside the reasoning.
    Empty,
}

impl Method {
    /// The name of the method, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Boxed => "boxed",
            Self::Tag => "answer tag",
            Self::Phrase => "phrase",
            Self::Fence => "fenced block",
            Self::LastLine => "last line",
            Self::Unfinished => "unfinished",
            Self::Empty => "empty",
        }
    }
}

/// Separates the reasoning of a reply and finds the answer in the rest.
///
/// The last explicit marker wins, by position: a box, an answer tag, or a phrase such as "the final answer is".
/// Without a marker it is the fenced block that ends the reply, or else the last line. A reasoning tag that is never
/// closed means that the reply has none; so does a last marker with nothing after it.
///
/// ```
/// use reasonscape_core::{Method, Reply, extract};
///
/// let found = extract(&Reply::from("Answer: 41? No, wait.\n\n**Final answer:** 42."));
/// assert_eq!(found.answer.as_deref(), Some("42"));
/// assert_eq!(found.method, Method::Phrase);
///
/// // The box is inside the reasoning, which never ended.
/// assert_eq!(extract(&Reply::from(r"<think>So \boxed{42}. Let me check")).answer, None);
/// ```
pub fn extract<'a>(reply: &Reply<'a>) -> Extraction<'a> {
    let parts = reasoning::separate(reply.content);
    let thoughts = reply.reasoning.into_iter().chain(parts.reasoning);
    let reasoning = Some(joined(thoughts.clone())).filter(|reasoning| !reasoning.is_empty());
    let trace = reasoning.is_some().then(|| concatenated(thoughts));
    let text = joined(parts.text.into_iter());
    let (method, candidate) = if parts.unclosed {
        (Method::Unfinished, "")
    } else {
        candidate(strip_markup::without_end_tokens(&text))
    };
    let answer = Some(strip_markup::tidy(candidate)).filter(|answer| !answer.is_empty()).map(str::to_owned);
    let method = match (&answer, method) {
        (None, Method::Fence | Method::LastLine) => Method::Empty,
        (None, _) if method != Method::Empty => Method::Unfinished,
        _ => method,
    };
    Extraction { reasoning, trace, text, answer, method }
}

/// The non-blank pieces as paragraphs; borrowed if there is only one.
fn joined<'a>(pieces: impl Iterator<Item = &'a str>) -> Cow<'a, str> {
    let mut joined = Cow::Borrowed("");
    for piece in pieces.map(str::trim).filter(|piece| !piece.is_empty()) {
        if joined.is_empty() {
            joined = Cow::Borrowed(piece);
        } else {
            let joined = joined.to_mut();
            joined.push_str("\n\n");
            joined.push_str(piece);
        }
    }
    joined
}

/// The concatenated pieces; borrowed if only one is non-empty.
fn concatenated<'a>(pieces: impl Iterator<Item = &'a str>) -> Cow<'a, str> {
    pieces.fold(Cow::Borrowed(""), |all, piece| all + piece)
}

fn candidate(text: &str) -> (Method, &str) {
    if text.is_empty() {
        (Method::Empty, "")
    } else if let Some(mark) = answer_markers::last(text) {
        (mark.method, mark.answer)
    } else if let Some(block) = search::closing_fence(text) {
        (Method::Fence, block)
    } else {
        (Method::LastLine, search::last_lines(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_reasoning_pieces_in_order() {
        let reply = Reply { content: "<think>two</think>a<THOUGHT>three</Thought>b", reasoning: Some("one") };
        let found = extract(&reply);
        assert_eq!(found.reasoning.as_deref(), Some("one\n\ntwo\n\nthree"));
        assert_eq!(found.text, "a\n\nb");
    }

    #[test]
    fn trace_keeps_white_space() {
        let trace = |content, reasoning| extract(&Reply { content, reasoning }).trace.map(Cow::into_owned);
        assert_eq!(trace("7", Some("  abc \n\n")).as_deref(), Some("  abc \n\n"));
        assert_eq!(trace("<think>\n a\n</think>7", None).as_deref(), Some("\n a\n"));
        assert_eq!(trace("<think>\n\n</think>7", None), None);
        assert_eq!(trace("<think> b </think>7", Some("a ")).as_deref(), Some("a  b "));
    }

    #[test]
    fn blank_reasoning_is_none() {
        assert_eq!(extract(&Reply { content: "<think>\n\n</think>7", reasoning: Some(" ") }).reasoning, None);
    }

    #[test]
    fn single_piece_is_borrowed() {
        let found = extract(&Reply::from("<think>a</think>b"));
        assert!(matches!((found.reasoning, found.text), (Some(Cow::Borrowed("a")), Cow::Borrowed("b"))));
    }
}
