//! A report as one self-contained HTML page.

use std::fmt::Write as _;

use rayon::prelude::*;
use reasonscape_charts::{Figure, Layer, escape, plotly_script};

use super::{Block, Report, Section};
use crate::tables::Table;

/// The page may only use what is inline.
const POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

const STYLE: &str = "\
:root{color-scheme:light}\
body{margin:2rem auto;max-width:72rem;padding:0 1rem;color:#222;background:#fff;\
font:16px/1.5 system-ui,Helvetica,Arial,sans-serif}\
h1{margin:0;font-size:1.8rem}h2{margin:2.5rem 0 .5rem;font-size:1.3rem;border-bottom:1px solid #ddd}\
.summary,figcaption p,.notes{color:#555;margin:.2rem 0}\
nav{margin:1rem 0}nav a{margin-right:1rem;white-space:nowrap}a{color:#0072b2}\
figure{margin:1rem 0}.wide{overflow-x:auto}\
table{border-collapse:collapse;margin:1rem 0;font-size:.9rem}\
th,td{padding:.25rem .6rem;border-bottom:1px solid #e5e5e5;text-align:left}\
th{border-bottom:2px solid #999}td:first-child{white-space:nowrap}\
td.number,th.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\
.still{display:none}\
@media print{body{margin:0;max-width:none;font-size:10pt}nav,.live:not(.alone){display:none}.still{display:block}\
.still svg{max-width:100%;height:auto}h2,figure{break-inside:avoid}table{font-size:8pt}td:first-child{white-space:normal}}";

/// The report as an HTML page.
pub fn html(report: &Report) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<style>{STYLE}</style>\n<script>{}</script>\n</head>\n<body>\n\
         <header><h1>{title}</h1>\n<p class=\"summary\">{}</p></header>\n<nav>",
        plotly_script(),
        escape(&report.summary),
        title = escape(&report.title),
    );
    for Section { id, title, .. } in &report.sections {
        let _ = write!(page, "<a href=\"#{id}\">{}</a> ", escape(title));
    }
    page.push_str("</nav>\n<main>\n");
    let mut figures = render_figures(report).into_iter();
    for section in &report.sections {
        let _ = writeln!(page, "<section id=\"{}\">\n<h2>{}</h2>", section.id, escape(section.title));
        for block in &section.blocks {
            match block {
                Block::Text(text) => {
                    let _ = writeln!(page, "<p>{}</p>", escape(text));
                }
                Block::List(items) => {
                    page.push_str("<ul>\n");
                    for item in items {
                        let _ = writeln!(page, "<li>{}</li>", escape(item));
                    }
                    page.push_str("</ul>\n");
                }
                Block::Table(rows) => table(&mut page, rows),
                Block::Figure(_) => page.extend(figures.next()),
            }
        }
        page.push_str("</section>\n");
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

/// The figures of a report, in order.
fn render_figures(report: &Report) -> Vec<String> {
    let blocks = report.sections.iter().flat_map(|section| &section.blocks);
    let figures: Vec<&Figure> = blocks
        .filter_map(|block| match block {
            Block::Figure(figure) => Some(figure.as_ref()),
            Block::Text(_) | Block::List(_) | Block::Table(_) => None,
        })
        .collect();
    figures.into_par_iter().enumerate().map(|(index, figure)| figure_element(figure, index + 1)).collect()
}

/// An interactive figure, and an SVG that replaces it in print.
fn figure_element(figure: &Figure, number: usize) -> String {
    let live = figure.fragment(&format!("figure-{number}"));
    if is_large(figure) {
        return format!("<div class=\"live alone\">{live}</div>\n");
    }
    format!(
        "<div class=\"live\">{live}</div>\n<div class=\"still\" aria-hidden=\"true\">{}</div>\n",
        figure.svg()
    )
}

/// Whether a figure has too many cells to be in the page twice; then the interactive one is printed as well.
fn is_large(figure: &Figure) -> bool {
    const MAX_CELLS: usize = 1000;
    let layers = figure.panels.iter().flat_map(|panel| &panel.layers);
    let cells = layers.map(|layer| if let Layer::Heatmap(heatmap) = layer { heatmap.cells.len() } else { 0 });
    cells.sum::<usize>() > MAX_CELLS
}

fn table(page: &mut String, table: &Table) {
    let class = |column| if table.is_numeric(column) { " class=\"number\"" } else { "" };
    page.push_str("<div class=\"wide\"><table>\n<thead><tr>");
    for (index, name) in table.columns().iter().enumerate() {
        let _ = write!(page, "<th scope=\"col\"{}>{}</th>", class(index), escape(name));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in table.display_rows() {
        page.push_str("<tr>");
        for (index, cell) in row.iter().enumerate() {
            let _ = write!(page, "<td{}>{}</td>", class(index), escape(cell));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
}
