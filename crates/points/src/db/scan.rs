//! The `trials` table. File footers are read when the study is opened, so that a query lists no directories and reads
//! only the columns it needs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::stats::Precision;
use datafusion::common::{DataFusionError, ScalarValue, Statistics, ToDFSchema};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingTableUrl, PartitionedFile};
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::{TableProvider, TableType};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use url::Url;

use crate::files::FileInfo;
use crate::{PointsError, schema};

/// A table provider over the trials files.
#[derive(Debug)]
pub(super) struct TrialsTable {
    schema: SchemaRef,
    files: Vec<TrialsFile>,
}

#[derive(Debug)]
struct TrialsFile {
    path: PathBuf,
    /// The file as DataFusion's object store sees it.
    url: ListingTableUrl,
    length: u64,
    modified: SystemTime,
    /// Minimum and maximum of its columns: a column with a single value, such as the model, is not read at all.
    statistics: Arc<Statistics>,
}

impl TrialsTable {
    pub(super) fn new(files: &[FileInfo]) -> Result<Self, PointsError> {
        let schema = in_memory_schema();
        let files = files
            .iter()
            .map(|file| {
                let path = std::path::absolute(&file.path).map_err(PointsError::io("find", &file.path))?;
                // A URL, because DataFusion treats `[` and `*` in a path as glob patterns.
                let url = Url::from_file_path(&path).expect("an absolute path has a URL");
                let (length, modified) = file_stamp(&path)?;
                Ok(TrialsFile {
                    url: ListingTableUrl::try_new(url, None)?,
                    path,
                    length,
                    modified,
                    statistics: Arc::new(DFParquetMetadata::statistics_from_parquet_metadata(
                        file.footer(),
                        &schema,
                    )?),
                })
            })
            .collect::<Result<Vec<_>, PointsError>>()?;
        Ok(Self { schema, files })
    }
}

/// The in-memory schema, with string views that are passed on without copying.
fn in_memory_schema() -> SchemaRef {
    let fields = schema::TRIALS.fields().iter().map(|field| match field.data_type() {
        DataType::Utf8 => field.as_ref().clone().with_data_type(DataType::Utf8View),
        _ => field.as_ref().clone(),
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The size and modification time of a file.
fn file_stamp(path: &Path) -> Result<(u64, SystemTime), PointsError> {
    let metadata = std::fs::metadata(path).map_err(PointsError::io("read", path))?;
    Ok((metadata.len(), metadata.modified().map_err(PointsError::io("read", path))?))
}

impl TrialsFile {
    /// The current file, or `None` if no row of it can match. Another process may have replaced it since the study was
    /// opened.
    fn current(&self, schema: &Schema, filters: &[Expr]) -> Result<Option<PartitionedFile>, PointsError> {
        let (length, modified) = file_stamp(&self.path)?;
        let is_same = (length, modified) == (self.length, self.modified);
        if is_same && filters.iter().any(|filter| rules_out(filter, schema, &self.statistics)) {
            return Ok(None);
        }
        let mut file = PartitionedFile::new(String::new(), length);
        file.object_meta.location = self.url.prefix().clone();
        file.object_meta.last_modified = modified.into();
        if is_same {
            file = file.with_statistics(Arc::clone(&self.statistics));
        }
        Ok(Some(file))
    }
}

/// Whether no row can match a condition, given the minima and maxima of the columns. DataFusion has its own pruning, but
/// it takes longer per file than reading a small file.
///
/// Only equality of texts is considered, as for an evaluation or a task; any other condition may match.
fn rules_out(filter: &Expr, schema: &Schema, statistics: &Statistics) -> bool {
    let is_out_of_range = |column: &Expr, wanted: &Expr| {
        let (Expr::Column(column), Expr::Literal(wanted, _)) = (column, wanted) else { return false };
        let (Ok(index), Some(Some(wanted))) = (schema.index_of(&column.name), wanted.try_as_str()) else {
            return false;
        };
        let Some(column) = statistics.column_statistics.get(index) else { return false };
        let text = |end: &Precision<ScalarValue>| match end {
            // A truncated statistic is not the exact minimum or maximum.
            Precision::Exact(end) => end.try_as_str().flatten().map(ToOwned::to_owned),
            Precision::Inexact(_) | Precision::Absent => None,
        };
        text(&column.min_value).is_some_and(|min| wanted < min.as_str())
            || text(&column.max_value).is_some_and(|max| wanted > max.as_str())
    };
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            rules_out(left, schema, statistics) || rules_out(right, schema, statistics)
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            rules_out(left, schema, statistics) && rules_out(right, schema, statistics)
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            is_out_of_range(left, right) || is_out_of_range(right, left)
        }
        Expr::InList(InList { expr, list, negated: false }) => {
            list.iter().all(|wanted| is_out_of_range(expr, wanted))
        }
        _ => false,
    }
}

#[async_trait]
impl TableProvider for TrialsTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> datafusion::common::Result<Vec<TableProviderFilterPushDown>> {
        // Inexact: the reader may pass rows that do not match.
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
        let mut source = ParquetSource::new(Arc::clone(&self.schema));
        if let Some(filter) = conjunction(filters.to_vec()) {
            let columns = Arc::clone(&self.schema).to_dfschema()?;
            source = source.with_predicate(state.create_physical_expr(filter, &columns)?);
        }
        let files = self.files.iter().filter_map(|file| file.current(&self.schema, filters).transpose());
        let files = files.collect::<Result<Vec<_>, PointsError>>();
        let files = FileGroup::new(files.map_err(|error| DataFusionError::External(Box::new(error)))?);
        let scan = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
            .with_file_groups(files.split_files(state.config().target_partitions()))
            .with_projection_indices(projection.cloned())?
            // Filters are applied after the scan, so a scan with a filter can't stop at the limit.
            .with_limit(limit.filter(|_| filters.is_empty()))
            .build();
        let parquet = ParquetFormat::default().with_options(state.table_options().parquet.clone());
        parquet.create_physical_plan(state, scan).await
    }
}
