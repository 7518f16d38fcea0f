//! Creates runs from the study, a suite or a dataset.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use axum::http::StatusCode;
use reasonscape_core::{Item, detect_scorer};
use reasonscape_study::{Selection, check_selection};
use reasonscape_study::{record_version, write_file, write_study};

use super::create_request::{CreateRunRequest, RunSource};
use super::errors::{StudyFileError, invalid_lines_error, io_error};
use super::record::RunRecord;
use super::{Runs, describe_source, run_name, selected};
use crate::error::ApiError;
use reasonscape_ingest::IngestError;
use reasonscape_ingest::dataset_reader::{DatasetError, dataset_name, sample_items};

/// Maximum number of stored runs.
const MAX_RUNS: usize = 1_000;

impl Runs {
    /// Creates a run; no requests are sent yet.
    pub(crate) fn create(&self, request: &CreateRunRequest) -> Result<RunRecord, ApiError> {
        if fs::read_dir(self.store.folder()).is_ok_and(|runs| runs.count() >= MAX_RUNS) {
            let full = format!("there are {MAX_RUNS} runs already; delete some");
            return Err(ApiError::new(StatusCode::CONFLICT, full));
        }
        match request.source() {
            RunSource::Study => self.create_from_study(request),
            RunSource::Suite => self.create_from_suite(request),
            RunSource::Dataset => self.create_from_dataset(request),
        }
    }

    fn create_from_study(&self, request: &CreateRunRequest) -> Result<RunRecord, ApiError> {
        let study = self.store.study(self.store.home())?;
        let selection = Selection {
            evals: request.evals.clone(),
            tasks: request.tasks.clone(),
            count: request.count.map(|count| count as usize),
            ..Selection::default()
        };
        check_selection(&study, &selection).map_err(ApiError::bad_request)?;
        let (name, folder) =
            run_name::new_folder(&self.store.folder(), &study.suite.name).map_err(|e| io_error(&e))?;
        let mut record = RunRecord::new(&name, format!("this study: {}", describe_source(&study)));
        (record.of_study, record.form) = (true, request.form());
        record.models = selected(&study, &selection).map(|eval| eval.name.clone()).collect();
        (record.evals, record.tasks, record.count) = (selection.evals, selection.tasks, request.count);
        cleanup_on_error(&folder, record.save(&folder))?;
        Ok(record)
    }

    fn create_from_suite(&self, request: &CreateRunRequest) -> Result<RunRecord, ApiError> {
        if let Some(name) = request.built_in_suite()? {
            return self.create_with_study(request, name, &format!("suite = \"{name}\""), |_| Ok(()));
        }
        let home = self.store.study(self.store.home())?;
        let Some(dataset) = &home.dataset else {
            let text = home.suite_text.clone();
            let write = |folder: &Path| write_text(&folder.join("suite.toml"), &text);
            return self.create_with_study(request, &home.suite.name, "suite = \"suite.toml\"", write);
        };
        let (file, lines) = (format!("{}.jsonl", run_name::slug(dataset.name())), dataset.to_lines());
        let scorer = dataset.scorer().map(|scorer| format!("\nscorer = \"{scorer}\"")).unwrap_or_default();
        let line = format!("dataset = \"{file}\"{scorer}");
        self.create_with_study(request, dataset.name(), &line, |folder| {
            write_text(&folder.join(&file), &lines)
        })
    }

    fn create_from_dataset(&self, request: &CreateRunRequest) -> Result<RunRecord, ApiError> {
        let Some(name) = &request.dataset else {
            return Err(ApiError::bad_request("missing `dataset`; select an uploaded dataset or upload one"));
        };
        let file = self.store.datasets().file(name)?;
        let scorer = request.scorer()?;
        let items = request.dataset_format()?.items(&file).map_err(|unread| match unread {
            DatasetError::File(IngestError::InvalidInput(problem)) => ApiError::bad_request(problem),
            DatasetError::File(_) => ApiError::bad_request("the dataset can't be read"),
            DatasetError::Lines(problems) => invalid_lines_error(&problems),
        })?;
        let items = match request.sample {
            Some(sample) => sample_items(items, sample as usize, 0),
            None => items,
        };
        let lines: String = items.iter().map(Item::to_json).map(|item| format!("{item}\n")).collect();
        let copy = format!("{}.jsonl", dataset_name(&file));
        let scorer = scorer.unwrap_or_else(|| detect_scorer(&items).scorer);
        let line = format!("dataset = \"{copy}\"\nscorer = \"{scorer}\"");
        self.create_with_study(request, &dataset_name(&file), &line, |folder| {
            write_text(&folder.join(&copy), &lines)
        })
    }

    /// Creates a run with a study of its own, and removes it again if the study is invalid.
    fn create_with_study(
        &self,
        request: &CreateRunRequest,
        called: &str,
        line: &str,
        prepare: impl FnOnce(&Path) -> Result<(), StudyFileError>,
    ) -> Result<RunRecord, ApiError> {
        let text = request.study_toml(line)?;
        let (name, folder) =
            run_name::new_folder(&self.store.folder(), called).map_err(|error| io_error(&error))?;
        // The run means by `quick` what the study that it is started from means.
        let version = self.store.study(self.store.home()).ok().and_then(|home| home.version());
        let record = |version| record_version(&folder, version).map_err(StudyFileError::from);
        let study = prepare(&folder)
            .and_then(|()| version.map_or(Ok(()), record))
            .and_then(|()| write_study(&folder, &text));
        let study = cleanup_on_error(&folder, study)?;
        self.check_keys(study.evals.iter()).inspect_err(|_| {
            let _ = fs::remove_dir_all(&folder);
        })?;
        let study = Arc::new(study);
        self.store.cache_study(&folder, &study);
        let mut record = RunRecord::new(&name, describe_source(&study));
        record.form = request.form();
        record.models = study.evals.iter().map(|eval| eval.name.clone()).collect();
        cleanup_on_error(&folder, record.save(&folder))?;
        Ok(record)
    }
}

fn write_text(path: &Path, text: &str) -> Result<(), StudyFileError> {
    write_file(path, |out| Ok(out.write_all(text.as_bytes())?))
}

/// Removes the new folder of a run that could not be written.
fn cleanup_on_error<T, E>(folder: &Path, written: Result<T, E>) -> Result<T, ApiError>
where
    StudyFileError: From<E>,
{
    written.map_err(|error| {
        let _ = fs::remove_dir_all(folder);
        ApiError::from(&StudyFileError::from(error))
    })
}
