//! Positions along an axis, and its ticks.

use crate::model::{Axis, Bounds, Scale};
use crate::number::{drawable, linear_ticks, log_ticks, tick_labels};

/// The ends of an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ends {
    Linear(Bounds),
    Log(Bounds),
    Names(Vec<String>),
}

/// An axis with known ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ResolvedAxis {
    pub(crate) label: String,
    pub(crate) percent: bool,
    pub(crate) ends: Ends,
}

/// A tick.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    /// The position on the axis, from 0 to 1.
    pub(crate) fraction: f64,
    pub(crate) label: String,
}

impl ResolvedAxis {
    /// The axis for these values. With `from_zero` it includes zero, since lengths of bars are compared.
    pub(crate) fn new(axis: &Axis, numbers: &[f64], from_zero: bool) -> Self {
        let wanted =
            axis.range.and_then(|range| Some(Bounds::new(drawable(range.low)?, drawable(range.high)?)));
        let wanted = wanted.filter(|range| range.low < range.high);
        let ends = match &axis.scale {
            Scale::Categories(names) => Ends::Names(names.clone()),
            Scale::Linear => {
                Ends::Linear(wanted.unwrap_or_else(|| linear_range(numbers, from_zero, axis.percent)))
            }
            Scale::Log => {
                Ends::Log(wanted.filter(|range| range.low > 0.0).unwrap_or_else(|| log_range(numbers)))
            }
        };
        Self { label: axis.label.clone(), percent: axis.percent, ends }
    }

    /// An axis of categories.
    pub(crate) fn named(label: &str, names: &[String]) -> Self {
        Self { label: label.to_owned(), percent: false, ends: Ends::Names(names.to_vec()) }
    }

    /// The position of a value, if it has one.
    pub(crate) fn fraction(&self, number: f64) -> Option<f64> {
        let number = drawable(number)?;
        match &self.ends {
            Ends::Linear(Bounds { low, high }) => Some((number - low) / (high - low)),
            Ends::Log(Bounds { low, high }) => {
                (number > 0.0).then(|| (number / low).ln() / (high / low).ln())
            }
            Ends::Names(names) => {
                let count = names.len() as f64;
                (-0.5 <= number && number <= count - 0.5).then(|| (number + 0.5) / count)
            }
        }
    }

    /// The position of the end of an interval, at most a little beyond the edge.
    pub(crate) fn end_fraction(&self, end: f64) -> f64 {
        match &self.ends {
            Ends::Log(_) if end <= 0.0 => -0.5,
            _ => self.fraction(end).unwrap_or(0.0).clamp(-0.5, 1.5),
        }
    }

    /// The end of an interval, limited to a position well beyond the edge: browsers can't draw arbitrarily large
    /// coordinates.
    pub(crate) fn clamp_far(&self, end: f64) -> f64 {
        match &self.ends {
            Ends::Linear(Bounds { low, high }) => {
                let span = high - low;
                end.clamp(low - 10.0 * span, high + 10.0 * span)
            }
            Ends::Log(Bounds { low, high }) => end.clamp(low / 1000.0, high * 1000.0),
            Ends::Names(_) => end,
        }
    }

    pub(crate) fn names(&self) -> Option<&[String]> {
        match &self.ends {
            Ends::Names(names) => Some(names),
            Ends::Linear(_) | Ends::Log(_) => None,
        }
    }

    /// About this many ticks; every category has one.
    pub(crate) fn ticks(&self, about: usize) -> Vec<Tick> {
        let (ticks, is_log) = match &self.ends {
            Ends::Names(names) => {
                let count = names.len() as f64;
                let tick = |(index, name): (usize, &String)| Tick {
                    fraction: (index as f64 + 0.5) / count,
                    label: name.clone(),
                };
                return names.iter().enumerate().map(tick).collect();
            }
            Ends::Linear(range) => (linear_ticks(*range, about), false),
            Ends::Log(range) => (log_ticks(*range, about), true),
        };
        let labels = tick_labels(&ticks, self.percent, is_log);
        let tick = |(number, label): (&f64, String)| Some(Tick { fraction: self.fraction(*number)?, label });
        ticks.iter().zip(labels).filter_map(tick).filter(|tick| tick.fraction.is_finite()).collect()
    }
}

fn extent(numbers: impl Iterator<Item = f64>) -> Option<Bounds> {
    numbers.filter_map(drawable).fold(None, |extent, number| {
        let Bounds { low, high } = extent.unwrap_or(Bounds::new(number, number));
        Some(Bounds::new(low.min(number), high.max(number)))
    })
}

fn linear_range(numbers: &[f64], from_zero: bool, percent: bool) -> Bounds {
    let zero = from_zero.then_some(0.0);
    let Some(Bounds { low, high }) = extent(numbers.iter().copied().chain(zero)) else {
        return Bounds::new(0.0, 1.0);
    };
    let span = high - low;
    let (lower, upper) = if span <= low.abs().max(high.abs()) * 1e-9 {
        let room = if percent { 0.05 } else { (low.abs() * 0.1).max(0.5) };
        (low - room, high + room)
    } else {
        // Bars start at the axis.
        let below = if from_zero && low == 0.0 { 0.0 } else { span * 0.04 };
        let above = if from_zero && high == 0.0 { 0.0 } else { span * 0.04 };
        (low - below, high + above)
    };
    if percent && low >= 0.0 && high <= 1.0 {
        return Bounds::new(lower.max(0.0), upper.min(1.0));
    }
    Bounds::new(lower, upper)
}

fn log_range(numbers: &[f64]) -> Bounds {
    let Some(Bounds { low, high }) = extent(numbers.iter().copied().filter(|number| *number > 1e-300)) else {
        return Bounds::new(1.0, 10.0);
    };
    let room = if high / low < 1.0 + 1e-9 { 2.0 } else { (high / low).powf(0.04) };
    // Keep the ends positive and finite.
    Bounds::new((low / room).max(1e-303), (high * room).min(1e303))
}

#[cfg(test)]
mod tests {
    use super::{Ends, ResolvedAxis};
    use crate::model::{Axis, Bounds};

    #[test]
    fn axis_range_comes_from_data_unless_given() {
        let ends = |axis: Axis, numbers: &[f64], from_zero| ResolvedAxis::new(&axis, numbers, from_zero).ends;
        assert_eq!(ends(Axis::linear(""), &[0.0, 100.0], true), Ends::Linear(Bounds::new(0.0, 104.0)));
        assert_eq!(ends(Axis::linear("").range(2.0, 3.0), &[0.0], true), Ends::Linear(Bounds::new(2.0, 3.0)));
        assert_eq!(ends(Axis::linear(""), &[], false), Ends::Linear(Bounds::new(0.0, 1.0)));
        assert_eq!(ends(Axis::linear(""), &[7.0], false), Ends::Linear(Bounds::new(6.3, 7.7)));
        assert_eq!(ends(Axis::log(""), &[-1.0, 0.0], false), Ends::Log(Bounds::new(1.0, 10.0)));
    }

    #[test]
    fn fractions_follow_the_scale() {
        let log = ResolvedAxis::new(&Axis::log("").range(1.0, 100.0), &[], false);
        assert!((log.fraction(10.0).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(log.fraction(0.0), None);
        assert_eq!(log.end_fraction(0.0), -0.5);
        let names = ResolvedAxis::new(&Axis::categories("", ["a", "b"]), &[], false);
        assert_eq!(names.fraction(1.0), Some(0.75));
        assert_eq!(names.fraction(2.0), None);
    }
}
