//! The noise of the machine.

use super::interval::{distance_from_one, is_known};
use super::{is_usable, median_of_values};
use crate::model::{Interval, Noise, NoiseLevel, Operation, Point, Role, Sample};

/// Minimum resolution. No machine can distinguish differences below 1 %, however well the baseline's twin agrees with
/// the baseline.
pub const MIN_RESOLUTION: f64 = 0.01;

/// Assumed resolution if nothing was measured.
const UNKNOWN_RESOLUTION: f64 = 0.1;

/// Minimum number of samples of the lab's own task.
const MIN_PROBE_SAMPLES: usize = 6;

/// Limits above which differences of a few percent are not visible.
const RESTLESS_LIMITS: Limits = Limits { resolution: 0.05, spread: 0.1, drift: 0.1 };

/// Limits above which differences of ten percent are not visible.
const NOISY_LIMITS: Limits = Limits { resolution: 0.15, spread: 0.3, drift: 0.3 };

/// Limits of noise. The resolution decides about ties, so its limits are narrow. The limits of spread and drift are
/// wider, because both affect the two sides of a pair in the same way and mostly cancel out. Above these limits they
/// no longer cancel out completely.
struct Limits {
    resolution: f64,
    spread: f64,
    drift: f64,
}

/// Returns the noise of a machine, from the times of the lab's own constant task, in the order in which they were
/// taken, and from how many times faster the baseline was than itself.
///
/// The level is `Quiet` up to a resolution of 5 % and a spread and a drift of 10 %, `Noisy` above a resolution of 15 %
/// or a spread or a drift of 30 %, and `Restless` in between. Without a twin, the spread is used as the resolution.
pub fn assess_noise(probe: &[Sample], twin: Option<Interval>) -> Noise {
    let times: Vec<f64> = probe.iter().filter(|sample| is_usable(sample)).map(|sample| sample.ns).collect();
    let twin = twin.filter(is_known);
    let was_probed = times.len() >= MIN_PROBE_SAMPLES;
    let (spread, drift) = if was_probed { (compute_spread(&times), compute_drift(&times)) } else { (0.0, 0.0) };
    let resolution = match twin {
        Some(twin) => distance_from_one(twin.estimate).max(MIN_RESOLUTION),
        None if was_probed => spread.max(MIN_RESOLUTION),
        None => UNKNOWN_RESOLUTION,
    };
    let exceeds =
        |limits: &Limits| resolution > limits.resolution || spread > limits.spread || drift.abs() > limits.drift;
    let level = match () {
        () if exceeds(&NOISY_LIMITS) => NoiseLevel::Noisy,
        () if exceeds(&RESTLESS_LIMITS) => NoiseLevel::Restless,
        () => NoiseLevel::Quiet,
    };
    let words = match (twin.is_some(), was_probed) {
        (false, false) => UNKNOWN_NOISE.to_owned(),
        _ => describe_noise(level, spread, drift, resolution),
    };
    Noise { level, spread, drift, resolution, words }
}

/// Returns how far the baseline's twin is from the baseline in this operation, at one size. The result is at least
/// [`MIN_RESOLUTION`], also without a twin.
pub fn operation_resolution(point: &Point, operation: Operation) -> f64 {
    let twins = point.entries.iter().filter(|entry| entry.role == Role::Twin);
    let times = twins.filter_map(|twin| Some(twin.find_cell(operation)?.against?.times)).filter(is_known);
    times.map(|times| distance_from_one(times.estimate)).fold(MIN_RESOLUTION, f64::max)
}

/// Returns the interquartile range of the times divided by their median.
fn compute_spread(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let quarter = sorted.len() / 4;
    let median = median_of_values(&mut sorted.clone()).unwrap_or(1.0);
    (sorted[sorted.len() - 1 - quarter] - sorted[quarter]) / median
}

/// Returns how much slower the last third is than the first, as a fraction: 0.1 means 10 % slower.
fn compute_drift(times: &[f64]) -> f64 {
    let third = times.len() / 3;
    let first = median_of_values(&mut times[..third].to_vec());
    let last = median_of_values(&mut times[times.len() - third..].to_vec());
    first.zip(last).map_or(0.0, |(first, last)| last / first - 1.0)
}

const UNKNOWN_NOISE: &str = "How noisy the machine was is not known, too little was timed for that: ask for more rounds with \
                      --rounds 15.";

/// Returns one sentence: the smallest visible difference, the largest source of noise, and the remedy.
fn describe_noise(level: NoiseLevel, spread: f64, drift: f64, resolution: f64) -> String {
    let percent = format_percent(resolution);
    if level == NoiseLevel::Quiet {
        return format!("The machine was quiet: differences of more than {percent} can be told apart.");
    }
    let condition = if level == NoiseLevel::Noisy { "noisy" } else { "restless" };
    let causes = [
        (resolution / RESTLESS_LIMITS.resolution, Cause::Resolution),
        (spread / RESTLESS_LIMITS.spread, Cause::Spread),
        (drift.abs() / RESTLESS_LIMITS.drift, Cause::Drift),
    ];
    let worst = causes.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map_or(Cause::Resolution, |(_, cause)| cause);
    let reason = match worst {
        Cause::Drift if drift > 0.0 => format!(
            "it was {} slower at the end than at the beginning, as one that heats up or that something else began to \
             use: let it rest, or ask for more rounds with --rounds 15",
            format_percent(drift)
        ),
        Cause::Drift => format!(
            "it was {} faster at the end than at the beginning, as if something else had used it first: run again, or \
             ask for more rounds with --rounds 15",
            format_percent(-drift)
        ),
        Cause::Spread => format!(
            "the same work took {} more at one time than at another, most likely because another program keeps a core \
             busy: close it, or ask for more rounds with --rounds 15",
            format_percent(spread)
        ),
        Cause::Resolution => format!(
            "the baseline differed from itself by up to {percent}: close other programs, or ask for more rounds with \
             --rounds 15"
        ),
    };
    format!("The machine was {condition}, only differences of more than {percent} can be told apart; {reason}.")
}

/// A source of noise.
enum Cause {
    Resolution,
    Spread,
    Drift,
}

/// Formats a fraction in percent: `0.4 %`, `3 %`, `25 %`.
fn format_percent(fraction: f64) -> String {
    let tenths = (fraction * 1000.0).round() / 10.0;
    if tenths < 10.0 { format!("{tenths} %") } else { format!("{tenths:.0} %") }
}

#[cfg(test)]
mod tests {
    use super::super::compute_speedup;
    use super::super::synthetic::{SimulatedMachine, sample_run, samples_from_times};
    use super::*;

    fn interval(estimate: f64, low: f64, high: f64) -> Option<Interval> {
        Some(Interval { estimate, low, high })
    }

    #[test]
    fn a_quiet_machine_is_called_quiet() {
        let found = assess_noise(&sample_run(1, 5, 20, 0.005, 0.01), interval(1.015, 1.0, 1.03));
        assert_eq!(found.level, NoiseLevel::Quiet);
        assert!((found.resolution - 0.015).abs() < 1e-9);
        assert!((0.005..0.03).contains(&found.spread) && found.drift.abs() < 0.02, "{found:?}");
        assert_eq!(found.words, "The machine was quiet: differences of more than 1.5 % can be told apart.");
    }

    #[test]
    fn the_resolution_has_a_lower_bound() {
        assert_eq!(
            assess_noise(&sample_run(1, 5, 20, 0.0, 0.01), interval(1.0, 0.9999, 1.0001)).resolution,
            MIN_RESOLUTION
        );
    }

    #[test]
    fn the_difference_of_the_twin_is_the_resolution() {
        let found = assess_noise(&sample_run(1, 5, 20, 0.0, 0.01), interval(0.8, 0.7, 0.9));
        assert_eq!(found.level, NoiseLevel::Noisy);
        assert!((found.resolution - 0.25).abs() < 1e-9);
        assert!(found.words.contains("differed from itself by up to 25 %"), "{}", found.words);
    }

    #[test]
    fn drift_is_detected_and_described() {
        let probe = |drift| SimulatedMachine { drift, ..SimulatedMachine::default() }.sample_pair(2, 1.0).0;
        let slower = assess_noise(&probe(0.4), interval(1.0, 0.98, 1.02));
        assert!((0.15..0.35).contains(&slower.drift), "{slower:?}");
        assert_eq!(slower.level, NoiseLevel::Restless);
        assert!(slower.words.contains("slower at the end"), "{}", slower.words);
        let faster = assess_noise(&probe(-0.5), interval(1.0, 0.98, 1.02));
        assert!(faster.drift < -0.3 && faster.level == NoiseLevel::Noisy);
        assert!(faster.words.contains("faster at the end"), "{}", faster.words);
    }

    #[test]
    fn a_busy_core_shows_as_spread() {
        let mut probe = sample_run(1, 5, 20, 0.0, 0.01);
        probe.iter_mut().filter(|sample| sample.turn % 5 < 2).for_each(|sample| sample.ns *= 1.8);
        let found = assess_noise(&probe, interval(1.0, 0.98, 1.02));
        assert!(found.spread > 0.7 && found.level == NoiseLevel::Noisy);
        assert!(found.words.contains("keeps a core busy: close it"), "{}", found.words);
    }

    #[test]
    fn without_a_twin_the_spread_is_the_resolution() {
        let found = assess_noise(&sample_run(1, 5, 20, 0.0, 0.03), None);
        assert_eq!(found.resolution, found.spread);
        let one_pair = compute_speedup(&samples_from_times(&[1.0]), &samples_from_times(&[1.0]));
        assert_eq!(assess_noise(&sample_run(1, 5, 20, 0.0, 0.03), one_pair), found);
    }

    #[test]
    fn too_few_samples_leave_the_noise_unknown() {
        for probe in [
            vec![],
            samples_from_times(&[1.0]),
            samples_from_times(&[1.0, 1.0, f64::NAN, 0.0, f64::INFINITY, -1.0, 1.0]),
        ] {
            let found = assess_noise(&probe, None);
            assert_eq!((found.spread, found.drift, found.resolution), (0.0, 0.0, UNKNOWN_RESOLUTION));
            assert!(found.words.contains("not known") && found.level > NoiseLevel::Quiet);
        }
    }
}
