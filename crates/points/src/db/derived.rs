//! Results that take long to compute, stored next to the files that they were computed from.

use std::fs::File;
use std::path::PathBuf;

use reasonscape_core::{Json, cache_key};
use reasonscape_limits::{max_file_bytes, read_to_end};
use reasonscape_study::write_file;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::PointsDb;
use crate::FORMAT;

/// A stored result with the generation of the files that it belongs to.
#[derive(Serialize, Deserialize)]
struct Derived<T> {
    generation: String,
    value: T,
}

impl PointsDb {
    /// A hash that changes with every file of the study, and with what is read of them.
    pub fn generation(&self) -> &str {
        &self.generation
    }

    /// Stores results that take long to compute in the study. By default they are only read: a server may be read-only, and
    /// keeps what it computed in memory.
    #[must_use]
    pub fn storing_derived(mut self) -> Self {
        self.stores_derived = true;
        self
    }

    /// Reads a stored result; `None` if there is none or the files have changed since.
    pub fn read_derived<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let file = File::open(self.derived_path(name)).ok()?;
        let text = read_to_end(file, max_file_bytes()).ok()?;
        let derived: Derived<T> = serde_json::from_slice(&text).ok()?;
        (derived.generation == self.generation).then_some(derived.value)
    }

    /// Stores a result for the files as they are, if [`storing_derived`](Self::storing_derived) was called. Without permission
    /// to write it is computed again the next time.
    pub fn write_derived<T: Serialize>(&self, name: &str, value: &T) {
        let path = self.derived_path(name);
        if !self.stores_derived || !path.parent().is_some_and(std::path::Path::is_dir) {
            return;
        }
        let derived = Derived { generation: self.generation.clone(), value };
        let _ = write_file(&path, |out| {
            serde_json::to_writer(&mut *out, &derived).map_err(std::io::Error::other)
        });
    }

    /// Hidden, because it is not one of the files that a study consists of.
    fn derived_path(&self, name: &str) -> PathBuf {
        self.study.join("points").join(format!(".{name}.json"))
    }
}

/// The generation of a set of files, each named by an id that is never used twice, and of the manifest that lists them.
pub(super) fn generation<'a>(
    files: impl Iterator<Item = &'a str>,
    first: Option<u64>,
    manifest: Option<u64>,
) -> String {
    let mut files: Vec<Json> = files.map(|file| Json::String(file.to_owned())).collect();
    files.push(Json::String(format!("{FORMAT} {first:?} {manifest:?}")));
    cache_key(&Json::Array(files))
}
