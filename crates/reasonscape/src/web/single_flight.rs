//! Answers that are worked out once, however many readers ask at the same time.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

/// Answers that are kept; readers mostly ask the same.
const KEPT: usize = 32;

/// An answer, once there is one.
type Cell<V> = Arc<OnceCell<Arc<V>>>;

/// The latest answers by their question.
#[derive(Debug)]
pub(super) struct Memo<K, V> {
    answers: Mutex<Vec<(K, Cell<V>)>>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self { answers: Mutex::new(Vec::new()) }
    }
}

impl<K: PartialEq, V> Memo<K, V> {
    /// The answer, worked out now if nobody has asked yet. An error is not kept: the next reader tries again.
    pub(super) async fn get<E>(
        &self,
        question: K,
        work: impl AsyncFnOnce() -> Result<V, E>,
    ) -> Result<Arc<V>, E> {
        let cell = self.cell(question);
        let answer = cell.get_or_try_init(async || work().await.map(Arc::new)).await?;
        Ok(Arc::clone(answer))
    }

    fn cell(&self, question: K) -> Cell<V> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = answers.iter().position(|(known, _)| *known == question);
        let (question, cell) =
            known.map_or_else(|| (question, Arc::default()), |place| answers.remove(place));
        if answers.len() >= KEPT {
            answers.remove(0);
        }
        answers.push((question, Arc::clone(&cell)));
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_is_worked_out_once_and_an_error_again() {
        let memo: Memo<u32, u32> = Memo::default();
        assert_eq!(memo.get(1, async || Err::<u32, _>("no")).await, Err("no"));
        assert_eq!(*memo.get(1, async || Ok::<_, ()>(7)).await.unwrap(), 7);
        assert_eq!(*memo.get(1, async || Ok::<_, ()>(8)).await.unwrap(), 7);
        for question in 2..100 {
            memo.get(question, async || Ok::<_, ()>(question)).await.unwrap();
        }
        assert_eq!(memo.answers.lock().unwrap().len(), KEPT);
        assert_eq!(*memo.get(1, async || Ok::<_, ()>(8)).await.unwrap(), 8);
    }
}
