//! Integration tests of the domain: every task against an independent solver, and against Python.

mod python;
mod solve;
mod tasks;
