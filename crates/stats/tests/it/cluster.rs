//! Clustering against SciPy.

use reasonscape_stats::cluster::{Linkage, cluster, distance};
use serde_json::Value;

use crate::golden::{assert_close, cases, list, number, numbers};

fn row(value: &Value) -> Vec<f64> {
    value.as_array().expect("a row").iter().map(|value| value.as_f64().expect("a row of numbers")).collect()
}

#[test]
fn merges_leaf_order_and_cuts_agree_with_scipy() {
    for case in cases("cluster") {
        let linkage = match case["linkage"].as_str().expect("a name") {
            "average" => Linkage::Average,
            "complete" => Linkage::Complete,
            "single" => Linkage::Single,
            "ward" => Linkage::Ward,
            other => panic!("unknown linkage `{other}`"),
        };
        let profiles: Vec<Vec<f64>> = list(&case, "profiles").iter().map(row).collect();
        let mut distances = numbers(&case, "distances").into_iter();
        for (i, a) in profiles.iter().enumerate() {
            for b in &profiles[i + 1..] {
                assert_close(
                    distance(a, b).unwrap(),
                    distances.next().expect("a distance a pair"),
                    "distance",
                );
            }
        }
        let tree = cluster(&profiles, linkage).unwrap();
        for (merge, expected) in tree.merges().iter().zip(list(&case, "merges")) {
            let expected = row(&expected);
            assert_eq!(
                [merge.a, merge.b, merge.size].map(|n| n as f64),
                [expected[0], expected[1], expected[3]]
            );
            assert_close(merge.height, expected[2], "height");
        }
        assert_eq!(tree.merges().len(), profiles.len() - 1);
        let leaves: Vec<f64> = tree.leaf_order().into_iter().map(|leaf| leaf as f64).collect();
        assert_eq!(leaves, numbers(&case, "leaves"));
        // SciPy numbers the groups otherwise; two leaves are together here when they are together there.
        let found = tree.cut(number(&case, "height")).unwrap();
        let expected = numbers(&case, "groups");
        for i in 0..found.len() {
            for j in 0..i {
                assert_eq!(found[i] == found[j], expected[i] == expected[j], "{i} and {j}");
            }
        }
    }
}
