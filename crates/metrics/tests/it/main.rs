//! Integration tests of the metrics: against python3, and against a labelled corpus of reasoning steps.

mod metrics;
mod steps;
