//! `reasonscape report`: writes a report of a study.

use std::path::{Path, PathBuf};

use reasonscape_analysis::PointQuery;
use reasonscape_analysis::report::{Report, html, markdown, report};
use reasonscape_points::PointsDb;
use reasonscape_stats::Mode;

use super::Global;
use super::study::study_folder;
use crate::board::{BoardArgs, note_implied_bootstrap};
use crate::error::CliError;
use crate::mode::ModeArgs;
use crate::output::write_file;

/// Write a report of a study as HTML or Markdown
///
/// FILE.html is a self-contained page; FILE.md comes with its figures in the directory FILE-figures next to it. Only
/// significant results are listed as findings.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape report my-study -o report.html\n  \
    reasonscape report my-study -o report.md --filter groups=arch:moe")]
pub(super) struct ReportCommand {
    /// Study directory, or its study.toml.
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Output file (.html or .md) [default: reports/report.html in the study].
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only points whose COLUMN matches VALUE, as in `reasonscape analyze` (repeatable).
    #[arg(long = "filter", value_name = "COLUMN=VALUE")]
    filters: Vec<String>,
    #[command(flatten)]
    mode_args: ModeArgs,
    #[command(flatten)]
    board_args: BoardArgs,
    /// Title of the report [default: the name of the study directory].
    #[arg(long)]
    title: Option<String>,
}

/// The file formats of a report.
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
                "unknown report format `{}`; expected a file name that ends in .html or .md",
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
        let options = self.board_args.options(self.mode_args.mode(Mode::C_P).into());
        note_implied_bootstrap(&options, global);
        super::wait_for(async {
            let db = PointsDb::open(&folder).await?.storing_derived();
            for remark in db.remarks() {
                global.note(remark);
            }
            let report = report(&db, &query, &title, options).await?;
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
            global.note(format_args!("wrote the report to `{}`", path.display()));
            Ok(())
        })
    }
}

/// Writes the report as HTML.
pub(super) async fn write_html_report(
    db: &PointsDb,
    query: &PointQuery,
    title: &str,
    path: &Path,
) -> Result<(), CliError> {
    let report = report(db, query, title, Mode::C_P.into()).await?;
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
            anyhow::Error::new(error).context(format!("failed to create `{}`", folder.display())),
        )
    })
}

/// The name of a directory, even if its path is relative.
fn folder_name(folder: &Path) -> String {
    let absolute = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    absolute.file_name().map_or_else(|| "Study".to_owned(), |name| name.to_string_lossy().into_owned())
}
