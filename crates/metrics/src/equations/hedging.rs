//! Words around an equation that correct it, ask for it, or suppose it.

use super::tokens::Kind;
use super::words::Word;
use super::{Line, WINDOW};

impl Line<'_> {
    /// Whether the words around an equation deny, ask, suppose or correct it, or the whole is quoted.
    pub(super) fn is_hedged(&self, start: usize, end: usize) -> bool {
        let mut clause = true;
        for at in (start.saturating_sub(WINDOW)..start).rev() {
            match self.tokens[at].kind {
                Kind::End | Kind::Question | Kind::Exclamation => break,
                Kind::Stop if self.slice(at) == "," => clause = false,
                Kind::Word => {
                    let word = Word::new(self.slice(at));
                    clause &= !word.is("then");
                    if word.is_negation() || word.is_redefinition() || (clause && word.is_hypothetical()) {
                        return true;
                    }
                }
                _ => {}
            }
        }
        let quoted = start > 0
            && self.tokens[start - 1].kind == Kind::Quote
            && self.kind(end).is_some_and(|kind| matches!(kind, Kind::Quote | Kind::End | Kind::Stop));
        if quoted {
            return true;
        }
        let mut sentences = 0;
        let mut words = 0;
        for at in end..self.tokens.len().min(end + WINDOW) {
            match self.tokens[at].kind {
                Kind::Question if sentences == 0 => return true,
                Kind::End | Kind::Exclamation | Kind::Question => {
                    sentences += 1;
                    words = 0;
                    if sentences == 2 {
                        break;
                    }
                }
                Kind::Unknown if sentences == 0 && at == end => return true,
                Kind::Word => {
                    words += 1;
                    if words > if sentences == 0 { 14 } else { 6 } {
                        if sentences > 0 {
                            break;
                        }
                        continue;
                    }
                    let word = Word::new(self.slice(at));
                    if word.is_negation()
                        || word.is_correction()
                        || (sentences == 0 && word.is_redefinition())
                    {
                        return true;
                    }
                }
                _ => {}
            }
        }
        false
    }
}
