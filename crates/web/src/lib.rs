//! The web app: a study as pages in a browser, and as JSON for programs.
//!
//! # Promises
//! Pages work without JavaScript, load nothing from other hosts, and keep their state in the URL. Model output is never
//! executed: everything is escaped, and no page has an inline script. Requests from other machines need a token, and pages
//! of other origins cannot act on a user's behalf. Pages and API only show what `analysis` computes. This crate prints
//! nothing and installs no signal handlers.

mod analysis_cache;
mod api;
mod app;
mod assets;
mod auth;
mod base_path;
mod busy;
mod chart;
mod comparison;
mod connections;
mod disagreements;
mod error;
mod figures;
mod guess_limiter;
mod labels;
mod middleware;
mod pages;
mod params;
mod point_id;
mod prometheus;
mod query_string;
mod response;
mod routes;
mod runs;
mod sanitize;
mod server;
mod single_flight;
mod trial_lookup;
mod trial_query;

pub use self::auth::{Access, Token};
pub use self::base_path::normalize_base_path;
pub use self::server::{Notice, ServeError, ServeOptions, listen, serve};
