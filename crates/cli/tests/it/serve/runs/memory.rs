//! Datasets that were opened and closed take no memory.

use serde_json::json;

use super::RunsEnv;

const STUDIES: usize = 1_000;
/// Studies after which the server has all that it keeps for good.
const WARM: usize = 100;
/// What the server may take more after the others. Their questions alone have ten times as much.
const MAX_GROWTH: u64 = 16 << 20;

#[test]
fn a_thousand_dataset_studies_leave_memory_flat() {
    let env = RunsEnv::new();
    let filler = "x".repeat(700);
    let line = |number: usize| format!("{{\"input\": \"{number} {filler}\", \"target\": \"{number}\"}}\n");
    let questions: String = (0..256).map(line).collect();
    let uploaded = env.server.request("POST", "/api/v1/datasets?name=many.jsonl", &[], &questions);
    assert_eq!(uploaded.status, 201, "{uploaded:?}");
    let request = json!({ "ask": "dataset", "dataset": "many.jsonl", "models": ["sim-p0.9"],
                          "base_url": env.models.base_url() });
    let mut warm = 0;
    for number in 0..STUDIES {
        if number == WARM {
            warm = env.server.resident_bytes();
        }
        let name = env.create(&request);
        assert_eq!(env.get_run(&name)["state"], "planned");
        let gone = env.server.request("DELETE", &format!("/api/v1/runs/{name}"), &[], "");
        assert_eq!(gone.status, 204, "{gone:?}");
    }
    let growth = env.server.resident_bytes().saturating_sub(warm);
    assert!(growth < MAX_GROWTH, "{} MB more after {} studies", growth >> 20, STUDIES - WARM);
}
