//! Results that are computed once, however many requests need them at the same time.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

/// Results kept of each kind; most requests repeat one of the latest.
const CAPACITY: usize = 32;

/// A result, once there is one.
type Cell<V> = Arc<OnceCell<V>>;

/// The latest results by their key, the most recently used last.
#[derive(Debug)]
pub(crate) struct SingleFlight<K, V> {
    entries: Mutex<Vec<(K, Cell<V>)>>,
    is_same_kind: fn(&K, &K) -> bool,
}

impl<K, V> Default for SingleFlight<K, V> {
    fn default() -> Self {
        Self::with_kinds(|_, _| true)
    }
}

impl<K, V> SingleFlight<K, V> {
    /// A cache that keeps [`CAPACITY`] results of each kind of key, so that many results of one kind do not evict the
    /// others.
    pub(crate) fn with_kinds(is_same_kind: fn(&K, &K) -> bool) -> Self {
        Self { entries: Mutex::new(Vec::new()), is_same_kind }
    }
}

impl<K: PartialEq, V: Clone> SingleFlight<K, V> {
    /// The result for a key; computed now unless it is known or being computed. An error is not kept: the next request
    /// tries again.
    pub(crate) async fn get<E>(&self, key: K, work: impl AsyncFnOnce() -> Result<V, E>) -> Result<V, E> {
        let cell = self.cell(key);
        cell.get_or_try_init(async || work().await).await.cloned()
    }

    fn cell(&self, key: K) -> Cell<V> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let known = entries.iter().position(|(known, _)| *known == key);
        let (key, cell) = known.map_or_else(|| (key, Arc::default()), |index| entries.remove(index));
        let is_same_kind = |(known, _): &(K, Cell<V>)| (self.is_same_kind)(known, &key);
        if entries.iter().filter(|entry| is_same_kind(entry)).count() >= CAPACITY
            && let Some(oldest) = entries.iter().position(is_same_kind)
        {
            entries.remove(oldest);
        }
        entries.push((key, Arc::clone(&cell)));
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn computes_a_result_once_and_retries_after_an_error() {
        let flights: SingleFlight<u32, u32> = SingleFlight::default();
        assert_eq!(flights.get(1, async || Err::<u32, _>("no")).await, Err("no"));
        assert_eq!(flights.get(1, async || Ok::<_, ()>(7)).await.unwrap(), 7);
        assert_eq!(flights.get(1, async || Ok::<_, ()>(8)).await.unwrap(), 7);
        for key in 2..100 {
            flights.get(key, async || Ok::<_, ()>(key)).await.unwrap();
        }
        assert_eq!(flights.entries.lock().unwrap().len(), CAPACITY);
        assert_eq!(flights.get(1, async || Ok::<_, ()>(8)).await.unwrap(), 8);
    }

    #[tokio::test]
    async fn evicts_only_results_of_the_same_kind() {
        let flights: SingleFlight<(bool, u32), u32> = SingleFlight::with_kinds(|a, b| a.0 == b.0);
        flights.get((true, 1), async || Ok::<_, ()>(7)).await.unwrap();
        for key in 0..100 {
            flights.get((false, key), async || Ok::<_, ()>(key)).await.unwrap();
        }
        assert_eq!(flights.entries.lock().unwrap().len(), CAPACITY + 1);
        assert_eq!(flights.get((true, 1), async || Ok::<_, ()>(8)).await.unwrap(), 7);
    }
}
