//! Integration tests of the domain: every task against an independent solver, and against Python.

mod solve;
mod tasks;
