//! The keys of `study.toml` and of the files it refers to, defined only here.
//!
//! A test checks that `commented.toml` has a line for each key of a study.

/// One kind of table: its name in errors, and its keys in the order of error messages.
#[derive(Debug)]
pub(crate) struct TableKeys {
    pub(crate) table: &'static str,
    pub(crate) known: &'static [&'static str],
    /// Deprecated names that are still accepted. Errors don't list them.
    pub(crate) deprecated: &'static [&'static str],
}

/// Top level of `study.toml`.
pub(crate) mod study {
    pub(crate) const SUITE: &str = "suite";
    pub(crate) const DATASET: &str = "dataset";
    pub(crate) const SCORER: &str = "scorer";
    pub(crate) const COUNT: &str = "count";
    pub(crate) const PRECISION: &str = "precision";
    pub(crate) const MAX_COUNT: &str = "max_count";
    pub(crate) const SEED: &str = "seed";
    pub(crate) const REPEATS: &str = "repeats";
    pub(crate) const BUDGET: &str = "budget";
    pub(crate) const EVAL: &str = "eval";

    pub(crate) const KEYS: super::TableKeys = super::TableKeys {
        table: "a study",
        known: &[SUITE, DATASET, SCORER, COUNT, PRECISION, MAX_COUNT, SEED, REPEATS, BUDGET, EVAL],
        deprecated: &[],
    };
}

/// `[budget]` of a study.
pub(crate) mod budget {
    pub(crate) const TOKENS: &str = "tokens";
    pub(crate) const REQUESTS: &str = "requests";
    pub(crate) const MONEY: &str = "money";
    pub(crate) const SECONDS: &str = "seconds";
    pub(crate) const MINUTES: &str = "minutes";

    pub(crate) const KEYS: super::TableKeys = super::TableKeys {
        table: "[budget]",
        known: &[TOKENS, REQUESTS, MONEY, SECONDS, MINUTES],
        deprecated: &[],
    };
}

/// `[[eval]]` of a study.
pub(crate) mod eval {
    pub(crate) const NAME: &str = "name";
    pub(crate) const MODEL: &str = "model";
    pub(crate) const BASE_URL: &str = "base_url";
    pub(crate) const PROVIDER: &str = "provider";
    pub(crate) const API_KEY_ENV: &str = "api_key_env";
    pub(crate) const TEMPLATE: &str = "template";
    pub(crate) const SAMPLER: &str = "sampler";
    pub(crate) const MAX_TOKENS_FIELD: &str = "max_tokens_field";
    pub(crate) const GROUPS: &str = "groups";
    pub(crate) const CONCURRENCY: &str = "concurrency";
    pub(crate) const TIMEOUT: &str = "timeout_seconds";
    pub(crate) const IDLE_TIMEOUT: &str = "idle_timeout_seconds";
    pub(crate) const CONNECT_TIMEOUT: &str = "connect_timeout_seconds";
    pub(crate) const MAX_RETRIES: &str = "max_retries";
    pub(crate) const OUTAGE_TIMEOUT: &str = "outage_timeout_seconds";
    /// Deprecated name of [`OUTAGE_TIMEOUT`]: still accepted, with a notice.
    pub(crate) const OUTAGE_TIMEOUT_OLD: &str = "patience_seconds";
    pub(crate) const PRICE_PROMPT: &str = "price_prompt";
    pub(crate) const PRICE_COMPLETION: &str = "price_completion";
    pub(crate) const CACHE_NAMESPACE: &str = "cache_namespace";
    pub(crate) const HEADERS: &str = "headers";

    pub(crate) const KEYS: super::TableKeys = super::TableKeys {
        table: "an [[eval]]",
        known: &[
            NAME,
            MODEL,
            BASE_URL,
            PROVIDER,
            API_KEY_ENV,
            TEMPLATE,
            SAMPLER,
            MAX_TOKENS_FIELD,
            GROUPS,
            CONCURRENCY,
            TIMEOUT,
            IDLE_TIMEOUT,
            CONNECT_TIMEOUT,
            MAX_RETRIES,
            OUTAGE_TIMEOUT,
            PRICE_PROMPT,
            PRICE_COMPLETION,
            CACHE_NAMESPACE,
            HEADERS,
        ],
        deprecated: &[OUTAGE_TIMEOUT_OLD],
    };
}

/// A header whose value comes from the environment.
pub(crate) mod header {
    pub(crate) const ENV: &str = "env";

    pub(crate) const KEYS: super::TableKeys =
        super::TableKeys { table: "a header's table", known: &[ENV], deprecated: &[] };
}

/// A sampler file.
pub(crate) mod sampler {
    pub(crate) const NAME: &str = "name";
    pub(crate) const DESCRIPTION: &str = "description";
    pub(crate) const PARAMS: &str = "params";

    pub(crate) const KEYS: super::TableKeys =
        super::TableKeys { table: "a sampler", known: &[NAME, DESCRIPTION, PARAMS], deprecated: &[] };
}

/// A template file.
pub(crate) mod template {
    pub(crate) const NAME: &str = "name";
    pub(crate) const DESCRIPTION: &str = "description";
    pub(crate) const SHOTS: &str = "shots";
    pub(crate) const MESSAGE: &str = "message";

    pub(crate) const KEYS: super::TableKeys = super::TableKeys {
        table: "a template",
        known: &[NAME, DESCRIPTION, SHOTS, MESSAGE],
        deprecated: &[],
    };
}

/// `[[message]]` of a template.
pub(crate) mod message {
    pub(crate) const ROLE: &str = "role";
    pub(crate) const CONTENT: &str = "content";

    pub(crate) const KEYS: super::TableKeys =
        super::TableKeys { table: "a [[message]]", known: &[ROLE, CONTENT], deprecated: &[] };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commented_study_covers_every_key() {
        let mentions = |key: &str| {
            let line = |line: &str| {
                let line = line.trim_start_matches("# ");
                line.starts_with(&format!("{key} = ")) || line.contains(&format!("[{key}]"))
            };
            crate::Study::COMMENTED.lines().any(line)
        };
        for key in [study::KEYS.known, budget::KEYS.known, eval::KEYS.known].concat() {
            assert!(mentions(key), "`{key}` is not in commented.toml");
        }
    }
}
