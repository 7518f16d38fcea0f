//! Which API keys of the server a run may send where.
//!
//! Whoever creates a run chooses its endpoint. A key in the environment of the server is therefore sent only to the
//! addresses that the study, the operator or the provider of the key names for it.

use reasonscape_providers::ApiKey;
use reasonscape_study::{Eval, KeyAddress};

use super::Runs;
use crate::error::ApiError;

/// The addresses that keys may be sent to, besides those in the study.
pub(super) struct KeyRules {
    /// From the options of the server.
    allowed: Vec<KeyAddress>,
    of_providers: Vec<KeyAddress>,
}

impl KeyRules {
    pub(super) fn new(allowed: Vec<KeyAddress>) -> Self {
        Self { allowed, of_providers: KeyAddress::of_providers() }
    }

    /// The variables of keys that may be used; of those of providers, the ones that are set.
    pub(super) fn variables(&self) -> Vec<String> {
        let set = self.of_providers.iter().filter(|one| ApiKey::from_env(&one.variable).is_ok());
        self.allowed.iter().chain(set).map(|one| one.variable.clone()).collect()
    }
}

impl Runs {
    /// Refuses evaluations that would send a key of the environment to an address that isn't named for it. A key typed by
    /// the user goes where the user says.
    pub(super) fn check_keys<'e>(&self, evals: impl Iterator<Item = &'e Eval>) -> Result<(), ApiError> {
        let home = self.store.home_study().and_then(Result::ok);
        for eval in evals.filter(|eval| eval.api_key_override.is_none()) {
            let Some(variable) = eval.api_key_env.as_deref() else { continue };
            let rules = self.key_rules.allowed.iter().chain(&self.key_rules.of_providers);
            let is_allowed = |base_url: &str| {
                let mut of_study = home.iter().flat_map(|study| &study.evals);
                rules.clone().any(|rule| rule.allows(variable, base_url))
                    || of_study.any(|known| {
                        known.api_key_env.as_deref() == Some(variable)
                            && known.base_urls.iter().any(|known| known == base_url)
                    })
            };
            if let Some(base_url) = eval.base_urls.iter().find(|base_url| !is_allowed(base_url)) {
                return Err(ApiError::bad_request(format_args!(
                    "`api_key_env` is not allowed: the key in `{variable}` is not sent to {base_url}; leave out \
                     `api_key_env` and enter the key when starting the run, or start the server with `--allow-key \
                     {variable}={base_url}`"
                )));
            }
        }
        Ok(())
    }
}
