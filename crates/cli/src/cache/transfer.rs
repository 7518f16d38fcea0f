//! `cache export` and `cache import`: entries as lines of JSON.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use reasonscape_cache::{ExportLine, Importer};
use reasonscape_limits::{is_too_large, max_line_bytes, read_line};

use super::{CacheArgs, CacheProgress, pluralize_entries, quoted};
use crate::error::CliError;
use crate::output::write_file;
use crate::{Global, InputFile};

/// Export the entries as JSON Lines
///
/// Each line has `key`, `namespace`, `repeat`, `status`, `latency_ms`, `latency_us` if it was recorded, `received_ms`,
/// `request` and `response`. Lines of kind `mark` come first: they record how many problems of each point were requested,
/// so that `evaluate` finds every response.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  reasonscape cache export my-study -o part.jsonl")]
pub(super) struct Export {
    #[command(flatten)]
    study: CacheArgs,
    /// Output file [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Don't write `mark` lines, which versions before 0.2 can't read.
    #[arg(long)]
    entries_only: bool,
}

impl Export {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let reader = self.study.read()?;
        let mut progress = CacheProgress::new(global, "exported", Some(reader.count()?));
        let mut exported = 0;
        let mut lines = |out: &mut dyn Write| {
            reader.export(|line| {
                match &line {
                    ExportLine::Mark(_) if self.entries_only => return Ok(()),
                    ExportLine::Entry { entry, .. } if self.entries_only => {
                        writeln!(out, "{}", entry.to_line())?;
                    }
                    _ => writeln!(out, "{}", line.to_line())?,
                }
                if let ExportLine::Entry { .. } = line {
                    exported += 1;
                    progress.update(exported);
                }
                Ok(())
            })
        };
        if let Some(path) = &self.output {
            write_file(path, |out| lines(out))?;
        } else {
            let mut stdout = std::io::BufWriter::new(crate::output::stdout());
            lines(&mut stdout)?;
            stdout.flush()?;
        }
        global.note(format_args!("exported {}", pluralize_entries(exported)));
        Ok(())
    }
}

/// Import entries written by `cache export`
///
/// Keys are recomputed from the requests. Existing entries are kept, so importing twice changes nothing. Creates the cache
/// if there is none.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  reasonscape cache import my-study part.jsonl")]
pub(super) struct Import {
    #[command(flatten)]
    study: CacheArgs,
    #[command(flatten)]
    input: InputFile,
}

impl Import {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let (name, input) = self.lines()?;
        let mut importer = self.study.open()?.importer()?;
        let progress = CacheProgress::new(global, "imported", None);
        let read = read_all(input, &mut importer, progress);
        // Entries before an invalid line are valid and worth keeping.
        let imported = importer.finish()?;
        read.map_err(|wrong| {
            let stored = pluralize_entries(imported.stored);
            let advice = format!(
                "{stored} before it imported; fix the line and import again, nothing is stored twice"
            );
            match wrong {
                ImportError::Line(number, problem) => {
                    CliError::input(format!("{name}: line {number}: {problem}; {advice}"))
                }
                ImportError::Read(error) if is_too_large(&error) => {
                    CliError::input(format!("{name}: {error}; {advice}"))
                }
                ImportError::Read(error) => {
                    CliError::Internal(anyhow::Error::new(error).context(format!("failed to read {name}")))
                }
                ImportError::Cache(failure) => failure,
            }
        })?;
        let known = match imported.known {
            0 => String::new(),
            known => format!("; {known} already existed"),
        };
        global.note(format_args!("imported {}{known}", pluralize_entries(imported.stored)));
        Ok(())
    }

    fn lines(&self) -> Result<(String, Box<dyn BufRead>), CliError> {
        if self.input.path == Path::new("-") {
            return Ok(("standard input".to_owned(), Box::new(BufReader::new(std::io::stdin()))));
        }
        let name = quoted(&self.input.path);
        let file = std::fs::File::open(&self.input.path)
            .with_context(|| format!("failed to read {name}"))
            .map_err(CliError::Input)?;
        Ok((name, Box::new(BufReader::new(file))))
    }
}

/// Why an import ended early.
enum ImportError {
    Line(usize, String),
    Read(std::io::Error),
    Cache(CliError),
}

fn read_all(
    mut input: impl BufRead,
    importer: &mut Importer,
    mut progress: CacheProgress,
) -> Result<(), ImportError> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if read_line(&mut input, max_line_bytes(), &mut line).map_err(ImportError::Read)? == 0 {
            break;
        }
        let text = std::str::from_utf8(&line)
            .map_err(|_| ImportError::Line(number, "invalid UTF-8; save the file as UTF-8".to_owned()))?;
        if text.trim().is_empty() {
            continue;
        }
        let line = ExportLine::parse(text.trim_end())
            .map_err(|error| ImportError::Line(number, format!("{:#}", anyhow::Error::new(error))))?;
        importer.add_line(line).map_err(|error| ImportError::Cache(error.into()))?;
        progress.update(number as u64);
    }
    Ok(())
}
