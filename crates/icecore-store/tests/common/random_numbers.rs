//! Random numbers for tests that act at arbitrary points.

/// Random numbers that can be repeated with the printed seed.
pub struct Random(u64);

impl Random {
    /// Seeds from `ICECORE_SEED`, or from the clock.
    pub fn new() -> Random {
        let clock = || std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_nanos() as u64);
        let seed = std::env::var("ICECORE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or_else(clock);
        println!("ICECORE_SEED={seed}");
        Random::from(seed)
    }

    pub fn from(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}
