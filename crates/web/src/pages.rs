//! Pages: results of `analysis` in the templates next to this file.

mod choices;
pub(crate) mod compare;
mod disagreement_rows;
pub(crate) mod disagreements;
mod estimator_picker;
pub(crate) mod explorer;
pub(crate) mod forensics;
pub(crate) mod leaderboard;
pub(crate) mod login;
mod model_picker;
pub(crate) mod new_run;
pub(crate) mod run;
mod run_fields;
pub(crate) mod runs;
pub(crate) mod test;
mod transcript;
pub(crate) mod trial;
pub(crate) mod trials;

use std::borrow::Cow;

use axum::http::StatusCode;
use axum::response::Response;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, Error, Output, State, UndefinedBehavior, escape_formatter, filters};
use serde::Serialize;

use super::app::App;
use super::assets;
use super::error::ApiError;
use super::response::{self, reply};
use super::sanitize::escape_invisible;

/// The templates; values are escaped, because the names end in `.html`.
const TEMPLATES: &[(&str, &str)] = &[
    ("layout.html", include_str!("pages/layout.html")),
    ("leaderboard.html", include_str!("pages/leaderboard.html")),
    ("trials.html", include_str!("pages/trials.html")),
    ("trial.html", include_str!("pages/trial.html")),
    ("compare.html", include_str!("pages/compare.html")),
    ("disagreements.html", include_str!("pages/disagreements.html")),
    ("disagreement_rows.html", include_str!("pages/disagreement_rows.html")),
    ("test.html", include_str!("pages/test.html")),
    ("explorer.html", include_str!("pages/explorer.html")),
    ("forensics.html", include_str!("pages/forensics.html")),
    ("figure.html", include_str!("pages/figure.html")),
    ("model_picker.html", include_str!("pages/model_picker.html")),
    ("runs.html", include_str!("pages/runs.html")),
    ("new_run.html", include_str!("pages/new_run.html")),
    ("notices.html", include_str!("pages/notices.html")),
    ("point_filter.html", include_str!("pages/point_filter.html")),
    ("estimator_picker.html", include_str!("pages/estimator_picker.html")),
    ("pager.html", include_str!("pages/pager.html")),
    ("options.html", include_str!("pages/options.html")),
    ("accuracy_legend.html", include_str!("pages/accuracy_legend.html")),
    ("chips.html", include_str!("pages/chips.html")),
    ("plain_table.html", include_str!("pages/plain_table.html")),
    ("findings.html", include_str!("pages/findings.html")),
    ("form_actions.html", include_str!("pages/form_actions.html")),
    ("form_messages.html", include_str!("pages/form_messages.html")),
    ("heat_scale.html", include_str!("pages/heat_scale.html")),
    ("select_field.html", include_str!("pages/select_field.html")),
    ("transcript.html", include_str!("pages/transcript.html")),
    ("run.html", include_str!("pages/run.html")),
    ("delete_run.html", include_str!("pages/delete_run.html")),
    ("login.html", include_str!("pages/login.html")),
    ("error.html", include_str!("pages/error.html")),
];

/// Maximum length of an answer in a table row, in characters.
const MAX_ANSWER_LEN: usize = 60;

/// The entries of the navigation, with their paths.
const NAV_ENTRIES: &[(&str, &str)] = &[
    ("Leaderboard", "/"),
    ("Explorer", "/explorer"),
    ("Compare", "/compare"),
    ("Trials", "/trials"),
    ("Forensics", "/forensics"),
    ("Runs", "/runs"),
];

/// The parsed templates.
pub(crate) struct Templates {
    environment: Environment<'static>,
}

impl Templates {
    pub(crate) fn new() -> Self {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.expect("the syntax options are compatible"));
        // A misspelled name is an error, not an empty value.
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_formatter(write_visible);
        // For values that a form sends back: escaped as HTML, but no character is replaced.
        environment.add_filter("field_value", filters::escape);
        for &(name, text) in TEMPLATES {
            environment.add_template(name, text).expect("the templates are valid");
        }
        Self { environment }
    }
}

/// Writes what `{{ … }}` gives: as HTML text, with control and bidirectional characters made visible.
///
/// Names, errors and responses come from models, datasets and requests, so escaping is not left to the templates. Only
/// values with the filters `safe` and `field_value` are exempt.
fn write_visible(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let text = value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed);
    match escape_invisible(&text) {
        Cow::Owned(visible) if !value.is_safe() => escape_formatter(out, state, &Value::from(visible)),
        _ => escape_formatter(out, state, value),
    }
}

/// The layout around every page.
#[derive(Serialize)]
struct Layout<'a> {
    title: &'a str,
    base: &'a str,
    /// The study that this run belongs to.
    home: Option<ParentLink<'a>>,
    /// The base path of the server; for a run, not that of its results.
    root: &'a str,
    assets: &'a str,
    nav: Vec<NavLink>,
    remarks: &'a [String],
    /// Whether to show the logout button.
    can_leave: bool,
    program: &'static str,
}

#[derive(Serialize)]
struct ParentLink<'a> {
    title: &'a str,
    href: String,
}

#[derive(Serialize)]
struct NavLink {
    name: &'static str,
    href: String,
    is_current: bool,
}

#[derive(Serialize)]
struct PageContext<'a, T> {
    layout: Layout<'a>,
    page: &'a T,
}

/// Marks a response whose page reports the error itself, next to the fields that can be corrected.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InlineErrorPage;

/// A table without formatting.
#[derive(Serialize)]
struct PlainTable {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl From<&reasonscape_analysis::tables::Table> for PlainTable {
    fn from(table: &reasonscape_analysis::tables::Table) -> Self {
        Self { columns: table.columns().to_vec(), rows: table.display_rows().collect() }
    }
}

/// Renders a page in the layout.
fn render(
    app: &App,
    template: &str,
    current: &str,
    remarks: &[String],
    page: &impl Serialize,
) -> Result<Response, ApiError> {
    let is_inside = template != "login.html";
    let root = app.parent.as_ref().map_or(app.base.as_str(), |home| &home.base);
    let nav_link = |&(name, path): &(&'static str, &str)| NavLink {
        name,
        // The results of a run link to the runs of the server.
        href: format!("{}{path}", if path == "/runs" { root } else { &app.base }),
        is_current: name == current,
    };
    // The login page must not reveal anything about the study.
    let remarks = &[app.stale_note().filter(|_| is_inside).as_slice(), remarks].concat();
    let layout = Layout {
        title: &app.title,
        base: &app.base,
        home: app.parent.as_ref().map(|home| ParentLink { title: &home.title, href: format!("{root}/") }),
        root,
        assets: &assets::VERSION,
        nav: if is_inside { NAV_ENTRIES.iter().map(nav_link).collect() } else { Vec::new() },
        remarks,
        can_leave: is_inside && app.access.token.is_some(),
        program: env!("CARGO_PKG_VERSION"),
    };
    let template = app.templates.environment.get_template(template);
    let text = template.and_then(|template| template.render(Serde(PageContext { layout, page })));
    let text = text.map_err(|error| {
        tracing::error!(%error, "a page could not be rendered");
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "this page could not be rendered")
    })?;
    Ok(reply(response::HTML, text))
}

/// The page of an error; it reveals nothing about the study to unauthenticated clients.
pub(crate) fn error_page(app: &App, problem: &ApiError, is_authenticated: bool) -> Response {
    #[derive(Serialize)]
    struct ErrorContext<'a> {
        status: u16,
        reason: &'a str,
        message: &'a str,
        is_authenticated: bool,
    }
    let page = ErrorContext {
        status: problem.status.as_u16(),
        reason: problem.status.canonical_reason().unwrap_or("Failed"),
        message: &problem.message,
        is_authenticated,
    };
    render(app, "error.html", "", &[], &page)
        .unwrap_or_else(|_| reply(response::TEXT, format!("{}\n", problem.message)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rendered(template: &str, text: &str) -> String {
        let context = Serde(json!({ "text": text, "list": [text] }));
        Templates::new().environment.render_named_str("test.html", template, context).unwrap()
    }

    #[test]
    fn escapes_markup_and_invisible_characters() {
        let hostile = "<b>\u{1b}[31m\u{202e}\"&\r\nnext";
        let shown = "&lt;b&gt;␛[31m[U+202E]&quot;&amp;\nnext";
        for template in [
            "{{ text }}",
            "{{ text or 0 }}",
            "{% for one in list %}{{ one }}{% endfor %}",
            "{% with choice = text %}{{ choice }}{% endwith %}",
            "{{ text|replace('x', 'x') }}",
        ] {
            assert_eq!(rendered(template, hostile), shown, "{template}");
        }
        let list = rendered("{{ list }}", hostile);
        assert!(!list.contains(['<', '\u{1b}', '\u{202e}']), "{list}");
    }

    #[test]
    fn field_values_keep_invisible_characters() {
        let value = rendered("{{ text|field_value }}", "<\"a\u{202e}b\r\n");
        assert_eq!(value, "&lt;&quot;a\u{202e}b\r\n");
    }
}
