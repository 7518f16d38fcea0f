//! `P(A > B)` of Betas by quadrature, accurate to the last few bits and without special functions.
//!
//! All Betas of a task share one set of panels, fine where some Beta is narrow. Each Beta is then tabulated once
//! (density and distribution function on the nodes that it reaches), and a pair costs one dot product,
//! `P(A > B) = sum_i weight_i f_A(x_i) F_B(x_i)`.
//!
//! The distribution function is the exact integral of the polynomial through a panel's densities, and Gauss-Legendre
//! integrates the product of the two exactly. So `P(A > B) + P(B > A) = 1` and `P(A > A) = 1/2` are exact up to rounding
//! for any panels, and the error is the *product* of the two interpolation errors, so that panels of several standard
//! deviations are narrow enough.

use std::sync::LazyLock;

use super::beta::Beta;

/// Nodes per panel.
const NODES: usize = 16;
/// The widest panel, in standard deviations of the narrowest Beta that reaches it.
const PANEL_WIDTH: f64 = 4.0;
/// The same for a panel that touches 0 or 1, where a density such as `x^0.42` is not polynomial.
const END_PANEL_WIDTH: f64 = 0.5;
/// A Beta is cut where its density has fallen by `exp(-MIN_LOG_DENSITY_DROP)`, below double precision.
const MIN_LOG_DENSITY_DROP: f64 = 38.0;

/// Gauss-Legendre on `[0, 1]`, with the integrals from 0 to each node.
struct GaussLegendre {
    node: [f64; NODES],
    weight: [f64; NODES],
    /// `partial[j][i]` is the integral to node `i` of the polynomial that is 1 at node `j` and 0 at the others.
    partial: [[f64; NODES]; NODES],
}

/// The shared quadrature rule.
static GAUSS_LEGENDRE: LazyLock<GaussLegendre> = LazyLock::new(GaussLegendre::new);

/// The Legendre polynomials `P_0(x)` to `P_NODES(x)`, by Bonnet's recursion.
fn legendre(x: f64) -> [f64; NODES + 1] {
    let mut values = [1.0; NODES + 1];
    values[1] = x;
    for k in 1..NODES {
        let degree = k as f64;
        values[k + 1] = ((2.0 * degree + 1.0) * x * values[k] - degree * values[k - 1]) / (degree + 1.0);
    }
    values
}

impl GaussLegendre {
    /// The nodes are the roots of `P_NODES` by Newton's method; the partial integrals follow from
    /// `int P_k = (P_(k+1) - P_(k-1)) / (2 k + 1)`.
    ///
    /// Source: Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), 25.4.29 and 22.16.1.
    fn new() -> Self {
        let mut rule = Self { node: [0.0; NODES], weight: [0.0; NODES], partial: [[0.0; NODES]; NODES] };
        let count = NODES as f64;
        let mut values = [[0.0; NODES + 1]; NODES];
        for (i, value) in values.iter_mut().enumerate() {
            let mut x = -(std::f64::consts::PI * (i as f64 + 0.75) / (count + 0.5)).cos();
            let slope = |x: f64, p: &[f64; NODES + 1]| count * (p[NODES - 1] - x * p[NODES]) / (1.0 - x * x);
            for _ in 0..6 {
                let p = legendre(x);
                x -= p[NODES] / slope(x, &p);
            }
            *value = legendre(x);
            rule.node[i] = f64::midpoint(1.0, x);
            rule.weight[i] = 1.0 / ((1.0 - x * x) * slope(x, value).powi(2));
        }
        for j in 0..NODES {
            for i in 0..NODES {
                let (at_j, at_i) = (&values[j], &values[i]);
                let constant = 2.0 * rule.node[i];
                let others = (1..NODES).map(|k| at_j[k] * (at_i[k + 1] - at_i[k - 1]));
                rule.partial[j][i] = rule.weight[j] * (constant + others.sum::<f64>()) / 2.0;
            }
        }
        rule
    }
}

/// A dyadic part of `[0, 1]`, so that its three numbers are exact.
#[derive(Debug, Clone, Copy)]
struct Panel {
    left: f64,
    /// Distance of the right end from 1.
    right_gap: f64,
    width: f64,
}

impl Panel {
    fn halves(self) -> [Panel; 2] {
        let width = self.width / 2.0;
        [
            Panel { width, right_gap: self.right_gap + width, ..self },
            Panel { width, left: self.left + width, ..self },
        ]
    }

    fn touches_an_end(self) -> bool {
        self.left == 0.0 || self.right_gap == 0.0
    }
}

/// The support of a Beta, and the maximum panel width there.
#[derive(Debug, Clone, Copy)]
struct Support {
    low: f64,
    high: f64,
    standard_deviation: f64,
}

impl Support {
    /// Moves out from the mean until the density has dropped.
    ///
    /// A fixed number of standard deviations isn't enough: the long tail of a skewed Beta is exponential, not normal.
    fn new(beta: &Beta) -> Self {
        let (mean, rest, standard_deviation) = (beta.mean(), beta.rest(), beta.standard_deviation());
        let walk = |sign: f64, room: f64| {
            let mut distance = 5.0 * standard_deviation;
            while distance < room {
                let step = sign * distance;
                if beta.log_density((step / mean).ln_1p(), (-step / rest).ln_1p()) < -MIN_LOG_DENSITY_DROP {
                    return distance;
                }
                distance *= 1.125;
            }
            room
        };
        Self { low: mean - walk(-1.0, mean), high: mean + walk(1.0, rest), standard_deviation }
    }

    fn overlaps(&self, panel: Panel) -> bool {
        self.low < panel.left + panel.width && panel.left < self.high
    }

    fn is_narrow_enough(&self, panel: Panel) -> bool {
        let widest = if panel.touches_an_end() { END_PANEL_WIDTH } else { PANEL_WIDTH };
        panel.width <= widest * self.standard_deviation
    }
}

/// Panels on which all Betas are smooth, from left to right, with gaps where all of them are negligible.
pub(super) struct Grid {
    panels: Vec<Panel>,
}

impl Grid {
    /// Halves `[0, 1]` until every panel is narrow enough for all Betas that reach it.
    pub(super) fn cover(betas: &[Beta]) -> Self {
        let supports: Vec<Support> = betas.iter().map(Support::new).collect();
        let [left, right] = Panel { left: 0.0, right_gap: 0.0, width: 1.0 }.halves();
        let mut waiting = vec![right, left];
        let mut panels = Vec::new();
        while let Some(panel) = waiting.pop() {
            let mut met = supports.iter().filter(|support| support.overlaps(panel)).peekable();
            if met.peek().is_none() {
                continue;
            }
            if met.all(|support| support.is_narrow_enough(panel)) {
                panels.push(panel);
            } else {
                let [left, right] = panel.halves();
                waiting.extend([right, left]);
            }
        }
        Self { panels }
    }

    /// The density and the distribution function of one of the covered Betas.
    pub(super) fn tabulate(&self, beta: &Beta) -> Table {
        let support = Support::new(beta);
        let first = self.panels.partition_point(|panel| panel.left + panel.width <= support.low);
        let count = self.panels[first..].partition_point(|panel| panel.left < support.high);
        let mut table = Table {
            first,
            mass: vec![0.0; count * NODES],
            below: vec![0.0; count * NODES],
            edges: Vec::with_capacity(count + 1),
        };
        let rule = &*GAUSS_LEGENDRE;
        let mut sum = 0.0;
        table.edges.push(sum);
        let rows = table.mass.chunks_exact_mut(NODES).zip(table.below.chunks_exact_mut(NODES));
        for (panel, (mass, below)) in self.panels[first..].iter().zip(rows) {
            let density = densities(beta, *panel, rule);
            below.fill(sum);
            for (density, partial) in density.iter().zip(&rule.partial) {
                for (below, partial) in below.iter_mut().zip(partial) {
                    *below += density * partial;
                }
            }
            for i in 0..NODES {
                mass[i] = rule.weight[i] * density[i];
            }
            sum += mass.iter().sum::<f64>();
            table.edges.push(sum);
        }
        for value in table.mass.iter_mut().chain(&mut table.below).chain(&mut table.edges) {
            *value /= sum;
        }
        table
    }
}

/// The density at the nodes of a panel times the panel's width, up to normalization.
///
/// A node's distance from the mean is a sum of small exact numbers, never the difference of two rounded positions,
/// because a Beta of 1e12 trials is about 1e-6 wide. At an end of `[0, 1]` the nodes are at `width t^6` from it, a
/// substitution that makes `x^s` smooth for every `s >= 0`.
fn densities(beta: &Beta, panel: Panel, rule: &GaussLegendre) -> [f64; NODES] {
    let (mean, rest) = (beta.mean(), beta.rest());
    let at = |t: f64| panel.width * t.powi(6);
    let stretch = |t: f64| 6.0 * panel.width * t.powi(5);
    let mut density = [0.0; NODES];
    if panel.left == 0.0 {
        for (density, &t) in density.iter_mut().zip(&rule.node) {
            let (log_proportion, log_rest) = ((at(t) / mean).ln(), ((mean - at(t)) / rest).ln_1p());
            *density = beta.log_density(log_proportion, log_rest).exp() * stretch(t);
        }
    } else if panel.right_gap == 0.0 {
        for (density, &t) in density.iter_mut().zip(rule.node.iter().rev()) {
            let (log_proportion, log_rest) = (((rest - at(t)) / mean).ln_1p(), (at(t) / rest).ln());
            *density = beta.log_density(log_proportion, log_rest).exp() * stretch(t);
        }
    } else {
        let from_mean = if mean < 0.5 { panel.left - mean } else { rest - (panel.right_gap + panel.width) };
        for (density, &t) in density.iter_mut().zip(&rule.node) {
            let step = from_mean + panel.width * t;
            let (log_proportion, log_rest) = ((step / mean).ln_1p(), (-step / rest).ln_1p());
            *density = beta.log_density(log_proportion, log_rest).exp() * panel.width;
        }
    }
    density
}

/// A Beta tabulated on the nodes that it reaches.
pub(super) struct Table {
    /// The first panel it reaches.
    first: usize,
    /// Density times weight, node by node.
    mass: Vec<f64>,
    /// The distribution function, node by node.
    below: Vec<f64>,
    /// The distribution function at the panels' ends, one more than there are panels.
    edges: Vec<f64>,
}

impl Table {
    fn end(&self) -> usize {
        self.first + self.edges.len() - 1
    }

    /// `P(A > B)`, both tabulated on the same grid.
    pub(super) fn exceeds(&self, other: &Table) -> f64 {
        let start = self.first.max(other.first);
        let end = self.end().min(other.end()).max(start);
        let nodes = |table: &Table| (start - table.first) * NODES..(end - table.first) * NODES;
        let among = if start < end { dot(&self.mass[nodes(self)], &other.below[nodes(other)]) } else { 0.0 };
        let above = 1.0 - self.edges[other.end().clamp(self.first, self.end()) - self.first];
        (among + above).clamp(0.0, 1.0)
    }
}

/// The dot product, in four running sums so that it vectorizes.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    for (a, b) in a.chunks_exact(4).zip(b.chunks_exact(4)) {
        for i in 0..4 {
            sums[i] += a[i] * b[i];
        }
    }
    // Panels have a multiple of four nodes, so there is no remainder.
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exceeds(a: Beta, b: Beta) -> f64 {
        let grid = Grid::cover(&[a, b]);
        grid.tabulate(&a).exceeds(&grid.tabulate(&b))
    }

    fn beta(alpha: f64, beta: f64) -> Beta {
        Beta::new(alpha, beta).unwrap()
    }

    /// Shapes from 1 to 1e12, all magnitudes alike.
    fn shape() -> impl Strategy<Value = f64> {
        (0.0..12.0_f64).prop_map(|digits| 10_f64.powf(digits))
    }

    proptest! {
        #[test]
        fn probability_against_uniform_is_mean(alpha in shape(), other in shape()) {
            let found = exceeds(beta(alpha, other), beta(1.0, 1.0));
            prop_assert!((found - alpha / (alpha + other)).abs() < 1e-13, "{found}");
        }

        #[test]
        fn probability_of_power_distributions_is_exponent_ratio(a in shape(), b in shape()) {
            let found = exceeds(beta(a, 1.0), beta(b, 1.0));
            prop_assert!((found - a / (a + b)).abs() < 1e-13, "{found}");
            let mirrored = exceeds(beta(1.0, a), beta(1.0, b));
            prop_assert!((mirrored - b / (a + b)).abs() < 1e-13, "{mirrored}");
        }

        #[test]
        fn both_directions_sum_to_one(a in shape(), b in shape(), c in shape(), d in shape()) {
            let (one, other) = (beta(a, b), beta(c, d));
            prop_assert!((exceeds(one, other) + exceeds(other, one) - 1.0).abs() < 1e-12);
            prop_assert!((exceeds(one, one) - 0.5).abs() < 1e-13);
        }
    }

    #[test]
    fn quadrature_integrates_polynomials_exactly() {
        for degree in 0..2 * NODES as i32 {
            let integral: f64 = GAUSS_LEGENDRE
                .node
                .iter()
                .zip(&GAUSS_LEGENDRE.weight)
                .map(|(t, weight)| weight * t.powi(degree))
                .sum();
            assert!((integral - 1.0 / f64::from(degree + 1)).abs() < 1e-14, "degree {degree}");
        }
        for degree in 0..NODES as i32 {
            for (i, end) in GAUSS_LEGENDRE.node.iter().enumerate() {
                let part: f64 = GAUSS_LEGENDRE
                    .node
                    .iter()
                    .zip(&GAUSS_LEGENDRE.partial)
                    .map(|(t, partial)| partial[i] * t.powi(degree))
                    .sum();
                assert!(
                    (part - end.powi(degree + 1) / f64::from(degree + 1)).abs() < 1e-14,
                    "degree {degree}"
                );
            }
        }
    }
}
