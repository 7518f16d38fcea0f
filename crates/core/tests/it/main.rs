//! Integration tests of the domain: every task against an independent solver, and against Python.

mod difficulty;
mod solve;
mod tasks;
