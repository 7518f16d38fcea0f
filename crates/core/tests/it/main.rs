//! Integration tests of the domain: every task against an independent solver, and against Python.

mod extract;
mod solve;
mod tasks;
