//! What the models know, in volume: what is observed is what is documented.

use reasonscape_core::{
    Json, ParamValue, Params, Range, Reply, Suite, Task, Test, TestStream, extract, tasks,
};
use reasonscape_providers::Finish;
use reasonscape_simulator::{ResolvedPrompt, SimulatedModel, Simulator, true_accuracy};

use super::quick;

fn model(name: &str) -> SimulatedModel {
    SimulatedModel::by_name(name).unwrap()
}

fn is_correct(
    simulator: &Simulator,
    model: &SimulatedModel,
    task: &dyn Task,
    test: &Test,
    prompt: &ResolvedPrompt<'_>,
) -> bool {
    let reply = simulator.complete(model, prompt);
    let found = extract(&Reply { content: &reply.content, reasoning: reply.reasoning.as_deref() });
    found.answer.is_some_and(|answer| task.check(&answer, test))
}

/// Observed counts lie within five standard deviations of the sum of the true probabilities.
fn assert_near(observed: u32, probabilities: &[f64], what: &str) {
    let expected: f64 = probabilities.iter().sum();
    let variance: f64 = probabilities.iter().map(|p| p * (1.0 - p)).sum();
    let off = (f64::from(observed) - expected).abs();
    assert!(off <= 5.0 * variance.sqrt() + 1e-6, "{what}: {observed} observed, {expected:.1} expected");
}

#[test]
fn observed_rates_match_the_ground_truth() {
    const MAX_TOKENS: u32 = 1024;
    let suite = quick();
    let simulator = Simulator::new(std::slice::from_ref(&suite), Some(128), 11);
    let names = SimulatedModel::profiles().map(|(name, _)| name).chain(["sim-p0.85-t0.1", "sim-p0.3"]);
    for name in names {
        let model = model(name);
        let (mut correct, mut truncated) = (0, 0);
        let (mut correct_expected, mut truncated_expected) = (Vec::new(), Vec::new());
        for point in suite.points() {
            let truth = model.truth(point.task, point.params, MAX_TOKENS);
            for test in TestStream::new(point.task, point.params, suite.seed).take(128) {
                let prompt = ResolvedPrompt { max_tokens: MAX_TOKENS, ..ResolvedPrompt::new(&test.prompt) };
                let reply = simulator.complete(&model, &prompt);
                let found =
                    extract(&Reply { content: &reply.content, reasoning: reply.reasoning.as_deref() });
                truncated += u32::from(reply.finish == Finish::Length);
                correct += u32::from(
                    reply.finish == Finish::Stop
                        && found.answer.is_some_and(|answer| point.task.check(&answer, &test)),
                );
                correct_expected.push(truth.correct(test.guess()));
                truncated_expected.push(truth.truncated());
            }
        }
        assert!(correct_expected.len() > 4000);
        assert_near(correct, &correct_expected, &format!("right answers of {name}"));
        assert_near(truncated, &truncated_expected, &format!("truncations of {name}"));
    }
}

#[test]
fn perfect_and_ignorant_models_score_as_expected() {
    let r12 = Suite::parse(Suite::built_in("r12").unwrap()).unwrap();
    let jsonpath = Suite::parse(
        "name = \"queries\"\ndescription = \"\"\ncount = 64\n[[manifold]]\nid = \"a\"\ntask = \"jsonpath\"\nparams = { depth = [1, 3] }",
    )
    .unwrap();
    let suites = [r12, jsonpath];
    let simulator = Simulator::new(&suites, Some(3), 0);
    let (all, ignorant) = (model("sim-p1"), model("sim-p0"));
    let (mut lucky, mut guesses) = (0, Vec::new());
    for suite in &suites {
        for point in suite.points() {
            for test in TestStream::new(point.task, point.params, suite.seed).take(3) {
                let prompt = ResolvedPrompt::new(&test.prompt);
                let with_confidence = ResolvedPrompt { states_confidence: true, ..prompt };
                assert!(is_correct(&simulator, &all, point.task, &test, &prompt), "{test:?}");
                assert!(is_correct(&simulator, &all, point.task, &test, &with_confidence), "{test:?}");
                let correct = is_correct(&simulator, &ignorant, point.task, &test, &prompt);
                assert!(!(correct && test.guess() == 0.0), "{test:?}");
                lucky += u32::from(correct);
                guesses.push(test.guess());
            }
        }
    }
    assert_near(lucky, &guesses, "lucky guesses");
}

/// Values of a parameter from the easy end to the hard one.
fn values(range: &Range) -> Vec<ParamValue> {
    match *range {
        Range::Int { low, high, .. } => {
            (0..=8).map(|step| ParamValue::Int(low + (high - low) * step / 8)).collect()
        }
        Range::Real { low, high, .. } => {
            (0..=4).map(|step| ParamValue::Real(low + (high - low) * f64::from(step) / 4.0)).collect()
        }
        Range::Word { words, .. } => words.iter().map(|word| ParamValue::Word(word)).collect(),
    }
}

#[test]
fn accuracy_falls_along_every_dimension() {
    for (name, _) in SimulatedModel::profiles() {
        for task in tasks::all_versions() {
            for parameter in task.parameters() {
                let mut values = values(&parameter.range);
                values.dedup();
                let accuracies: Vec<f64> = values
                    .iter()
                    .filter_map(|value| {
                        let coordinates = [(parameter.name.to_owned(), value.to_json())].into();
                        Params::new(task, &Json::Object(coordinates)).ok()
                    })
                    .map(|params| true_accuracy(&model(name), task, &params))
                    .collect();
                let what = format!("{name}, {} of {}: {accuracies:?}", parameter.name, task.name());
                assert!(accuracies.len() >= 2, "{what}");
                assert!(accuracies.windows(2).all(|pair| pair[0] > pair[1]), "{what}");
            }
        }
    }
}

#[test]
fn profiles_behave_as_documented() {
    let r12 = Suite::parse(Suite::built_in("r12").unwrap()).unwrap();
    let points = r12.points();
    let mean = |name: &str, of: &dyn Fn(&SimulatedModel, &reasonscape_core::Point<'_>) -> f64| {
        points.iter().map(|point| of(&model(name), point)).sum::<f64>() / points.len() as f64
    };
    let knows = |name: &str| mean(name, &|model, point| true_accuracy(model, point.task, point.params));
    let truncated =
        |name: &str| mean(name, &|model, point| model.truth(point.task, point.params, 2048).truncated());
    for (name, _) in SimulatedModel::profiles() {
        println!("{name}: knows {:.3}, truncated at 2048 tokens {:.3}", knows(name), truncated(name));
    }
    assert!(knows("sim-strong") > 0.75 && truncated("sim-strong") < 0.1);
    assert!((0.25..0.5).contains(&knows("sim-cheap")) && truncated("sim-cheap") < 0.05);
    assert!(knows("sim-truncating") > 0.65 && truncated("sim-truncating") > 0.3);
    assert!(knows("sim-guessing") < 0.15 && truncated("sim-guessing") == 0.0);
    let specialist = |task: &str| {
        let task_logit: Vec<f64> = points
            .iter()
            .filter(|point| point.task.family() == task)
            .map(|point| true_accuracy(&model("sim-specialist"), point.task, point.params))
            .collect();
        task_logit.iter().sum::<f64>() / task_logit.len() as f64
    };
    assert!(specialist("arithmetic") > 0.9 && specialist("sort") > 0.9);
    assert!(specialist("shapes") < 0.3 && specialist("cars") < 0.3);
}

#[test]
fn failures_loop_at_the_documented_rate() {
    let suite = quick();
    let simulator = Simulator::new(std::slice::from_ref(&suite), Some(64), 3);
    let truncating = model("sim-truncating");
    let (mut loops, mut expected) = (0, Vec::new());
    for point in suite.points() {
        let truth = truncating.truth(point.task, point.params, 512);
        for test in TestStream::new(point.task, point.params, suite.seed).take(64) {
            let reply = simulator.complete(
                &truncating,
                &ResolvedPrompt { max_tokens: 512, ..ResolvedPrompt::new(&test.prompt) },
            );
            let reasoning = reply.reasoning.unwrap();
            loops += u32::from(reasoning.matches("Wait, let me check that again.").count() > 50);
            expected.push((1.0 - truth.knows) * truth.loops);
        }
    }
    assert_near(loops, &expected, "loops");
}
