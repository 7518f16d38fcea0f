//! Results as tables: `display_table` for readers, `export_table` with stable columns and every digit for programs.

pub mod aggregate;
mod cells;
pub mod compare;
pub mod compression;
pub mod evals;
pub mod hazard;
pub mod model_sets;
pub mod modes;
pub mod pairwise;
pub mod points;
mod row_builder;
pub mod scores;
pub mod similarity;
pub mod spectrum;
pub mod stability;
pub mod surface;
mod table;
pub mod tasks;
pub mod threshold;
mod time;
pub mod tokens;
pub mod variance;

pub use self::table::{Cell, Table};
pub use self::time::utc;
