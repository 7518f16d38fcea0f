//! One figure of every kind, as SVG, PNG and HTML: `cargo run -p reasonscape-charts --example gallery -- DIR`.

use std::error::Error;
use std::path::PathBuf;

use reasonscape_charts::{
    Axis, Cell, Dendrogram, Figure, Heatmap, Kind, Layer, Merge, Palette, Panel, Point, Summary,
};

const MODELS: [&str; 10] = [
    "meta-llama/Llama-3.3-70B-Instruct",
    "qwen2.5-72b",
    "smollm2-135m-instruct",
    "gpt-5-mini",
    "claude-sonnet",
    "gemma-3-27b",
    "phi-4",
    "mistral-small-24b",
    "olmo-2-32b",
    "granite-4-tiny",
];

const TASKS: [&str; 8] =
    ["arithmetic", "boolean", "brackets", "dates", "letters", "objects", "sequence", "shuffle"];

/// A proportion with an interval of about the width that 60 trials give.
fn proportion(x: f64, proportion: f64) -> Point {
    let margin = 1.96 * (proportion * (1.0 - proportion) / 60.0 + 0.001).sqrt();
    Point::between(x, proportion, (proportion - margin).max(0.0), (proportion + margin).min(1.0))
}

fn logistic(x: f64, middle: f64, slope: f64) -> f64 {
    1.0 / (1.0 + ((x - middle) * slope).exp())
}

fn projection(models: usize) -> Figure {
    let mut panel = Panel::new("", Axis::linear("number of operations"), Axis::percent("accuracy"));
    for (index, model) in MODELS.iter().take(models).enumerate() {
        let points = (1..=10).map(|x| {
            proportion(f64::from(x) * 2.0, logistic(f64::from(x) * 2.0, 6.0 + index as f64 * 2.0, 0.4))
        });
        panel = panel.layer(Layer::line(*model, points.collect()));
    }
    panel = panel.layer(Layer::horizontal("chance", 0.1));
    Figure::new("Accuracy falls with the number of operations")
        .subtitle("arithmetic, 60 trials per point; bands are 95 % confidence intervals (Wilson)")
        .panel(panel)
        .note("Truncated responses count as failures.")
}

fn multiples() -> Figure {
    let mut figure = Figure::new("Thresholds")
        .subtitle("parameter value at 50 % accuracy with its 95 % confidence interval")
        .columns(3);
    for (index, task) in TASKS.iter().take(6).enumerate() {
        let middle = 3.0 + index as f64 * 2.5;
        let points =
            (1..=8).map(|x| proportion(f64::from(x) * 2.0, logistic(f64::from(x) * 2.0, middle, 0.5)));
        let curve = (0..=60).map(|x| {
            Point::exact(f64::from(x) * 0.25 + 1.0, logistic(f64::from(x) * 0.25 + 1.0, middle, 0.5))
        });
        figure = figure.panel(
            Panel::new(*task, Axis::linear("length"), Axis::percent("accuracy"))
                .layer(Layer::line("fit", curve.collect()))
                .layer(Layer::dots("measured", points.collect()))
                .layer(Layer::vertical(format!("50% at {middle}"), middle)),
        );
    }
    figure
}

fn survival() -> Figure {
    let curve = |rate: f64| -> Vec<Point> {
        let point = |bin: i32| {
            let survival = (-rate * f64::from(bin)).exp();
            let margin = 0.12 * (survival * (1.0 - survival)).sqrt() + 0.005;
            Point::between(
                f64::from(bin) * 512.0,
                survival,
                (survival - margin).max(0.0),
                (survival + margin).min(1.0),
            )
        };
        (0..=24).map(point).collect()
    };
    let hazard = |rate: f64| {
        (1..=12)
            .map(|bin| {
                let value = rate * f64::from(bin).sqrt() / 3.0;
                Point::between(f64::from(bin) * 1000.0, value, value * 0.7, value * 1.4)
            })
            .collect()
    };
    Figure::new("Tokens to an answer")
        .subtitle("Kaplan-Meier with 95 % confidence intervals (Greenwood); truncated trials are censored")
        .panel(
            Panel::new("Survival", Axis::linear("tokens"), Axis::percent("no answer yet"))
                .layer(Layer::steps("smollm2-135m-instruct", curve(0.09)))
                .layer(Layer::steps("qwen2.5-72b", curve(0.18)))
                .layer(Layer::vertical("median 1970", 1970.0))
                .layer(Layer::vertical("median 3943", 3943.0)),
        )
        .panel(
            Panel::new(
                "Hazard of an incorrect answer",
                Axis::linear("tokens"),
                Axis::linear("hazard per bin"),
            )
            .layer(Layer::line("smollm2-135m-instruct", hazard(0.1)))
            .layer(Layer::line("qwen2.5-72b", hazard(0.2))),
        )
}

fn leaderboard() -> Figure {
    let dots = |offset: f64| {
        MODELS
            .iter()
            .enumerate()
            .map(|(row, _)| {
                let score = 900.0 - row as f64 * 62.0 + offset;
                let margin = 12.0 + row as f64 * 3.0;
                Point {
                    x: score,
                    y: row as f64,
                    interval: Some(reasonscape_charts::Bounds::new(score - margin, score + margin)),
                }
            })
            .collect()
    };
    Figure::new("ReasonScore").subtitle("± margin (v2), not a 95 % CI").panel(
        Panel::new("", Axis::linear("ReasonScore"), Axis::categories("", MODELS))
            .layer(Layer::dots("easy", dots(20.0)))
            .layer(Layer::dots("hard", dots(-55.0))),
    )
}

fn boxes() -> Figure {
    let summary = |at: usize, middle: f64| Summary {
        at: at as f64,
        low: middle - 0.9,
        q1: middle - 0.35,
        median: middle,
        q3: middle + 0.3,
        high: middle + 1.1,
        outliers: Some(3),
    };
    let of = |shift: f64| (0..6).map(|at| summary(at, 2.0 + at as f64 * 0.15 + shift)).collect();
    Figure::new("Incorrect answers compress better")
        .subtitle("bits per token; box: quartiles, whiskers: 5th and 95th percentile")
        .panel(
            Panel::new("", Axis::categories("", MODELS.into_iter().take(6)), Axis::linear("bits per token"))
                .layer(Layer::boxes("correct", of(0.6)))
                .layer(Layer::boxes("incorrect", of(0.0)))
                .layer(Layer::boxes("truncated", of(-0.9))),
        )
}

fn bars() -> Figure {
    let of = |scale: f64| {
        TASKS
            .iter()
            .enumerate()
            .map(|(at, _)| {
                let value = (0.9 - at as f64 * 0.08) * scale;
                Point::between(at as f64, value, value - 0.06, (value + 0.06).min(1.0))
            })
            .collect()
    };
    Figure::new("Accuracy by task").subtitle("95 % confidence intervals (Wilson)").panel(
        Panel::new("", Axis::categories("task", TASKS), Axis::percent("accuracy"))
            .layer(Layer::bars("gpt-5-mini", of(1.0)))
            .layer(Layer::bars("phi-4", of(0.8)))
            .layer(Layer::bars("granite-4-tiny", of(0.4))),
    )
}

fn heatmap_figure(models: usize, tasks: usize) -> Figure {
    let mut cells = Vec::new();
    for row in 0..models {
        for column in 0..tasks {
            if (row, column) == (2, 3) || (row, column) == (5, 1) {
                cells.push(Cell::default());
                continue;
            }
            let value = logistic(row as f64 * 0.6 + column as f64 * 0.5, 4.0, 0.7);
            let point = proportion(0.0, value);
            cells.push(Cell {
                value: Some(value),
                interval: point.interval,
                text: format!("{:.0}", value * 100.0),
            });
        }
    }
    let rows = (0..models).map(|row| MODELS[row % MODELS.len()].to_owned()).collect();
    let columns = (0..tasks).map(|task| TASKS[task % TASKS.len()].to_owned()).collect();
    let heatmap = Heatmap {
        rows,
        columns,
        cells,
        range: Some(reasonscape_charts::Bounds::new(0.0, 1.0)),
        label: "accuracy".into(),
        percent: true,
        ..Heatmap::default()
    };
    Figure::new("Accuracy by model and task")
        .subtitle("95 % confidence intervals (Wilson)")
        .panel(Panel::new("", Axis::linear("task"), Axis::linear("")).layer(Layer::Heatmap(heatmap)))
}

fn differences() -> Figure {
    let count = MODELS.len();
    let cells = (0..count * count)
        .map(|index| {
            let (row, column) = (index / count, index % count);
            if row == column {
                return Cell::default();
            }
            let value = (column as f64 - row as f64) * 0.055;
            Cell {
                value: Some(value),
                interval: Some(reasonscape_charts::Bounds::new(value - 0.07, value + 0.07)),
                text: format!("{:+.0}", value * 100.0),
            }
        })
        .collect();
    let names: Vec<String> = MODELS.iter().map(|name| (*name).to_owned()).collect();
    let heatmap = Heatmap {
        rows: names.clone(),
        columns: names,
        cells,
        palette: Palette::Diverging,
        range: None,
        label: "difference in accuracy, row minus column".into(),
        percent: true,
    };
    Figure::new("Pairwise differences")
        .panel(Panel::new("", Axis::linear(""), Axis::linear("")).layer(Layer::Heatmap(heatmap)))
}

fn similar_models() -> Figure {
    let merge = |a, b, height| Merge { a, b, height };
    let tree = Dendrogram {
        leaves: MODELS.iter().map(|name| (*name).to_owned()).collect(),
        order: vec![0, 1, 5, 7, 6, 3, 4, 2, 9, 8],
        merges: vec![
            merge(0, 1, 0.08),
            merge(3, 4, 0.1),
            merge(5, 7, 0.15),
            merge(2, 9, 0.17),
            merge(12, 6, 0.22),
            merge(10, 14, 0.4),
            merge(13, 8, 0.52),
            merge(15, 11, 0.61),
            merge(17, 16, 1.2),
        ],
        noise: Some(0.16),
    };
    Figure::new("Similar models")
        .subtitle("average linkage of task profiles; dashed merges are within noise")
        .panel(Panel::new("", Axis::linear("distance"), Axis::linear("")).layer(Layer::Dendrogram(tree)))
}

fn cost() -> Figure {
    let mut panel = Panel::new("", Axis::log("token limit"), Axis::percent("accuracy"));
    for (index, model) in MODELS.iter().take(3).enumerate() {
        let points = (5..=15).map(|power| {
            let tokens = 2f64.powi(power);
            proportion(tokens, 0.95 * (1.0 - (-tokens / (400.0 * (index as f64 + 1.0).powi(3))).exp()))
        });
        panel = panel.layer(Layer::line(*model, points.collect()));
    }
    let spectrum = (0..=128).map(|bin| {
        let value = 1.0 / (1.0 + f64::from(bin) * 0.3) + 0.02 * f64::from(bin % 7);
        Point::between(f64::from(bin) / 256.0, value, value * 0.8, value * 1.25)
    });
    let other = (0..=128).map(|bin| {
        let value = 1.2 / (1.0 + f64::from(bin) * 0.25) + 0.02 * f64::from(bin % 5);
        Point::between(f64::from(bin) / 256.0, value, value * 0.8, value * 1.25)
    });
    Figure::new("Accuracy by token limit, and two populations of prompts").columns(1).panel(panel).panel(
        Panel::new("Power spectrum", Axis::linear("frequency (per word)"), Axis::log("power"))
            .layer(Layer::line("seed 1", spectrum.collect()))
            .layer(Layer::line("seed 2", other.collect())),
    )
}

/// Names that try to inject HTML.
fn hostile() -> Figure {
    let name = "</script><script>alert(1)</script><b>&\"'%{x} $x$";
    let points = vec![proportion(0.0, 0.3), proportion(1.0, 0.6)];
    Figure::new(name).subtitle(name).note(name).panel(
        Panel::new(name, Axis::categories(name, [name, "<img src=x onerror=alert(1)>"]), Axis::percent(name))
            .layer(Layer::line(name, points.clone()))
            .layer(Layer::dots("b", points))
            .layer(Layer::horizontal(name, 0.5)),
    )
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "gallery".to_owned()));
    std::fs::create_dir_all(&dir)?;
    let figures = [
        ("projection", projection(4)),
        ("many", projection(10)),
        ("multiples", multiples()),
        ("survival", survival()),
        ("leaderboard", leaderboard()),
        ("boxes", boxes()),
        ("bars", bars()),
        ("heat", heatmap_figure(8, 6)),
        ("heat-large", heatmap_figure(40, 24)),
        ("differences", differences()),
        ("tree", similar_models()),
        ("cost", cost()),
        ("hostile", hostile()),
        ("empty", Figure::new("Nothing was measured").panel(Panel::default())),
    ];
    for (name, figure) in figures {
        for ending in ["svg", "png", "html"] {
            let path = dir.join(name).with_extension(ending);
            std::fs::write(&path, figure.bytes(Kind::from_path(&path)?)?)?;
        }
    }
    Ok(())
}
