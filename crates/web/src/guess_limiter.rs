//! Limits how fast a token can be guessed.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What a wrong token costs: the time until the next one from the same address.
const WRONG_TOKEN_DELAY: Duration = Duration::from_millis(250);
/// The longest delay of a reply to a wrong token. From an address that owes more, no token is checked.
const MAX_DELAY: Duration = Duration::from_secs(2);
/// Maximum number of addresses that are counted separately.
const MAX_ADDRESSES: usize = 10_000;

/// The wrong tokens that were received, by address.
///
/// An address that sent too many is refused without checking its token: the time that a reply takes must not reveal a
/// correct guess.
#[derive(Debug, Default)]
pub(crate) struct GuessLimiter {
    /// When all wrong tokens of an address are paid for.
    paid_until: Mutex<HashMap<IpAddr, Instant>>,
}

impl GuessLimiter {
    /// Whether a token of this address may be checked now.
    pub(crate) fn may_guess(&self, address: IpAddr, now: Instant) -> bool {
        let paid_until = self.paid_until.lock().unwrap_or_else(PoisonError::into_inner);
        let owed = |key: &IpAddr| {
            paid_until.get(key).map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
        };
        owed(&prefix(address)).max(owed(&OTHERS)) < MAX_DELAY
    }

    /// Records a wrong token, and returns how long to delay the reply.
    pub(crate) fn record_wrong(&self, address: IpAddr, now: Instant) -> Duration {
        let mut paid_until = self.paid_until.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = prefix(address);
        if paid_until.len() >= MAX_ADDRESSES && !paid_until.contains_key(&key) {
            paid_until.retain(|_, until| *until > now);
            if paid_until.len() >= MAX_ADDRESSES {
                key = OTHERS;
            }
        }
        let until = paid_until.entry(key).or_insert(now);
        *until = (*until).max(now) + WRONG_TOKEN_DELAY;
        (*until - now).min(MAX_DELAY)
    }
}

/// The entry of all addresses beyond that number.
const OTHERS: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// One client mostly has a whole network of 64 bits in version 6.
fn prefix(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends wrong tokens as fast as they are accepted, and returns how many were checked.
    fn guess_for(limiter: &GuessLimiter, address: &str, start: Instant, seconds: u64) -> u32 {
        let address = address.parse().unwrap();
        let mut checked = 0;
        for ms in 0..seconds * 1_000 {
            let now = start + Duration::from_millis(ms);
            if limiter.may_guess(address, now) {
                assert!(limiter.record_wrong(address, now) <= MAX_DELAY);
                checked += 1;
            }
        }
        checked
    }

    #[test]
    fn checks_four_tokens_per_second_and_address() {
        let (limiter, now) = (GuessLimiter::default(), Instant::now());
        assert_eq!(guess_for(&limiter, "10.0.0.1", now, 10), 4 * 10 + 8);
        // Others are not delayed.
        assert_eq!(
            limiter.record_wrong("10.0.0.2".parse().unwrap(), now + Duration::from_secs(10)),
            WRONG_TOKEN_DELAY
        );
        // After a pause all is forgotten.
        let later = now + Duration::from_mins(1);
        assert_eq!(limiter.record_wrong("10.0.0.1".parse().unwrap(), later), WRONG_TOKEN_DELAY);
    }

    #[test]
    fn a_network_of_addresses_counts_as_one_client() {
        let (limiter, now) = (GuessLimiter::default(), Instant::now());
        guess_for(&limiter, "2001:db8::1", now, 1);
        assert!(!limiter.may_guess("2001:db8::ffff".parse().unwrap(), now));
        assert!(limiter.may_guess("2001:db8:0:1::1".parse().unwrap(), now));
        guess_for(&limiter, "::ffff:10.0.0.1", now, 1);
        assert!(!limiter.may_guess("10.0.0.1".parse().unwrap(), now));
    }

    #[test]
    fn remembers_a_limited_number_of_addresses() {
        let (limiter, now) = (GuessLimiter::default(), Instant::now());
        let address = |n: u32| IpAddr::from(Ipv4Addr::from_bits(0x0a00_0000 + n));
        for n in 0..2 * MAX_ADDRESSES as u32 {
            limiter.record_wrong(address(n), now);
        }
        assert_eq!(limiter.paid_until.lock().unwrap().len(), MAX_ADDRESSES + 1);
        assert!(!limiter.may_guess(address(u32::MAX >> 8), now));
        let later = now + Duration::from_hours(2);
        limiter.record_wrong(address(0xff_ffff), later);
        assert!(limiter.paid_until.lock().unwrap().len() <= MAX_ADDRESSES);
        assert!(limiter.may_guess(address(5), later));
    }
}
