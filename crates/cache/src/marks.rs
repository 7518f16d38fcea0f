//! How many problems of each point were ever requested, so that scoring finds every response.

use std::collections::{BTreeMap, HashMap};

use rusqlite::params;

use crate::error::CacheError;
use crate::reader::{Reader, Record};

/// How many problems of a point were requested by an evaluation: problems `0..requested` may have responses.
///
/// A mark that is too high only costs the time to generate problems that were not requested. That is why seed, evaluation
/// and point are enough to identify it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The global seed of the study.
    pub seed: i64,
    /// Identifier of the evaluation.
    pub eval: String,
    /// Name of the task.
    pub task: String,
    /// Parameters of the point as canonical JSON.
    pub params: String,
    /// Number of problems from the start of the point's stream.
    pub requested: u64,
}

/// The marks of one evaluation.
#[derive(Debug, Clone, Default)]
pub struct Marks {
    /// By task and parameters.
    requested: HashMap<String, HashMap<String, u64>>,
}

impl Marks {
    /// Number of problems requested at a point; 0 without a mark.
    pub fn requested(&self, task: &str, params: &str) -> u64 {
        self.requested.get(task).and_then(|points| points.get(params)).copied().unwrap_or(0)
    }

    /// Raises the mark of a point. Returns whether it was lower before.
    pub fn raise(&mut self, task: &str, params: &str, requested: u64) -> bool {
        let is_higher = requested > self.requested(task, params);
        if is_higher {
            let points = self.requested.entry(task.to_owned()).or_default();
            points.insert(params.to_owned(), requested);
        }
        is_higher
    }
}

/// Number of cache entries of one model in one namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeldEntries {
    /// All entries.
    pub entries: u64,
    /// Entries without a mark: from a cache of format 1, or from an export without marks.
    pub unmarked: u64,
}

impl Reader {
    /// The marks of an evaluation and seed.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn marks(&self, seed: i64, eval: &str) -> Result<Marks, CacheError> {
        let mut marks = Marks::default();
        if !self.has_marks {
            return Ok(marks);
        }
        let to_cache_error = CacheError::from_sqlite(&self.path);
        let mut statement = self
            .connection
            .prepare_cached("SELECT task, params, requested FROM marks WHERE seed = ?1 AND eval = ?2")
            .map_err(to_cache_error)?;
        let mut rows = statement.query(params![seed, eval]).map_err(to_cache_error)?;
        while let Some(row) = rows.next().map_err(to_cache_error)? {
            let text =
                |column| row.get_ref(column).and_then(|text| Ok(text.as_str()?)).map_err(to_cache_error);
            marks.raise(text(0)?, text(1)?, row.get(2).map_err(to_cache_error)?);
        }
        Ok(marks)
    }

    /// Every mark.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn all_marks(&self) -> Result<Vec<Mark>, CacheError> {
        const SQL: &str = "SELECT seed, eval, task, params, requested FROM marks ORDER BY 1, 2, 3, 4";
        if !self.has_marks {
            return Ok(Vec::new());
        }
        let read = || -> rusqlite::Result<Vec<Mark>> {
            let mut statement = self.connection.prepare(SQL)?;
            let marks = statement.query_map([], |row| {
                Ok(Mark {
                    seed: row.get(0)?,
                    eval: row.get(1)?,
                    task: row.get(2)?,
                    params: row.get(3)?,
                    requested: row.get(4)?,
                })
            })?;
            marks.collect()
        };
        read().map_err(CacheError::from_sqlite(&self.path))
    }

    /// Counts the entries of each namespace and model. An unreadable model has an empty name.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn held_entries(&self) -> Result<BTreeMap<(String, String), HeldEntries>, CacheError> {
        const COUNT: &str = "SELECT namespace, model, count(*), sum(marked = 0) FROM entries
            WHERE model IS NOT NULL GROUP BY model, namespace";
        let to_cache_error = CacheError::from_sqlite(&self.path);
        let mut held: BTreeMap<(String, String), HeldEntries> = BTreeMap::new();
        if self.has_marks {
            let mut statement = self.connection.prepare_cached(COUNT).map_err(to_cache_error)?;
            let mut rows = statement.query([]).map_err(to_cache_error)?;
            while let Some(row) = rows.next().map_err(to_cache_error)? {
                let name = |column| row.get(column).map_err(to_cache_error);
                let count = |column| row.get(column).map_err(to_cache_error);
                let found = HeldEntries { entries: count(2)?, unmarked: count(3)? };
                held.insert((name(0)?, name(1)?), found);
            }
        }
        // The model of older entries is only in their requests.
        let unrecorded = if self.has_marks {
            "SELECT * FROM entries WHERE model IS NULL"
        } else {
            "SELECT * FROM entries"
        };
        let mut statement = self.connection.prepare_cached(unrecorded).map_err(to_cache_error)?;
        let mut rows = statement.query([]).map_err(to_cache_error)?;
        while let Some(row) = rows.next().map_err(to_cache_error)? {
            let record = Record::from_row(row).map_err(to_cache_error)?;
            let namespace = record.id().map_or_else(|_| String::new(), |id| id.namespace.to_string());
            let found = held.entry((namespace, record.model().unwrap_or_default())).or_default();
            found.entries += 1;
            found.unmarked += 1;
        }
        Ok(held)
    }
}
