//! Accounts for every entry of the cache: each is matched with a problem of the study, or reported as unmatched.

use std::collections::{BTreeMap, HashSet};

use reasonscape_cache::HeldEntries;
use reasonscape_study::{Eval, Selection, Study, is_selected};
use serde::Serialize;

use crate::scoring::UnmarkedEntries;

/// The cache entries of one model and namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EntryAccount {
    /// The model as requests name it.
    pub model: String,
    /// The namespace in the cache; usually empty.
    pub namespace: String,
    /// The evaluations that share them, by id.
    #[serde(skip)]
    pub evals: Vec<String>,
    /// All entries.
    pub held: u64,
    /// Those that are responses to problems of the study.
    pub matched: u64,
    /// Those that are not; `held` is the sum of both.
    pub unmatched: u64,
}

/// Accounts while units are evaluated.
pub(super) struct EntryAccounts {
    held: BTreeMap<(String, String), HeldEntries>,
    unmarked: BTreeMap<(String, String), UnmarkedEntries>,
    /// Entries that were matched with problems in this evaluation, so that none counts twice.
    matched: BTreeMap<(String, String), HashSet<i64>>,
    /// Entries of units that have not changed.
    unchanged: BTreeMap<(String, String), u64>,
    /// Those of which every evaluation and task is evaluated, with the ids of their evaluations.
    complete: BTreeMap<(String, String), Vec<String>>,
}

fn identity(eval: &Eval) -> (String, String) {
    (eval.cache_namespace.clone(), eval.model.clone())
}

impl EntryAccounts {
    pub(super) fn new(
        held: BTreeMap<(String, String), HeldEntries>,
        study: &Study,
        selection: &Selection,
    ) -> Self {
        let mut complete: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for eval in &study.evals {
            complete.entry(identity(eval)).or_default().push(eval.id.to_string());
        }
        if !selection.tasks.is_empty() {
            complete.clear();
        }
        for eval in study.evals.iter().filter(|eval| !is_selected(eval, selection)) {
            complete.remove(&identity(eval));
        }
        let unmarked = study.evals.iter().map(|eval| {
            let pair = identity(eval);
            let entries = held.get(&pair).map_or(0, |held| held.unmarked);
            (pair, UnmarkedEntries::new(entries))
        });
        let unmarked = unmarked.collect();
        Self { held, unmarked, matched: BTreeMap::new(), unchanged: BTreeMap::new(), complete }
    }

    /// The entries of the model of an evaluation that came without a mark.
    pub(super) fn unmarked(&self, eval: &Eval) -> &UnmarkedEntries {
        &self.unmarked[&identity(eval)]
    }

    /// Whether entries without a mark may belong to problems that were not looked up.
    pub(super) fn may_have_more(&self, eval: &Eval) -> bool {
        let pair = identity(eval);
        let known = self.matched_count(&pair) + self.unchanged.get(&pair).copied().unwrap_or(0);
        let held = self.held.get(&pair).map_or(0, |held| held.entries);
        held > known && !self.unmarked(eval).is_empty()
    }

    /// Adds entries that were matched with problems.
    pub(super) fn add(&mut self, eval: &Eval, entries: &[i64]) {
        self.matched.entry(identity(eval)).or_default().extend(entries);
    }

    fn matched_count(&self, pair: &(String, String)) -> u64 {
        self.matched.get(pair).map_or(0, HashSet::len) as u64
    }

    /// Adds the entries of a unit that has not changed.
    pub(super) fn add_unchanged(&mut self, eval: &Eval, entries: u64) {
        *self.unchanged.entry(identity(eval)).or_default() += entries;
    }

    pub(super) fn finish(mut self) -> Vec<EntryAccount> {
        let complete = std::mem::take(&mut self.complete);
        let account = |(pair, evals): ((String, String), Vec<String>)| {
            let held = self.held.get(&pair).map_or(0, |held| held.entries);
            let scored = self.matched_count(&pair);
            // An entry that came while this evaluation went on is matched, but was not there to be counted.
            let held = held.max(scored);
            let matched = (scored + self.unchanged.get(&pair).copied().unwrap_or(0)).min(held);
            let (namespace, model) = pair;
            EntryAccount { model, namespace, evals, held, matched, unmatched: held - matched }
        };
        complete.into_iter().map(account).collect()
    }
}
