//! What a provider's reply means, whichever provider it was.

/// A reply, taken apart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Completion {
    /// The text of the answer.
    pub content: String,
    /// The reasoning, where the provider gives it in a field of its own.
    pub reasoning: Option<String>,
    /// Why the model stopped.
    pub finish: Finish,
    /// What was counted.
    pub usage: Usage,
    /// Log-probabilities of the tokens of the answer, where they were asked for.
    pub logprobs: Option<Vec<TokenLogprob>>,
    /// The model that says it answered.
    pub model: Option<String>,
    /// Whether a token count was above [`Usage::MAX_TOKENS`] and is therefore absent from `usage`.
    pub has_implausible_usage: bool,
}

impl Completion {
    /// Whether the answer was cut short, which makes the trial a truncated one.
    pub fn is_truncated(&self) -> bool {
        self.finish == Finish::Length
    }

    /// Whether the reply may be cached, so that it is never requested again: not one that is empty and gives no
    /// reason. A refusal by a content filter is a response like others.
    ///
    /// ```
    /// use reasonscape_providers::{Completion, Finish};
    ///
    /// let cut = Completion { finish: Finish::Length, ..Completion::default() };
    /// assert!(cut.is_truncated() && cut.is_cacheable());
    /// assert!(!Completion::default().is_cacheable());
    /// ```
    pub fn is_cacheable(&self) -> bool {
        match self.finish {
            Finish::Missing => !self.content.trim().is_empty() || self.reasoning.is_some(),
            Finish::Stop | Finish::Length | Finish::ContentFilter | Finish::Other(_) => true,
        }
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Finish {
    /// It was done.
    Stop,
    /// The token limit or the context was used up: the trial is truncated.
    Length,
    /// A content filter refused the prompt or cut the answer: the trial is completed, incorrect and a refusal.
    ContentFilter,
    /// Anything else, as the provider called it.
    Other(String),
    /// The provider did not say.
    #[default]
    Missing,
}

/// Tokens, as far as the provider counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Of the prompt.
    pub prompt_tokens: Option<u64>,
    /// Of the completion, reasoning included.
    pub completion_tokens: Option<u64>,
    /// Of the reasoning alone.
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// The largest number of tokens that is believed: a hundred times the longest context of any model. One reply that claims
    /// more would dominate every sum and mean.
    pub const MAX_TOKENS: u64 = 1_000_000_000;

    /// The plausible counts, and whether there were others.
    pub fn split_implausible(self) -> (Self, bool) {
        let plausible = |count: Option<u64>| count.filter(|count| *count <= Self::MAX_TOKENS);
        let usage = Self {
            prompt_tokens: plausible(self.prompt_tokens),
            completion_tokens: plausible(self.completion_tokens),
            reasoning_tokens: plausible(self.reasoning_tokens),
        };
        (usage, usage != self)
    }
}

/// A token of the answer and how likely the model found it.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenLogprob {
    /// The token's text.
    pub token: String,
    /// Natural logarithm of its probability.
    pub logprob: f64,
}
