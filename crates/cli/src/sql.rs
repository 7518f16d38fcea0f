//! `reasonscape sql`: SQL queries on a study or a Parquet file.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Duration;

use reasonscape_limits::{max_file_bytes, read_to_end};
use reasonscape_points::{PointsDb, QueryResult, query_parquet_file};
use serde_json::Value;

use super::Global;
use super::study::study_folder;
use crate::error::CliError;
use crate::output::write_file;
use crate::output::{Format, print_rendered};
use reasonscape_analysis::tables::{Cell, Table};

/// Query a study with SQL
///
/// Tables: `trials` (one row per trial), `points` (one row per point, with its counters) and `evals`. Additional functions:
/// `wilson_low(k, n)`, `wilson_high`, `estimate_low(mode, n, n_e, n_t, g)`, `estimate_high`,
/// `estimate_center`, `estimate_margin`, `mcnemar_p(b, c)`, `score_band(score)`, `status_name(status)`,
/// `param(params, name)`, `param_number(params, name)`, `facet(groups, name)`. Queries are read-only.
///
/// Also queries a Parquet file, such as that of `metrics --per-task`, as the table `results`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape sql my-study \"SHOW COLUMNS FROM trials\"\n  reasonscape sql my-study \
    \"SELECT model, sum(n_e) AS correct, sum(n) AS n FROM points GROUP BY model\"\n  reasonscape sql my-study \
    --output hard.parquet \"SELECT * FROM trials WHERE param_number(params, 'length') > 16\"\n  reasonscape sql \
    answers.parquet \"SELECT category, avg(CAST(correct AS INT)) FROM results GROUP BY category\""
)]
pub(super) struct Sql {
    /// Study directory, its study.toml, or a .parquet file.
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// SQL query, or `-` to read it from standard input.
    #[arg(value_name = "SQL")]
    query: String,
    /// Write the result to this Parquet file instead of printing it.
    #[arg(long, short, value_name = "FILE.parquet")]
    output: Option<PathBuf>,
    /// Stop after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
}

/// Maximum number of rows printed as a table.
const MAX_ROWS: usize = 10_000;

impl Sql {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let is_file =
            self.study.extension().is_some_and(|ending| ending == "parquet") && !self.study.is_dir();
        let query = match self.query.as_str() {
            "-" => {
                let bytes = read_to_end(std::io::stdin(), max_file_bytes())?;
                String::from_utf8(bytes).map_err(|_| CliError::input("the query is not UTF-8 text"))?
            }
            text => text.to_owned(),
        };
        let timeout = self.timeout;
        super::wait_for(async {
            let Some(seconds) = timeout else { return self.print(&query, is_file, global).await };
            let printed = self.print(&query, is_file, global);
            tokio::time::timeout(Duration::from_secs(seconds), printed).await.unwrap_or_else(|_| {
                Err(CliError::Internal(anyhow::anyhow!(
                    "the query took longer than {seconds} s; select fewer rows, or raise `--timeout`"
                )))
            })
        })
    }

    async fn print(&self, query: &str, is_file: bool, global: Global) -> Result<(), CliError> {
        let result = if is_file {
            query_parquet_file(&self.study, query).await?
        } else {
            let db = PointsDb::open(&study_folder(&self.study)?).await?;
            for remark in db.remarks() {
                global.note(remark);
            }
            db.sql(query).await?
        };
        match (&self.output, global.format) {
            (Some(path), _) => write_parquet(result, path, global).await,
            (None, Format::Json) => print_json(result).await,
            (None, Format::Csv) => print_csv(result).await,
            (None, _) => print_table(result, global).await,
        }
    }
}

async fn write_parquet(result: QueryResult, path: &std::path::Path, global: Global) -> Result<(), CliError> {
    // A query may fail midway, so the result is complete before it replaces the file.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::tempfile_in(folder.unwrap_or(std::path::Path::new("."))).map_err(|error| {
        CliError::Internal(anyhow::Error::new(error).context(format!("failed to write `{}`", path.display())))
    })?;
    let rows = result.write_parquet(&mut file, path).await?;
    std::io::Seek::rewind(&mut file)?;
    write_file(path, |out| {
        std::io::copy(&mut file, out)?;
        Ok(())
    })?;
    global.note(format_args!("wrote {rows} rows to `{}`", path.display()));
    Ok(())
}

/// An array of objects, one row per line.
async fn print_json(mut result: QueryResult) -> Result<(), CliError> {
    let columns = result.columns();
    let mut out = BufWriter::new(crate::output::stdout());
    out.write_all(b"[")?;
    let mut separator = "\n";
    while let Some(rows) = result.next().await? {
        for row in rows {
            let object: serde_json::Map<String, Value> = columns.iter().cloned().zip(row).collect();
            let line = serde_json::to_string(&object).map_err(|error| CliError::Internal(error.into()))?;
            write!(out, "{separator}  {line}")?;
            separator = ",\n";
        }
    }
    out.write_all(b"\n]\n")?;
    Ok(out.flush()?)
}

async fn print_csv(mut result: QueryResult) -> Result<(), CliError> {
    let csv_error = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        kind => CliError::Internal(anyhow::anyhow!("{kind:?}")),
    };
    let mut writer = csv::Writer::from_writer(crate::output::stdout());
    writer.write_record(result.columns()).map_err(csv_error)?;
    while let Some(rows) = result.next().await? {
        for row in rows {
            writer.write_record(row.iter().map(cell_text)).map_err(csv_error)?;
        }
    }
    Ok(writer.flush()?)
}

/// A value without the quotes that JSON puts around text.
fn cell_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

async fn print_table(mut result: QueryResult, global: Global) -> Result<(), CliError> {
    let mut table = Table::new(&result.columns());
    let mut rows_shown = 0;
    'all: while let Some(rows) = result.next().await? {
        for row in rows {
            if rows_shown == MAX_ROWS {
                global.note(format_args!(
                    "only the first {MAX_ROWS} rows are shown; `--format csv` prints all"
                ));
                break 'all;
            }
            table.push(row.iter().map(cell).collect());
            rows_shown += 1;
        }
    }
    print_rendered(global, &table)
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::Missing,
        Value::Number(number) => match number.as_f64() {
            // Integers have no decimals.
            Some(value) => Cell::Number(value, if number.is_f64() { 4 } else { 0 }),
            None => Cell::text(number.to_string()),
        },
        other => Cell::text(cell_text(other)),
    }
}
