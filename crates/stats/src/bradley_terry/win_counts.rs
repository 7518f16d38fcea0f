//! Wins and losses, and whether they determine finite ratings (Ford's condition).

use super::MIN_WIN_PROPORTION;
use crate::StatsError;

/// Smaller counts are treated as zero: their products with extreme ratings would underflow.
const MIN_GAMES: f64 = 1e-30;

/// Wins and losses, both stored by row for contiguous access per model.
pub(super) struct WinCounts {
    pub(super) models: usize,
    pub(super) wins: Vec<f64>,
    pub(super) losses: Vec<f64>,
}

impl WinCounts {
    pub(super) fn empty(models: usize) -> Result<Self, StatsError> {
        if models == 0 {
            return Err(StatsError::Empty { name: "wins" });
        }
        Ok(Self { models, wins: vec![0.0; models * models], losses: vec![0.0; models * models] })
    }

    pub(super) fn record(&mut self, winner: usize, loser: usize, count: f64) {
        let count = if count < MIN_GAMES { 0.0 } else { count };
        self.wins[winner * self.models + loser] = count;
        self.losses[loser * self.models + winner] = count;
    }

    /// Adds a tie to each pair, so that every model has won and lost.
    pub(super) fn add_ties(&mut self, games: f64) {
        for a in 0..self.models {
            for b in (0..self.models).filter(|&b| b != a) {
                self.wins[a * self.models + b] += games / 2.0;
                self.losses[a * self.models + b] += games / 2.0;
            }
        }
    }

    /// A group of models that never loses to the rest, if there is one: Ford's condition fails.
    ///
    /// Checking one model is enough: if all reach it along wins and it reaches all, the graph is strongly connected.
    pub(super) fn unbeaten(&self) -> Option<Vec<usize>> {
        let counts = |a: usize, b: usize| {
            let (won, lost) = (self.wins[a * self.models + b], self.losses[a * self.models + b]);
            won > MIN_WIN_PROPORTION * (won + lost)
        };
        // Models that don't reach model 0 along wins have never beaten one that does.
        let above = self.reached(|from, to| counts(to, from));
        if above.contains(&false) {
            return Some(members(&above, true));
        }
        let below = self.reached(counts);
        below.contains(&false).then(|| members(&below, false))
    }

    /// The models reachable from model 0 along the edges.
    fn reached(&self, edge: impl Fn(usize, usize) -> bool) -> Vec<bool> {
        let mut reached = vec![false; self.models];
        reached[0] = true;
        let mut waiting = vec![0];
        while let Some(from) = waiting.pop() {
            for (to, is_reached) in reached.iter_mut().enumerate() {
                if !*is_reached && edge(from, to) {
                    *is_reached = true;
                    waiting.push(to);
                }
            }
        }
        reached
    }
}

/// The models that are in the set, or those that are not.
fn members(set: &[bool], inside: bool) -> Vec<usize> {
    set.iter().enumerate().filter(|&(_, &is_in)| is_in == inside).map(|(model, _)| model).collect()
}
