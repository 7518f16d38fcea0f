//! Which requests are allowed: by host, origin and token.
//!
//! A browser sends its user's cookies on behalf of every page it shows. So a request must name this server as its host
//! (DNS rebinding), a request that changes something must come from one of the server's own pages (CSRF), and requests
//! from other machines need the token.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap, ORIGIN};
use axum::http::{Method, StatusCode, Uri};
use subtle::ConstantTimeEq;

use super::error::ApiError;
use super::guess_limiter::GuessLimiter;

/// The session cookie, set after login.
const COOKIE_NAME: &str = "reasonscape";

/// Maximum length of a request body, in bytes.
pub(crate) const MAX_BODY_LEN: usize = 64 * 1024;

/// The secret of a server, and the session id that browsers hold instead.
pub struct Token {
    secret: String,
    /// Generated at each start, so that a browser never stores the secret itself.
    session: String,
    guesses: GuessLimiter,
}

/// The result of checking a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenCheck {
    Correct,
    /// The reply is to be delayed.
    Wrong {
        delay: Duration,
    },
    /// Not checked, because too many wrong tokens came from this address.
    Refused,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A token that the user chose.
    ///
    /// # Errors
    /// When the operating system has no random numbers.
    pub fn new(secret: String) -> Result<Self, getrandom::Error> {
        Ok(Self { secret, session: random()?, guesses: GuessLimiter::default() })
    }

    /// A random token, and its text to be printed once.
    ///
    /// # Errors
    /// When the operating system has no random numbers.
    pub fn generate() -> Result<(Self, String), getrandom::Error> {
        let secret = random()?;
        Ok((Self::new(secret.clone())?, secret))
    }

    /// Compares a token with the secret in constant time, unless its sender has guessed too often.
    pub(crate) fn check(&self, given: &str, sender: IpAddr, now: Instant) -> TokenCheck {
        if !self.guesses.may_guess(sender, now) {
            return TokenCheck::Refused;
        }
        if self.secret.as_bytes().ct_eq(given.as_bytes()).into() {
            return TokenCheck::Correct;
        }
        TokenCheck::Wrong { delay: self.guesses.record_wrong(sender, now) }
    }

    fn is_session(&self, given: &str) -> bool {
        self.session.as_bytes().ct_eq(given.as_bytes()).into()
    }

    /// The session cookie; `Secure` where the page came over HTTPS.
    pub(crate) fn cookie(&self, base: &str, is_https: bool) -> String {
        let secure = if is_https { "; Secure" } else { "" };
        format!("{COOKIE_NAME}={}; Path={base}/; HttpOnly; SameSite=Strict{secure}", self.session)
    }

    /// The cookie that ends the session.
    pub(crate) fn no_cookie(base: &str) -> String {
        format!("{COOKIE_NAME}=; Path={base}/; HttpOnly; SameSite=Strict; Max-Age=0")
    }
}

/// 256 random bits as hexadecimal digits.
fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Which requests are allowed.
#[derive(Debug)]
pub struct Access {
    /// Where the server listens.
    pub address: SocketAddr,
    /// Additional host names, such as that of a proxy.
    pub hosts: Vec<String>,
    /// The token that requests need, if any.
    pub token: Option<Token>,
    /// Whether the server refuses all changes.
    pub read_only: bool,
}

impl Access {
    /// Refuses requests for another host, and changes requested by pages of another origin.
    pub(crate) fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
        let host = host(uri, headers)?;
        if !self.is_ours(&host) {
            return Err(ApiError::new(
                StatusCode::MISDIRECTED_REQUEST,
                format_args!(
                    "unknown host `{host}`; start the server with `--allow-host {}` to accept it",
                    name_of(&host)
                ),
            ));
        }
        if [Method::GET, Method::HEAD, Method::OPTIONS].contains(method) {
            return Ok(());
        }
        let is_own = match headers.get(ORIGIN).map(|origin| origin.to_str().unwrap_or_default()) {
            Some(origin) => {
                origin.split_once("://").is_some_and(|(_, from)| from.eq_ignore_ascii_case(&host))
            }
            None => true,
        };
        let site = headers.get("sec-fetch-site").map(|site| site.to_str().unwrap_or_default());
        if !is_own || site.is_some_and(|site| site != "same-origin") {
            return Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "requests from pages of another origin can't change anything",
            ));
        }
        Ok(())
    }

    /// Checks the token in the `Authorization` header, if there is one.
    pub(crate) fn check_bearer(
        &self,
        headers: &HeaderMap,
        sender: IpAddr,
        now: Instant,
    ) -> Option<TokenCheck> {
        let bearer = headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")?;
        Some(self.token.as_ref()?.check(bearer, sender, now))
    }

    /// Whether a request has the session cookie, or the server needs no token.
    pub(crate) fn has_session(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(name, value)| name == COOKIE_NAME && token.is_session(value))
    }

    /// Whether the host is an allowed name, `localhost`, or the address that the server listens on. A page that points its
    /// own name at this machine (DNS rebinding) fails this check, because browsers always send that name.
    fn is_ours(&self, host: &str) -> bool {
        let name = name_of(host);
        if self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(host))
        {
            return true;
        }
        let port = host[name.len()..].strip_prefix(':').map_or(Some(80), |port| port.parse().ok());
        if port != Some(self.address.port()) {
            return false;
        }
        if name.eq_ignore_ascii_case("localhost") {
            return true;
        }
        let Ok(ip) = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() else {
            return false;
        };
        ip == self.address.ip() || self.address.ip().is_unspecified() || ip.is_loopback()
    }
}

/// The host that a request names.
fn host(uri: &Uri, headers: &HeaderMap) -> Result<String, ApiError> {
    let mut named = headers.get_all(HOST).iter();
    let host = match (named.next(), named.next(), uri.authority()) {
        (Some(_), None, Some(authority)) => Some(authority.as_str()),
        (Some(host), None, None) => host.to_str().ok(),
        _ => None,
    };
    host.map(str::to_ascii_lowercase)
        .ok_or_else(|| ApiError::bad_request("expected exactly one `Host` header"))
}

/// A host without its port.
fn name_of(host: &str) -> &str {
    let end = match host.rfind(']') {
        Some(end) => end + 1,
        None => host.rfind(':').unwrap_or(host.len()),
    };
    &host[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(address: &str, token: Option<&str>) -> Access {
        Access {
            address: address.parse().unwrap(),
            hosts: vec!["scores.example".to_owned()],
            token: token.map(|secret| Token::new(secret.to_owned()).unwrap()),
            read_only: false,
        }
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn accepts_only_hosts_of_this_server() {
        let local = access("127.0.0.1:8050", None);
        let is_let_in = |access: &Access, host: &str| {
            access.check(&Method::GET, &"/".parse().unwrap(), &headers(&[("host", host)])).is_ok()
        };
        for host in ["127.0.0.1:8050", "localhost:8050", "LOCALHOST:8050", "[::1]:8050", "scores.example"] {
            assert!(is_let_in(&local, host), "{host}");
        }
        for host in [
            "evil.example:8050",
            "127.0.0.1",
            "127.0.0.1:8051",
            "10.0.0.1:8050",
            "localhost.evil.example:8050",
            "127.0.0.1.evil.example:8050",
            "",
            ":8050",
            "[",
            "127.0.0.1:8050@evil.example",
        ] {
            assert!(!is_let_in(&local, host), "{host}");
        }
        let everywhere = access("0.0.0.0:8050", Some("12345678"));
        assert!(is_let_in(&everywhere, "10.0.0.1:8050"));
        assert!(!is_let_in(&everywhere, "evil.example:8050"));
        assert!(local.check(&Method::GET, &"/".parse().unwrap(), &headers(&[])).is_err());
        let twice = headers(&[("host", "127.0.0.1:8050"), ("host", "evil.example")]);
        assert!(local.check(&Method::GET, &"/".parse().unwrap(), &twice).is_err());
    }

    #[test]
    fn accepts_changes_only_from_own_pages() {
        let local = access("127.0.0.1:8050", None);
        let may = |more: &[(&'static str, &str)]| {
            let headers = headers(&[&[("host", "127.0.0.1:8050")], more].concat());
            local.check(&Method::POST, &"/login".parse().unwrap(), &headers).is_ok()
        };
        assert!(may(&[]));
        assert!(may(&[("origin", "http://127.0.0.1:8050"), ("sec-fetch-site", "same-origin")]));
        assert!(!may(&[("origin", "http://evil.example")]));
        assert!(!may(&[("origin", "http://127.0.0.1:8051")]));
        assert!(!may(&[("origin", "null")]));
        for site in ["cross-site", "same-site", "none"] {
            assert!(!may(&[("sec-fetch-site", site)]), "{site}");
        }
    }

    #[test]
    fn accepts_token_as_cookie_or_bearer() {
        let access = access("0.0.0.0:8050", Some("correct horse"));
        let token = access.token.as_ref().unwrap();
        let cookie = token.cookie("/x", true);
        assert!(cookie.ends_with("; Path=/x/; HttpOnly; SameSite=Strict; Secure"), "{cookie}");
        assert!(!cookie.contains("horse"));
        let pair = format!("other=1; {}", cookie.split(';').next().unwrap());
        let (sender, now) = (IpAddr::from([10, 0, 0, 1]), Instant::now());
        let check = |headers: &HeaderMap| access.check_bearer(headers, sender, now);
        assert!(access.has_session(&headers(&[("cookie", &pair)])));
        let correct = headers(&[("authorization", "Bearer correct horse")]);
        assert_eq!(check(&correct), Some(TokenCheck::Correct));
        for (name, value) in [
            ("cookie", "reasonscape=correct horse"),
            ("cookie", "reasonscape="),
            ("authorization", "Bearer correct hors"),
            ("authorization", "correct horse"),
        ] {
            let headers = headers(&[(name, value)]);
            let is_correct = check(&headers) == Some(TokenCheck::Correct);
            assert!(!is_correct && !access.has_session(&headers), "{name}: {value}");
        }
        assert!(check(&HeaderMap::new()).is_none() && !access.has_session(&HeaderMap::new()));
        // After too many wrong tokens, a correct one is not told from others.
        let wrong = headers(&[("authorization", "Bearer wrong")]);
        while check(&wrong) != Some(TokenCheck::Refused) {}
        assert_eq!(check(&correct), Some(TokenCheck::Refused));
        assert!(access.has_session(&headers(&[("cookie", &pair)])));
        let another = IpAddr::from([10, 0, 0, 2]);
        assert_eq!(access.check_bearer(&correct, another, now), Some(TokenCheck::Correct));
        assert!(!format!("{access:?}").contains("horse"));
    }
}
