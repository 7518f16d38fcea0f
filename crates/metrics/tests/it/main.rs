//! Integration tests of the metrics: against python3, and against labelled corpora of reasoning steps.

mod corpora;
mod metrics;
mod scaling;
mod steps;
