//! Savings from the cache, per eval and summed over all runs.
//!
//! The table is created by the first run that saves something. It is not part of the format: programs that don't know it
//! ignore it.

use rusqlite::{OptionalExtension, params};

use crate::error::CacheError;
use crate::{Cache, Reader};

const CREATE: &str = "CREATE TABLE IF NOT EXISTS savings (
    eval              TEXT    NOT NULL PRIMARY KEY,
    requests          INTEGER NOT NULL,
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cost              REAL                                 -- NULL: no prices known
) STRICT, WITHOUT ROWID";

/// Requests that were not sent because the cache held their responses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Savings {
    /// Requests not sent.
    pub requests: u64,
    /// Prompt tokens of their responses, as far as the provider reported them.
    pub prompt_tokens: u64,
    /// Completion tokens of their responses.
    pub completion_tokens: u64,
    /// Cost avoided; `None` where no prices are known.
    pub cost: Option<f64>,
}

impl Savings {
    /// Adds other savings to these. The cost is that of the evals with known prices.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.cost = match (self.cost, other.cost) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        };
    }

    /// Prompt and completion tokens together.
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens + self.completion_tokens
    }
}

impl Cache {
    /// Adds the savings of one run to those of earlier runs, by eval id.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be written.
    pub fn add_savings<'i>(
        &self,
        savings: impl IntoIterator<Item = (&'i str, Savings)>,
    ) -> Result<(), CacheError> {
        const ADD: &str = "INSERT INTO savings (eval, requests, prompt_tokens, completion_tokens, cost)
            VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET
                requests = requests + excluded.requests,
                prompt_tokens = prompt_tokens + excluded.prompt_tokens,
                completion_tokens = completion_tokens + excluded.completion_tokens,
                cost = coalesce(cost + excluded.cost, cost, excluded.cost)";
        let mut savings = savings.into_iter().filter(|(_, saved)| saved.requests > 0).peekable();
        if savings.peek().is_none() {
            return Ok(());
        }
        self.write_connection()?.transaction(|transaction| {
            transaction.execute(CREATE, [])?;
            let mut statement = transaction.prepare(ADD)?;
            for (eval, Savings { requests, prompt_tokens, completion_tokens, cost }) in savings {
                statement.execute(params![eval, requests, prompt_tokens, completion_tokens, cost])?;
            }
            Ok(())
        })
    }
}

impl Reader {
    /// Savings over all runs, by eval id; empty if none were recorded.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn savings(&self) -> Result<Vec<(String, Savings)>, CacheError> {
        const EXISTS: &str = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'savings'";
        const READ: &str =
            "SELECT eval, requests, prompt_tokens, completion_tokens, cost FROM savings ORDER BY eval";
        let read = || -> rusqlite::Result<Vec<(String, Savings)>> {
            if self.connection.query_row(EXISTS, [], |_| Ok(())).optional()?.is_none() {
                return Ok(Vec::new());
            }
            let mut statement = self.connection.prepare(READ)?;
            let rows = statement.query_map([], |row| {
                let saved = Savings {
                    requests: row.get(1)?,
                    prompt_tokens: row.get(2)?,
                    completion_tokens: row.get(3)?,
                    cost: row.get(4)?,
                };
                Ok((row.get(0)?, saved))
            })?;
            rows.collect()
        };
        read().map_err(CacheError::from_sqlite(&self.path))
    }

    /// Number of the newest entry; 0 if the cache is empty. Entries stored later have higher numbers.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn last_entry(&self) -> Result<i64, CacheError> {
        self.connection
            .query_row("SELECT coalesce(max(id), 0) FROM entries", [], |row| row.get(0))
            .map_err(CacheError::from_sqlite(&self.path))
    }
}
