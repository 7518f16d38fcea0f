//! The `trials` table. File footers are read when the study is opened, so that a query lists no directories and reads
//! only the columns it needs, from the files that were there when it was opened.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::stats::Precision;
use datafusion::common::{DataFusionError, ScalarValue, Statistics, ToDFSchema};
use datafusion::datasource::listing::{ListingTableUrl, PartitionedFile};
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::parquet::ParquetFileReaderFactory;
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::{TableProvider, TableType};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown};
use datafusion::parquet::arrow::arrow_reader::ArrowReaderOptions;
use datafusion::parquet::arrow::async_reader::AsyncFileReader;
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::metadata::ParquetMetaData;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures_util::FutureExt;
use url::Url;

use crate::file_source::FileSource;
use crate::files::FileInfo;
use crate::{BoxFuture, PointsError, schema};

/// A table provider over the trials files.
#[derive(Debug)]
pub(super) struct TrialsTable {
    schema: SchemaRef,
    files: Vec<TrialsFile>,
    readers: Arc<OpenedFiles>,
}

#[derive(Debug)]
struct TrialsFile {
    /// The file as DataFusion names it.
    url: ListingTableUrl,
    size: u64,
    /// Minimum and maximum of its columns: a column with a single value, such as the model, is not read at all.
    statistics: Arc<Statistics>,
}

impl TrialsTable {
    pub(super) fn new(files: &[FileInfo]) -> Result<Self, PointsError> {
        let schema = in_memory_schema();
        let mut opened = HashMap::new();
        let files = files
            .iter()
            .map(|file| {
                let path = without_parents(&file.path).map_err(PointsError::io("find", &file.path))?;
                // A URL, because DataFusion treats `[` and `*` in a path as glob patterns.
                let url = Url::from_file_path(&path).expect("an absolute path has a URL");
                let url = ListingTableUrl::try_new(url, None)?;
                let reader =
                    FileReader { source: Arc::clone(file.source()), footer: Arc::clone(file.footer()) };
                opened.insert(url.prefix().to_string(), reader);
                Ok(TrialsFile {
                    url,
                    size: file.source().size(),
                    statistics: Arc::new(DFParquetMetadata::statistics_from_parquet_metadata(
                        file.footer(),
                        &schema,
                    )?),
                })
            })
            .collect::<Result<Vec<_>, PointsError>>()?;
        Ok(Self { schema, files, readers: Arc::new(OpenedFiles(opened)) })
    }
}

/// The path as a name without `..`, which DataFusion refuses. The file behind it is open already.
fn without_parents(path: &Path) -> std::io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    Ok(absolute.components().fold(PathBuf::new(), |mut path, component| {
        if component == Component::ParentDir {
            path.pop();
        } else {
            path.push(component);
        }
        path
    }))
}

/// The in-memory schema, with string views that are passed on without copying.
fn in_memory_schema() -> SchemaRef {
    let fields = schema::TRIALS.fields().iter().map(|field| match field.data_type() {
        DataType::Utf8 => field.as_ref().clone().with_data_type(DataType::Utf8View),
        _ => field.as_ref().clone(),
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

impl TrialsFile {
    /// The file, or `None` if no row of it can match.
    fn matching(&self, schema: &Schema, filters: &[Expr]) -> Option<PartitionedFile> {
        if filters.iter().any(|filter| rules_out(filter, schema, &self.statistics)) {
            return None;
        }
        let mut file = PartitionedFile::new(String::new(), self.size);
        file.object_meta.location = self.url.prefix().clone();
        Some(file.with_statistics(Arc::clone(&self.statistics)))
    }
}

/// The files of the table by DataFusion's name: what a scan reads from, instead of opening files by their path.
#[derive(Debug)]
struct OpenedFiles(HashMap<String, FileReader>);

#[derive(Debug, Clone)]
struct FileReader {
    source: Arc<FileSource>,
    footer: Arc<ParquetMetaData>,
}

impl ParquetFileReaderFactory for OpenedFiles {
    fn create_reader(
        &self,
        _partition_index: usize,
        file: PartitionedFile,
        _metadata_size_hint: Option<usize>,
        _metrics: &ExecutionPlanMetricsSet,
    ) -> datafusion::common::Result<Box<dyn AsyncFileReader + Send>> {
        let reader = self.0.get(file.object_meta.location.as_ref());
        let unknown = || DataFusionError::Internal(format!("unknown file `{}`", file.object_meta.location));
        Ok(Box::new(reader.ok_or_else(unknown)?.clone()))
    }
}

impl AsyncFileReader for FileReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, Result<Bytes, ParquetError>> {
        self.get_byte_ranges(vec![range]).map(|read| Ok(read?.swap_remove(0))).boxed()
    }

    fn get_byte_ranges(
        &mut self,
        ranges: Vec<Range<u64>>,
    ) -> BoxFuture<'_, Result<Vec<Bytes>, ParquetError>> {
        let source = Arc::clone(&self.source);
        // Not on the threads that other requests of a server wait for.
        let read = tokio::task::spawn_blocking(move || {
            ranges.iter().map(|range| source.read(range)).collect::<Result<Vec<_>, PointsError>>()
        });
        async move {
            let read = read.await.map_err(|error| ParquetError::External(Box::new(error)))?;
            read.map_err(|error| ParquetError::External(Box::new(error)))
        }
        .boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        _options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, Result<Arc<ParquetMetaData>, ParquetError>> {
        std::future::ready(Ok(Arc::clone(&self.footer))).boxed()
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
        let readers: Arc<dyn ParquetFileReaderFactory> = Arc::clone(&self.readers) as _;
        let mut source = ParquetSource::new(Arc::clone(&self.schema))
            .with_table_parquet_options(state.table_options().parquet.clone())
            .with_parquet_file_reader_factory(readers);
        if let Some(filter) = conjunction(filters.to_vec()) {
            let columns = Arc::clone(&self.schema).to_dfschema()?;
            source = source.with_predicate(state.create_physical_expr(filter, &columns)?);
        }
        let files = self.files.iter().filter_map(|file| file.matching(&self.schema, filters));
        let files = FileGroup::new(files.collect());
        let scan = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
            .with_file_groups(files.split_files(state.config().target_partitions()))
            .with_projection_indices(projection.cloned())?
            // Filters are applied after the scan, so a scan with a filter can't stop at the limit.
            .with_limit(limit.filter(|_| filters.is_empty()))
            .build();
        Ok(DataSourceExec::from_data_source(scan))
    }
}
