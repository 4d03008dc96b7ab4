//! Rate limits per client address.

use crate::settings::Rate;
use crate::threads::lock_ignoring_poison;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Mutex;
use std::time::Instant;

/// Maximum number of addresses whose buckets are kept.
const MAX_BUCKETS: usize = 16_384;

/// A token bucket for each address. A request takes a token from the bucket, and new tokens are added over time.
pub struct RateLimiter {
    rate: Option<Rate>,
    buckets: Mutex<HashMap<IpAddr, Bucket>>,
}

struct Bucket {
    tokens: f64,
    updated_at: Instant,
}

impl RateLimiter {
    pub fn new(rate: Option<Rate>) -> RateLimiter {
        RateLimiter { rate, buckets: Mutex::default() }
    }

    /// Takes a token. If the bucket is empty, the error is the number of seconds until it has a token again.
    pub fn take_token(&self, address: IpAddr, now: Instant) -> Result<(), u64> {
        let Some(rate) = self.rate else { return Ok(()) };
        let burst = rate.burst.max(1.0);
        let current_tokens = |bucket: &Bucket| {
            let elapsed = now.saturating_duration_since(bucket.updated_at).as_secs_f64();
            (bucket.tokens + elapsed * rate.per_second).min(burst)
        };
        let mut buckets = lock_ignoring_poison(&self.buckets);
        if buckets.len() >= MAX_BUCKETS {
            // A full bucket can be removed, because a new bucket is full too.
            buckets.retain(|_, bucket| current_tokens(bucket) < burst);
            if buckets.len() >= MAX_BUCKETS {
                buckets.clear();
            }
        }
        let bucket = buckets.entry(client_network(address)).or_insert(Bucket { tokens: burst, updated_at: now });
        *bucket = Bucket { tokens: current_tokens(bucket), updated_at: now };
        if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            return Ok(());
        }
        let wait = (1.0 - bucket.tokens) / rate.per_second.max(f64::MIN_POSITIVE);
        Err(wait.ceil().clamp(1.0, 3600.0) as u64)
    }
}

/// Returns the address that counts: for IPv6, a client usually controls the whole /64.
pub fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_rate_limit_refills_with_time() {
        let rates = RateLimiter::new(Some(Rate { per_second: 2.0, burst: 3.0 }));
        let (start, one) = (Instant::now(), "10.0.0.1".parse().expect("an address"));
        let took = |time| (0..5).filter(|_| rates.take_token(one, time).is_ok()).count();
        assert_eq!(took(start), 3);
        assert_eq!(rates.take_token(one, start), Err(1));
        assert!(rates.take_token("10.0.0.2".parse().expect("an address"), start).is_ok());
        assert_eq!(took(start + Duration::from_secs(1)), 2);
        assert_eq!(took(start + Duration::from_secs(100)), 3);
    }
}
