//! Benchmarks of ReasonScape; see README.md in this folder.
