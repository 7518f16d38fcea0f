//! Computes the metrics of a study's trials from the lines of an export.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use reasonscape_analysis::AnalysisError;
use reasonscape_analysis::answer_files::{AnswerOptions, AnswerSummary, Log, summarize_stream};
use reasonscape_ingest::Progress;
use reasonscape_study::write_file;

use crate::line_channel::line_channel;

/// Name of the input in errors.
const NAME: &str = "the trials of the study";

/// Computes metrics while `export` writes lines, and writes those of each response to `per_task` if given.
///
/// The lines are those of an exported file, so that the file yields exactly the same metrics. Nothing is written to
/// `per_task` if `export` fails.
///
/// # Errors
/// The error of `export`, or an [`AnalysisError`] if a line is invalid or the file cannot be written.
pub fn summarize_export<T, E: From<AnalysisError> + From<io::Error>>(
    options: &AnswerOptions,
    bins: u32,
    per_task: Option<&Path>,
    export: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<(AnswerSummary, T), E> {
    let Some(path) = per_task else { return measure(options, bins, &mut [], export) };
    let mut summary = None;
    write_file(path, |out| {
        let mut log = Log::new(out, path)?;
        summary = Some(measure(options, bins, std::slice::from_mut(&mut log), export)?);
        Ok::<(), E>(log.close()?)
    })?;
    Ok(summary.expect("the file was written, so its content was computed"))
}

fn measure<T, E: From<AnalysisError> + From<io::Error>>(
    options: &AnswerOptions,
    bins: u32,
    logs: &mut [Log<'_>],
    export: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<(AnswerSummary, T), E> {
    /// Bytes of lines per block.
    const BLOCK_BYTES: usize = 1 << 18;
    let (sender, reader) = line_channel();
    std::thread::scope(|scope| {
        let measuring =
            scope.spawn(move || summarize_stream(NAME, reader, options, bins, &Progress::default(), logs));
        let mut out = BufWriter::with_capacity(BLOCK_BYTES, sender);
        let exported = export(&mut out).and_then(|exported| Ok(out.flush().map(|()| exported)?));
        let is_unread = out.get_ref().is_unread();
        drop(out);
        let measured = measuring.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (exported, measured) {
            (Ok(exported), measured) => Ok((measured?, exported)),
            // The export failed because computing the metrics had failed.
            (Err(_), Err(error)) if is_unread => Err(error.into()),
            (Err(error), _) => Err(error),
        }
    })
}
