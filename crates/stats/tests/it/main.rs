//! The statistics against oracles: golden values with the scripts that made them, and python3 live.

mod bradley_terry;
mod pairwise;
mod python;
