//! `reasonscape report`: a study on one page.

use std::path::{Path, PathBuf};

use reasonscape_analysis::PointQuery;
use reasonscape_analysis::report::{Report, html, markdown, report};
use reasonscape_points::PointsDb;
use reasonscape_stats::Mode;

use super::Global;
use super::study::study_folder;
use crate::error::CliError;
use crate::output::write_file;

/// Write a report of a study: one page to send, print and keep
///
/// FILE.html is a page that needs no network; FILE.md is text, with its pictures in the folder FILE-figures beside it.
/// Findings are made of significant results only.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape report my-study -o report.html\n  \
    reasonscape report my-study -o report.md --filter groups=arch:moe")]
pub(super) struct ReportCommand {
    /// Folder of the study, or its study.toml.
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// The file, which ends in .html or .md [default: reports/report.html in the study].
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only points whose COLUMN is VALUE, as in `reasonscape analyze`; may be repeated.
    #[arg(long = "filter", value_name = "COLUMN=VALUE")]
    filters: Vec<String>,
    /// Estimator: `E_I` `E_P` `E_O` `C_I` `C_P` `C_O` `K_I` `K_P` `K_O`.
    #[arg(long, default_value_t = Mode::C_P)]
    mode: Mode,
    /// What the report is called [default: the name of the folder].
    #[arg(long)]
    title: Option<String>,
}

/// The forms of a report.
#[derive(Debug, Clone, Copy)]
enum ReportFormat {
    Html,
    Markdown,
}

impl ReportFormat {
    fn from_path(path: &Path) -> Result<Self, CliError> {
        match path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).as_deref() {
            Some("html" | "htm") => Ok(Self::Html),
            Some("md" | "markdown") => Ok(Self::Markdown),
            _ => Err(CliError::input(format_args!(
                "cannot tell what kind of report `{}` is to be; give it the ending .html or .md",
                path.display()
            ))),
        }
    }
}

impl ReportCommand {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let folder = study_folder(&self.study)?;
        let path = self.output.unwrap_or_else(|| folder.join("reports").join("report.html"));
        let format = ReportFormat::from_path(&path)?;
        let query = PointQuery::parse(&self.filters)?;
        let title = self.title.unwrap_or_else(|| folder_name(&folder));
        super::wait_for(async {
            let db = PointsDb::open(&folder).await?;
            for remark in db.remarks() {
                global.note(remark);
            }
            let report = report(&db, &query, &title, self.mode).await?;
            if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                make_folder(parent)?;
            }
            match format {
                ReportFormat::Html => write_html(&report, &path)?,
                ReportFormat::Markdown => {
                    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                    let figures_folder = path.with_file_name(format!("{stem}-figures"));
                    let (text, figures) = markdown(&report, &format!("{stem}-figures"));
                    make_folder(&figures_folder)?;
                    for figure in figures {
                        write_file(&figures_folder.join(&figure.name), |out| {
                            Ok(out.write_all(figure.svg.as_bytes())?)
                        })?;
                    }
                    write_file(&path, |out| Ok(out.write_all(text.as_bytes())?))?;
                }
            }
            global.note(format_args!("the report is in `{}`", path.display()));
            Ok(())
        })
    }
}

/// Writes the report as a page.
pub(super) async fn write_html_report(
    db: &PointsDb,
    query: &PointQuery,
    title: &str,
    mode: Mode,
    path: &Path,
) -> Result<(), CliError> {
    let report = report(db, query, title, mode).await?;
    if let Some(parent) = path.parent() {
        make_folder(parent)?;
    }
    write_html(&report, path)
}

fn write_html(report: &Report, path: &Path) -> Result<(), CliError> {
    write_file(path, |out| Ok(out.write_all(html(report).as_bytes())?))
}

fn make_folder(folder: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(folder).map_err(|error| {
        CliError::Internal(
            anyhow::Error::new(error).context(format!("failed to make `{}`", folder.display())),
        )
    })
}

/// The last part of a folder's path, however it was written.
fn folder_name(folder: &Path) -> String {
    let absolute = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    absolute.file_name().map_or_else(|| "Study".to_owned(), |name| name.to_string_lossy().into_owned())
}
