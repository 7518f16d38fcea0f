//! Bounds the memory of SQL queries that users write.

use std::sync::{Arc, LazyLock};

use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::SessionContext;
use reasonscape_limits::memory_limit;

use crate::PointsError;

/// Sorts and aggregations that don't fit spill to temporary files; a join that doesn't fit is an error. One pool for all
/// queries of the process.
static RUNTIME: LazyLock<Result<Arc<RuntimeEnv>, String>> = LazyLock::new(|| {
    let pool = FairSpillPool::new(usize::try_from(memory_limit() / 2).unwrap_or(usize::MAX));
    RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(pool))
        .build_arc()
        .map_err(|error| error.strip_backtrace())
});

/// The same tables and functions, with bounded memory. Queries of the program itself are not bounded: a join of ten
/// million trials can't spill.
pub(crate) fn with_memory_limit(session: &SessionContext) -> Result<SessionContext, PointsError> {
    let runtime = RUNTIME.as_ref().map_err(|problem| PointsError::Query(problem.clone()))?;
    let state = SessionStateBuilder::new_from_existing(session.state()).with_runtime_env(Arc::clone(runtime));
    Ok(SessionContext::new_with_state(state.build()))
}
