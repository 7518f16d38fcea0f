//! Finds the prompts and replies of trials in the response cache.

use std::path::Path;
use std::sync::Arc;

use reasonscape_cache::{Cache, CacheError, Reader};
use reasonscape_core::EntryId;
use reasonscape_providers::Transcript;
use reasonscape_study::Study;

use crate::PointsError;

/// Reads prompts and replies from the response cache.
#[derive(Debug)]
pub struct TranscriptReader {
    reader: Option<Reader>,
}

impl TranscriptReader {
    /// Opens a cache for reading; if it doesn't exist, every lookup returns `None`.
    ///
    /// # Errors
    /// A [`PointsError`] when the cache cannot be read.
    pub fn open(cache: Option<&Cache>) -> Result<Self, PointsError> {
        Ok(Self { reader: cache.map(Cache::reader).transpose()? })
    }

    /// Opens the cache of a study directory for reading; if it doesn't exist, every lookup returns `None`. No file is created
    /// or changed: analyses run on a read-only server too.
    ///
    /// # Errors
    /// A [`PointsError`] when the cache cannot be read.
    pub fn open_study(dir: &Path) -> Result<Self, PointsError> {
        match Cache::open_untouched(dir.join(Study::CACHE_FILE)) {
            Ok(cache) => Self::open(Some(&cache)),
            Err(CacheError::Missing { .. } | CacheError::NoDirectory { .. }) => Self::open(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The prompt and reply stored under a key. A damaged entry counts as missing: the trial is useful without its text.
    ///
    /// # Errors
    /// A [`PointsError`] when the cache cannot be read.
    pub fn find(&mut self, key: &str, repeat: u32, model: &str) -> Result<Option<Transcript>, PointsError> {
        let (Some(reader), Ok(key)) = (&self.reader, key.parse()) else { return Ok(None) };
        // If the study has a cache namespace per endpoint, it follows the model's name after `#`.
        let namespaces = std::iter::once("").chain(model.match_indices('#').map(|(at, _)| &model[at + 1..]));
        for namespace in namespaces {
            let id = EntryId { key, namespace: Arc::from(namespace), repeat };
            match reader.entry(&id) {
                Ok(Some(entry)) => {
                    let response = &entry.response;
                    return Ok(Transcript::parse(&entry.request, response.status, &response.body));
                }
                Ok(None) => {}
                Err(CacheError::DamagedEntry { .. }) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }
}
