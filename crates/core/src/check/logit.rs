//! A logistic model of the answer: a conditional logit over the candidates of a problem.
//!
//! The utility of a candidate is linear in features of its own (where and how often it is mentioned) and, if it is one of few
//! labels, in features of the prompt with weights of the label. Weights are fitted by penalized maximum likelihood.
//!
//! Source: Daniel `McFadden`, "Conditional logit analysis of qualitative choice behavior" (1974).

/// A candidate answer.
pub(super) struct Candidate {
    /// Its features.
    pub(super) features: Vec<f64>,
    /// Which label it is, if it has weights of its own.
    pub(super) label: Option<usize>,
}

/// A problem: features of the prompt, the candidates, and which of them is correct.
pub(super) struct Choice {
    pub(super) prompt: Vec<f64>,
    pub(super) candidates: Vec<Candidate>,
    pub(super) target: Option<usize>,
}

/// Fitted weights.
pub(super) struct Logit {
    /// Of the features of a candidate.
    own: Vec<f64>,
    /// Of the features of the prompt, one row per label.
    by_label: Vec<Vec<f64>>,
}

/// Steps of the optimizer: enough for features on a common scale.
const STEPS: usize = 120;

/// The penalty on the squares of weights, per problem: keeps weights of features without information near zero.
const PENALTY: f64 = 0.01;

impl Logit {
    /// Fits the weights by Adam on all problems at once, which needs no tuned step size and is deterministic.
    pub(super) fn fit(choices: &[Choice], labels: usize) -> Self {
        let own =
            choices.first().map_or(0, |choice| choice.candidates.first().map_or(0, |c| c.features.len()));
        let width = choices.first().map_or(0, |choice| choice.prompt.len());
        let mut model = Self { own: vec![0.0; own], by_label: vec![vec![0.0; width]; labels] };
        let used: Vec<&Choice> = choices.iter().filter(|choice| choice.target.is_some()).collect();
        if used.is_empty() {
            return model;
        }
        let size = own + labels * width;
        let (mut first, mut second) = (vec![0.0_f64; size], vec![0.0_f64; size]);
        let mut gradient = vec![0.0_f64; size];
        for step in 1..=STEPS {
            gradient.fill(0.0);
            for choice in &used {
                let probabilities = model.probabilities(choice);
                for (index, (candidate, probability)) in
                    choice.candidates.iter().zip(&probabilities).enumerate()
                {
                    let error = f64::from(u8::from(choice.target == Some(index))) - probability;
                    for (slope, feature) in gradient.iter_mut().zip(&candidate.features) {
                        *slope += error * feature;
                    }
                    if let Some(label) = candidate.label {
                        let row = &mut gradient[own + label * width..][..width];
                        for (slope, feature) in row.iter_mut().zip(&choice.prompt) {
                            *slope += error * feature;
                        }
                    }
                }
            }
            let count = used.len() as f64;
            let decay = |rate: f64| 1.0 - libm::pow(rate, step as f64);
            for (place, slope) in gradient.iter().enumerate() {
                let weight = model.weight(place);
                let slope = slope / count - PENALTY * *weight;
                first[place] = 0.9 * first[place] + 0.1 * slope;
                second[place] = 0.99 * second[place] + 0.01 * slope * slope;
                *weight += 0.1 * (first[place] / decay(0.9)) / ((second[place] / decay(0.99)).sqrt() + 1e-8);
            }
        }
        model
    }

    fn weight(&mut self, place: usize) -> &mut f64 {
        match place.checked_sub(self.own.len()) {
            None => &mut self.own[place],
            Some(place) => {
                let width = self.by_label[0].len();
                &mut self.by_label[place / width][place % width]
            }
        }
    }

    fn probabilities(&self, choice: &Choice) -> Vec<f64> {
        let mut values: Vec<f64> =
            choice.candidates.iter().map(|candidate| self.utility(choice, candidate)).collect();
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for value in &mut values {
            *value = libm::exp(*value - largest);
        }
        let total: f64 = values.iter().sum();
        for value in &mut values {
            *value /= total;
        }
        values
    }

    fn utility(&self, choice: &Choice, candidate: &Candidate) -> f64 {
        let dot = |weights: &[f64], features: &[f64]| -> f64 {
            weights.iter().zip(features).map(|(w, f)| w * f).sum()
        };
        dot(&self.own, &candidate.features)
            + candidate.label.map_or(0.0, |label| dot(&self.by_label[label], &choice.prompt))
    }

    /// The candidate with the highest utility, the first of equals.
    pub(super) fn predict(&self, choice: &Choice) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for (index, candidate) in choice.candidates.iter().enumerate() {
            let value = self.utility(choice, candidate);
            if best.is_none_or(|(_, highest)| value > highest) {
                best = Some((index, value));
            }
        }
        best.map(|(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PyRandom;

    /// Two labels whose log-odds are linear in one feature: the weights' difference is the slope that made the data.
    #[test]
    fn fit_recovers_a_logistic_curve() {
        let mut rng = PyRandom::new(4);
        let choices: Vec<Choice> = (0..4000)
            .map(|_| {
                let x = rng.uniform(-2.0, 2.0);
                let is_first = rng.random() < 1.0 / (1.0 + libm::exp(-(0.5 + 1.5 * x)));
                let candidate = |label| Candidate { features: Vec::new(), label: Some(label) };
                Choice {
                    prompt: vec![1.0, x],
                    candidates: vec![candidate(0), candidate(1)],
                    target: Some(usize::from(!is_first)),
                }
            })
            .collect();
        let model = Logit::fit(&choices, 2);
        let slope = model.by_label[0][1] - model.by_label[1][1];
        let offset = model.by_label[0][0] - model.by_label[1][0];
        // The penalty shrinks both a little.
        assert!((1.3..=1.6).contains(&slope), "{slope}");
        assert!((0.35..=0.6).contains(&offset), "{offset}");
    }

    #[test]
    fn fit_finds_the_candidate_feature_that_decides() {
        let mut rng = PyRandom::new(5);
        let choices: Vec<Choice> = (0..400)
            .map(|_| {
                let target = rng.randint(0, 3) as usize;
                let candidates = (0..4)
                    .map(|index| Candidate {
                        features: vec![f64::from(u8::from(index == target)), rng.random()],
                        label: None,
                    })
                    .collect();
                Choice { prompt: Vec::new(), candidates, target: Some(target) }
            })
            .collect();
        let model = Logit::fit(&choices[..200], 0);
        assert!(choices[200..].iter().all(|choice| model.predict(choice) == choice.target));
    }
}
