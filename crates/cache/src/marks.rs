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
    /// How the number of problems was chosen.
    pub sampling: PointSampling,
}

/// How the runs so far chose the number of problems of a point. Empty if only earlier versions sampled it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PointSampling {
    /// The largest count that a run without a precision target planned.
    pub fixed_count: Option<u64>,
    /// The stop rule of the latest run with a precision target, as text.
    pub stop_rule: Option<String>,
}

impl PointSampling {
    /// Adds what a later run did.
    fn merge(&mut self, later: &Self) {
        self.fixed_count = self.fixed_count.max(later.fixed_count);
        if later.stop_rule.is_some() {
            self.stop_rule.clone_from(&later.stop_rule);
        }
    }
}

/// The marks of one evaluation.
#[derive(Debug, Clone, Default)]
pub struct Marks {
    /// By task and parameters.
    points: HashMap<String, HashMap<String, (u64, PointSampling)>>,
}

impl Marks {
    fn point(&self, task: &str, params: &str) -> Option<&(u64, PointSampling)> {
        self.points.get(task)?.get(params)
    }

    /// Number of problems requested at a point; 0 without a mark.
    pub fn requested(&self, task: &str, params: &str) -> u64 {
        self.point(task, params).map_or(0, |(requested, _)| *requested)
    }

    /// How the number of problems of a point was chosen, if recorded.
    pub fn sampling(&self, task: &str, params: &str) -> Option<&PointSampling> {
        self.point(task, params).map(|(_, sampling)| sampling)
    }

    /// Raises the mark of a point and adds how it was sampled. Returns whether that changed anything.
    pub fn raise(&mut self, task: &str, params: &str, requested: u64, sampling: &PointSampling) -> bool {
        let known = self.point(task, params).cloned().unwrap_or_default();
        let mut raised = known.clone();
        raised.0 = raised.0.max(requested);
        raised.1.merge(sampling);
        let is_changed = raised != known;
        if is_changed {
            self.points.entry(task.to_owned()).or_default().insert(params.to_owned(), raised);
        }
        is_changed
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
            .prepare_cached(&format!(
                "SELECT task, params, requested, {} FROM marks WHERE seed = ?1 AND eval = ?2",
                self.sampling_columns()
            ))
            .map_err(to_cache_error)?;
        let mut rows = statement.query(params![seed, eval]).map_err(to_cache_error)?;
        while let Some(row) = rows.next().map_err(to_cache_error)? {
            let text =
                |column| row.get_ref(column).and_then(|text| Ok(text.as_str()?)).map_err(to_cache_error);
            let sampling = PointSampling {
                fixed_count: row.get(3).map_err(to_cache_error)?,
                stop_rule: row.get(4).map_err(to_cache_error)?,
            };
            marks.raise(text(0)?, text(1)?, row.get(2).map_err(to_cache_error)?, &sampling);
        }
        Ok(marks)
    }

    /// Every mark.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn all_marks(&self) -> Result<Vec<Mark>, CacheError> {
        let sql = format!(
            "SELECT seed, eval, task, params, requested, {} FROM marks ORDER BY 1, 2, 3, 4",
            self.sampling_columns()
        );
        if !self.has_marks {
            return Ok(Vec::new());
        }
        let read = || -> rusqlite::Result<Vec<Mark>> {
            let mut statement = self.connection.prepare(&sql)?;
            let marks = statement.query_map([], |row| {
                Ok(Mark {
                    seed: row.get(0)?,
                    eval: row.get(1)?,
                    task: row.get(2)?,
                    params: row.get(3)?,
                    requested: row.get(4)?,
                    sampling: PointSampling { fixed_count: row.get(5)?, stop_rule: row.get(6)? },
                })
            })?;
            marks.collect()
        };
        read().map_err(CacheError::from_sqlite(&self.path))
    }

    /// The columns of [`PointSampling`]; marks of earlier versions lack them.
    fn sampling_columns(&self) -> &'static str {
        if self.columns.sampling { "fixed_count, stop_rule" } else { "NULL, NULL" }
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
