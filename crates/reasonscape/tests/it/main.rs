//! The program as people and scripts meet it: arguments in, text and exit codes out.

mod estimate;
mod key;
mod score;
mod world;
