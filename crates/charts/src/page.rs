//! A figure as an HTML page, or as part of one.

use std::fmt::Write as _;
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::alt_text::describe;
use crate::model::Figure;
use crate::notes::{has_missing_cell, notes};
use crate::plotly::plotly;
use crate::text_layout::escape;

/// Pages may only use what is inline.
const POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

const STYLE: &str = "body{margin:1.5rem auto;max-width:70rem;padding:0 1rem;color:#222;background:#fff;\
                     font:16px/1.4 system-ui,Helvetica,Arial,sans-serif}figure{margin:0}h1{font-size:1.3rem;margin:0}\
                     figcaption p,.notes{margin:.3rem 0;color:#555}";

/// The plotly script, for a page with [fragments](Figure::fragment): put it into one `<script>` above them.
///
/// The plotly crate adds a second script for formulas, which isn't needed.
pub fn plotly_script() -> &'static str {
    static SCRIPT: OnceLock<String> = OnceLock::new();
    SCRIPT.get_or_init(|| {
        let scripts = ::plotly::Plot::offline_js_sources();
        let script = scripts.split("</script>").next().unwrap_or_default();
        script.split_once('>').map_or(script, |(_, script)| script).to_owned()
    })
}

/// Rounds all numbers to six digits, more than a screen can show, to keep pages small.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(real) if real.fract() != 0.0 => {
                json!(format!("{real:.5e}").parse::<f64>().unwrap_or(real))
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(rounded).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, rounded(value))).collect(),
        other => other,
    }
}

/// JSON that is safe within a `<script>`: nothing in it ends the element or starts a comment.
fn embedded(value: &Value) -> String {
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

fn config() -> Value {
    json!({
        "displaylogo": false, "responsive": true, "typesetMath": false,
        "toImageButtonOptions": {"format": "svg", "filename": "figure"},
    })
}

/// The input of plotly as one object.
pub(crate) fn chart(figure: &Figure) -> Value {
    let plotly = plotly(figure);
    json!({
        "data": rounded(Value::Array(plotly.traces)),
        "layout": rounded(plotly.layout),
        "config": config(),
    })
}

fn drawing(figure: &Figure, id: &str) -> String {
    let plotly = plotly(figure);
    format!(
        "<div id=\"{}\" role=\"img\" aria-label=\"{}\" style=\"height:{}px\"></div>\n\
         <script>Plotly.newPlot({},{},{},{});</script>\n",
        escape(id),
        escape(&format!("{}. {}", figure.title, describe(figure))),
        plotly.height,
        embedded(&json!(id)),
        embedded(&rounded(Value::Array(plotly.traces))),
        embedded(&rounded(plotly.layout)),
        embedded(&config()),
    )
}

/// The figure with title, subtitle and notes; `heading` is the element of the title.
fn element(figure: &Figure, id: &str, heading: &str) -> String {
    let mut html = String::from("<figure>\n<figcaption>");
    if !figure.title.is_empty() {
        let _ = write!(html, "<{heading}>{}</{heading}>", escape(&figure.title));
    }
    if !figure.subtitle.is_empty() {
        let _ = write!(html, "<p>{}</p>", escape(&figure.subtitle));
    }
    html.push_str("</figcaption>\n");
    html.push_str(&drawing(figure, id));
    let gap = has_missing_cell(figure).then(|| "× marks a cell without data.".to_owned());
    for note in gap.into_iter().chain(notes(figure)) {
        let _ = writeln!(html, "<p class=\"notes\">{}</p>", escape(&note));
    }
    html.push_str("</figure>\n");
    html
}

pub(crate) fn fragment(figure: &Figure, id: &str) -> String {
    element(figure, id, "strong")
}

pub(crate) fn page(figure: &Figure) -> String {
    let title = if figure.title.is_empty() { "Figure" } else { &figure.title };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>{STYLE}</style>\n<script>{}</script>\n</head>\n<body>\n{}</body>\n\
         </html>\n",
        escape(title),
        plotly_script(),
        element(figure, "figure", "h1"),
    )
}

#[cfg(test)]
mod tests {
    use super::{embedded, plotly_script, rounded};
    use serde_json::json;

    #[test]
    fn plotly_script_contains_only_plotly() {
        let script = plotly_script();
        assert!(script.trim_start().starts_with("/**\n* plotly.js"), "{}", &script[..60]);
        assert!(script.trim_end().ends_with(')') || script.trim_end().ends_with(';'));
        assert!(!script.contains("</script") && !script.contains("<!--"));
        assert!(script.len() < 5_000_000);
    }

    #[test]
    fn rounds_to_six_digits_and_keeps_integers() {
        let given = json!({"x": [0.123_456_789, -1.0 / 3.0, 1e-9 / 3.0, 12_345_678.9], "n": [123_456_789, 4096.0], "t": "0.123456789"});
        let expected = json!({"x": [0.123_457, -0.333_333, 3.33333e-10, 12_345_700.0], "n": [123_456_789, 4096.0], "t": "0.123456789"});
        assert_eq!(rounded(given), expected);
    }

    #[test]
    fn embedded_json_cannot_end_the_script() {
        let hostile = json!("</script><!-- & \u{2028}");
        let text = embedded(&hostile);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), hostile);
    }
}
