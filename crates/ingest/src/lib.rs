//! Reads files that other tools wrote: rows of JSONL, CSV, TSV and Parquet, datasets, answered questions, and logs of
//! lm-eval and Inspect.
//!
//! # Promises
//! Only reads; nothing is written and nothing is sent. Invalid input is reported with its file and line. Files
//! are read in bounded batches, so that memory does not grow with the file, except for `.json` files of rows; what is held
//! at once is bounded whatever a file claims ([`MemoryBudget`](reasonscape_limits::MemoryBudget)). Does not
//! link DataFusion, so that its tests and fuzzers build fast.

pub mod answers;
mod arrow_json;
mod dataset_folder;
mod dataset_layout;
pub mod dataset_reader;
mod decoder_panics;
mod error;
pub mod logs;
mod parquet_pages;
mod parquet_rows;
mod progress;
mod tabular_reader;
mod thrift;

pub use arrow_json::column_to_json;
pub use dataset_folder::{DatasetFolder, is_dataset_folder};
pub use decoder_panics::catch_decoder_panic;
pub use error::IngestError;
pub use parquet_rows::{JsonPart, json_parts, parquet_batch_rows};
pub use progress::Progress;
pub use tabular_reader::{ROW_EXTENSIONS, RowCallback, holds_rows, read_rows, read_rows_within, row_size};
