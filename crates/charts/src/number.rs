//! Formatting of numbers, and round numbers for ticks.

use crate::model::Bounds;

/// Beyond this, differences overflow.
const MAX_DRAWABLE: f64 = 1e300;

/// The number, if it can be drawn.
pub(crate) fn drawable(number: f64) -> Option<f64> {
    number.is_finite().then(|| number.clamp(-MAX_DRAWABLE, MAX_DRAWABLE))
}

/// The interval with its ends in order, if it is valid. An infinite end becomes a very large number.
pub(crate) fn interval(bounds: Option<Bounds>) -> Option<Bounds> {
    let Bounds { low, high } = bounds?;
    if low.is_nan() || high.is_nan() {
        return None;
    }
    let (low, high) = if low <= high { (low, high) } else { (high, low) };
    Some(Bounds {
        low: low.clamp(-MAX_DRAWABLE, MAX_DRAWABLE),
        high: high.clamp(-MAX_DRAWABLE, MAX_DRAWABLE),
    })
}

/// Whether an end was infinite before [`interval`].
pub(crate) fn is_far(end: f64) -> bool {
    end.abs() >= MAX_DRAWABLE
}

/// About this many round numbers between the ends.
pub(crate) fn linear_ticks(range: Bounds, about: usize) -> Vec<f64> {
    let step = round_step(range.high - range.low, about);
    // Ticks are integer multiples of the step, so that rounding errors don't accumulate.
    let first = (range.low / step - 1e-6).ceil();
    let count = ((range.high / step + 1e-6).floor() - first).clamp(0.0, 100.0) as usize;
    (0..=count).map(|index| (first + index as f64) * step).filter(|tick| tick.is_finite()).collect()
}

fn round_step(span: f64, about: usize) -> f64 {
    let rough = (span / about.max(1) as f64).max(f64::MIN_POSITIVE * 1e10);
    let magnitude = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * magnitude >= rough * 0.72).unwrap_or(10.0);
    step * magnitude
}

/// Powers of ten between the ends; if there are few, also 2 and 5 times these; if there are hardly any, round numbers.
pub(crate) fn log_ticks(range: Bounds, about: usize) -> Vec<f64> {
    let (low, high) = (range.low.log10().max(-330.0), range.high.log10().min(330.0));
    let decades = high - low;
    let about = about.max(2) as f64;
    let factors: &[f64] = match decades {
        decades if decades * 3.0 <= about => &[1.0, 2.0, 5.0],
        decades if decades * 2.0 <= about => &[1.0, 3.0],
        _ => &[1.0],
    };
    let stride = (decades / about).ceil().max(1.0) as i32;
    let ticks: Vec<f64> = (low.floor() as i32..=high.ceil() as i32)
        .filter(|exponent| exponent.rem_euclid(stride) == 0)
        .flat_map(|exponent| factors.iter().map(move |factor| factor * 10f64.powi(exponent)))
        .filter(|tick| range.low * 0.9999 <= *tick && *tick <= range.high * 1.0001)
        .collect();
    if ticks.len() < 3 {
        linear_ticks(range, about as usize).into_iter().filter(|t| *t > 0.0).collect()
    } else {
        ticks
    }
}

/// Labels of ticks, all with the same number of decimals.
pub(crate) fn tick_labels(ticks: &[f64], percent: bool, log: bool) -> Vec<String> {
    if log {
        return ticks.iter().map(|tick| shown(*tick, percent)).collect();
    }
    if percent {
        let step = smallest_step(ticks) * 100.0;
        let decimals = decimals_of(step);
        return ticks.iter().map(|tick| format!("{}%", plain(tick * 100.0, decimals))).collect();
    }
    let largest = ticks.iter().fold(0.0f64, |largest, tick| largest.max(tick.abs()));
    let (unit, suffix) = unit_of(largest);
    let step = smallest_step(ticks) / unit;
    if largest >= 1e15 || step < 1e-5 {
        return ticks.iter().map(|tick| scientific(*tick)).collect();
    }
    let decimals = decimals_of(step);
    let write = |tick: &f64| {
        if *tick == 0.0 { "0".to_owned() } else { format!("{}{suffix}", plain(tick / unit, decimals)) }
    };
    ticks.iter().map(write).collect()
}

fn smallest_step(ticks: &[f64]) -> f64 {
    let step = ticks.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(f64::INFINITY, f64::min);
    if step.is_finite() { step } else { ticks.first().map_or(1.0, |tick| tick.abs()) }
}

/// As many decimals as are needed to distinguish the steps, at most four.
fn decimals_of(step: f64) -> usize {
    let exact = |decimals: &usize| {
        let scaled = step * 10f64.powi(*decimals as i32);
        (scaled - scaled.round()).abs() < 1e-6 * scaled.abs().max(1e-12) && scaled.round() != 0.0
    };
    (0..5).find(exact).unwrap_or(5)
}

fn unit_of(largest: f64) -> (f64, &'static str) {
    match largest {
        largest if largest >= 1e15 => (1.0, ""),
        largest if largest >= 1e10 => (1e9, "G"),
        largest if largest >= 1e7 => (1e6, "M"),
        largest if largest >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    }
}

/// With this many decimals, and without negative zero.
pub(crate) fn plain(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    let is_zero = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    let text = if is_zero { text.trim_start_matches('-').to_owned() } else { text };
    text.replace('-', "−")
}

fn scientific(number: f64) -> String {
    let text = format!("{number:.2e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    if number == 0.0 {
        return "0".to_owned();
    }
    format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.')).replace('-', "−")
}

/// A number with three significant digits.
pub(crate) fn short(number: f64) -> String {
    if !number.is_finite() {
        return match number {
            number if number.is_nan() => "not a number",
            number if number > 0.0 => "∞",
            _ => "−∞",
        }
        .to_owned();
    }
    let size = number.abs();
    if size != 0.0 && !(1e-4..1e15).contains(&size) {
        return scientific(number);
    }
    let (unit, suffix) = unit_of(size);
    let scaled = number / unit;
    let decimals =
        if scaled == 0.0 { 0 } else { (2 - scaled.abs().log10().floor() as i32).clamp(0, 6) as usize };
    let text = plain(scaled, decimals);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{suffix}")
}

/// A number with three significant digits, in percent if it is a proportion.
pub(crate) fn shown(number: f64, percent: bool) -> String {
    if percent { format!("{}%", short(number * 100.0)) } else { short(number) }
}

/// A number with its interval, `75% [70%, 80%]`.
pub(crate) fn shown_with(number: f64, bounds: Option<Bounds>, percent: bool) -> String {
    let end = |end: f64| match end {
        end if is_far(end) && end < 0.0 => "−∞".to_owned(),
        end if is_far(end) => "∞".to_owned(),
        end => shown(end, percent),
    };
    match interval(bounds) {
        Some(Bounds { low, high }) => format!("{} [{}, {}]", shown(number, percent), end(low), end(high)),
        None => shown(number, percent),
    }
}

/// A coordinate with two decimals at most.
pub(crate) fn coordinate(number: f64) -> String {
    // Far outside nothing is visible, but renderers would still compute the dashes.
    let number = if number.is_nan() { 0.0 } else { number.clamp(-2e4, 2e4) };
    let text = format!("{number:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{coordinate, linear_ticks, log_ticks, short, shown_with, tick_labels};
    use crate::model::Bounds;

    fn labels(low: f64, high: f64, percent: bool) -> String {
        let ticks = linear_ticks(Bounds::new(low, high), 5);
        tick_labels(&ticks, percent, false).join(" ")
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(0.0, 1.0, true), "0% 20% 40% 60% 80% 100%");
        assert_eq!(labels(0.31, 0.34, true), "31.0% 31.5% 32.0% 32.5% 33.0% 33.5% 34.0%");
        assert_eq!(labels(-3.0, 3.0, false), "−3 −2 −1 0 1 2 3");
        assert_eq!(labels(0.0, 20_000.0, false), "0 5k 10k 15k 20k");
        assert_eq!(labels(0.0, 0.001, false), "0 0.0002 0.0004 0.0006 0.0008 0.0010");
        assert_eq!(labels(0.0, 3e-9, false), "0 5e−10 1e−9 1.5e−9 2e−9 2.5e−9 3e−9");
    }

    #[test]
    fn log_ticks_fit_the_span() {
        let write = |low, high| tick_labels(&log_ticks(Bounds::new(low, high), 6), false, true).join(" ");
        assert_eq!(write(1.0, 100.0), "1 2 5 10 20 50 100");
        assert_eq!(write(1.0, 1e6), "1 10 100 1000 10k 100k 1000k");
        assert_eq!(write(20.0, 40.0), "20 25 30 35 40");
    }

    #[test]
    fn formats_numbers_briefly() {
        let written: Vec<String> = [0.0, 12.345, 0.5, 1234.0, 45_678.0, 1e-9, -0.25, 99.96].map(short).into();
        assert_eq!(written, ["0", "12.3", "0.5", "1234", "45.7k", "1e−9", "−0.25", "100"]);
        let bounds = Some(Bounds::new(0.7, f64::INFINITY));
        assert_eq!(shown_with(0.75, bounds, true), "75% [70%, ∞]");
        assert_eq!(shown_with(0.75, Some(Bounds::new(f64::NAN, 1.0)), true), "75%");
    }

    #[test]
    fn formats_coordinates_briefly_and_finite() {
        assert_eq!([-0.001, 1.5, 2.0, f64::NAN, 1e300].map(coordinate), ["0", "1.5", "2", "0", "20000"]);
    }
}
