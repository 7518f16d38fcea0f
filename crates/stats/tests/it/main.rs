//! The integration tests of the statistics crate, one module a topic.

mod adjusted_difference;
mod answer_metrics;
mod bradley_terry;
mod cluster;
mod coverage;
mod docs;
mod effect;
mod estimators;
mod golden;
mod likelihood;
mod logistic;
mod paired;
mod paired_score;
mod pairwise;
mod repeats;
mod score;
mod spectrum;
mod survival;
