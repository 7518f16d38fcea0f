//! Threads that plan and run queries.
//!
//! The query engine recurses over expressions while it plans and evaluates them, so it needs a stack of known size. Planning
//! can take seconds without yielding, so it must not happen on the threads of the caller, which answer other requests
//! meanwhile.

use std::io;
use std::sync::LazyLock;

use datafusion::arrow::array::RecordBatch;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SQLOptions;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use datafusion::prelude::{DataFrame, SessionContext};
use futures_util::StreamExt;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinSet;

/// Stack size of a query thread; memory is used only as deep as the stack gets. Enough for the largest filter and the
/// largest SQL query that are accepted, in a build without optimization.
const STACK_SIZE: usize = 64 * 1024 * 1024;
/// Maximum number of threads that read files.
const MAX_READERS: usize = 64;
/// Batches that a query computes ahead of its reader.
const BATCHES_AHEAD: usize = 2;

static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .thread_name("query")
        .thread_stack_size(STACK_SIZE)
        .max_blocking_threads(MAX_READERS)
        .enable_all()
        .build()
});

fn threads() -> Result<&'static Handle, DataFusionError> {
    match &*RUNTIME {
        Ok(runtime) => Ok(runtime.handle()),
        Err(error) => {
            Err(DataFusionError::Execution(format!("failed to start threads for queries: {error}")))
        }
    }
}

/// Runs a future on a query thread. It is aborted when the caller drops it, such as after a timeout.
async fn run<T: Send + 'static>(
    work: impl Future<Output = Result<T, DataFusionError>> + Send + 'static,
) -> Result<T, DataFusionError> {
    let mut tasks = JoinSet::new();
    tasks.spawn_on(work, threads()?);
    match tasks.join_next().await {
        Some(Ok(result)) => result,
        Some(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Some(Err(_)) | None => Err(DataFusionError::Execution("the query was cancelled".to_owned())),
    }
}

/// Plans and runs a query, and returns all its rows.
pub(crate) async fn collect(frame: DataFrame) -> Result<Vec<RecordBatch>, DataFusionError> {
    run(frame.collect()).await
}

/// Plans a query and starts it. Dropping the stream ends it.
pub(crate) async fn execute_stream(frame: DataFrame) -> Result<SendableRecordBatchStream, DataFusionError> {
    let mut batches = run(frame.execute_stream()).await?;
    let mut results = RecordBatchReceiverStreamBuilder::new(batches.schema(), BATCHES_AHEAD);
    let sender = results.tx();
    let forward = async move {
        while let Some(batch) = batches.next().await {
            if sender.send(batch).await.is_err() {
                break;
            }
        }
        Ok(())
    };
    results.spawn_on(forward, threads()?);
    Ok(results.build())
}

/// Plans a query that a user wrote; anything but reading is refused.
pub(crate) async fn plan_sql(session: &SessionContext, query: &str) -> Result<DataFrame, DataFusionError> {
    let (session, query) = (session.clone(), query.to_owned());
    run(async move {
        let reading =
            SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
        session.sql_with_options(&query, reading).await
    })
    .await
}
