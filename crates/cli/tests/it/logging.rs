//! Which levels `--log` accepts.

use crate::test_env::{assert_rejected, reasonscape};

#[test]
fn accepts_levels_and_targets_with_levels() {
    for level in ["trace", "off", "WARN", "reasonscape_runner=debug", "warn,hyper_util=trace"] {
        let run = reasonscape(&["tasks", "--log", level]);
        assert_eq!(run.code, 0, "{level}: {run:?}");
    }
    for level in ["", "loud", "debug,loud", "a=loud", "7", "a=b=c"] {
        let run = reasonscape(&["tasks", "--log", level]);
        assert_rejected(
            &run,
            &[&format!("invalid level `--log {level}`; expected error, warn, info, debug or trace")],
        );
    }
}
