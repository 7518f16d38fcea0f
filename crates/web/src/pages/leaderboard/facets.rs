//! Filters by the labels of evaluations, facet by facet.

use std::collections::{BTreeMap, BTreeSet};

use reasonscape_points::EvalInfo;
use serde::Serialize;

use crate::query_string::Query;

/// A facet with the labels to choose from.
#[derive(Serialize)]
pub(super) struct Facet {
    name: String,
    labels: Vec<Label>,
}

#[derive(Serialize)]
struct Label {
    value: String,
    shown: String,
    is_chosen: bool,
}

/// The labels of all evaluations, by facet.
pub(super) fn facets(evals: &[EvalInfo], query: &Query) -> Vec<Facet> {
    let mut labels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for label in evals.iter().flat_map(|eval| &eval.groups) {
        let facet = label.split_once(':').map_or("label", |(facet, _)| facet);
        labels.entry(facet).or_default().insert(label);
    }
    let chosen: BTreeSet<&str> = query.all("group").collect();
    labels
        .into_iter()
        .map(|(facet, labels)| Facet {
            name: facet.to_owned(),
            labels: labels
                .into_iter()
                .map(|label| Label {
                    value: label.to_owned(),
                    shown: label.split_once(':').map_or(label, |(_, value)| value).to_owned(),
                    is_chosen: chosen.contains(label),
                })
                .collect(),
        })
        .collect()
}

/// Labels of one facet are alternatives; of different facets, all must hold.
pub(super) fn conditions(query: &Query) -> Vec<String> {
    let mut facets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut conditions: Vec<String> = query.all("filter").map(ToOwned::to_owned).collect();
    for label in query.all("group") {
        match label.split_once(':') {
            Some((facet, value)) => facets.entry(facet).or_default().push(value),
            None => conditions.push(format!("groups={label}")),
        }
    }
    conditions.extend(facets.iter().map(|(facet, values)| format!("facets.{facet}={}", values.join(","))));
    conditions
}
