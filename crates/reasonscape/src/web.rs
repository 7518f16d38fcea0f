//! A study to look at in a browser, and the same as JSON for programs.
//!
//! # Promises
//! Pages are complete without a script, need nothing but this program, and keep their state in their address. What a
//! model wrote is shown and never run. Whoever is not at this machine needs a token; nobody else's page can ask in a
//! reader's name. Pages and API say what `analysis` says: no number is made here.

mod analysis_cache;
mod api;
mod app;
mod assets;
mod auth;
mod chart;
mod comparison;
mod disagreements;
mod error;
mod figures;
mod labels;
mod pages;
mod params;
mod point_id;
mod prometheus;
mod query_string;
mod response;
mod runs;
mod sanitize;
mod server;
mod single_flight;
mod trial_lookup;
mod trial_query;

pub(crate) use self::auth::{Access, Token};
pub(crate) use self::server::{Notice, ServeError, ServeOptions, listen, serve};
