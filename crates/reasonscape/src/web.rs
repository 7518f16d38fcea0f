//! A study to look at in a browser, and the same as JSON for programs.
//!
//! # Promises
//! Pages are complete without a script, need nothing but this program, and keep their state in their address. What a
//! model wrote is shown and never run. Whoever is not at this machine needs a token; nobody else's page can ask in a
//! reader's name. Pages and API say what `analysis` says: no number is made here.

mod answers;
mod api;
mod assets;
mod chart;
mod differing;
mod guard;
mod links;
mod listing;
mod memo;
mod metrics;
mod names;
mod pages;
mod problem;
mod reply;
mod runs;
mod server;
mod state;
mod versus;
mod visible;

pub(crate) use self::guard::{Access, Token};
pub(crate) use self::server::{Options, listen, serve};
