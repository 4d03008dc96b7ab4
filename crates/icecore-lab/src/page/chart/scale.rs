//! Scales, which map numbers to positions, and their ticks.

/// An axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    is_logarithmic: bool,
    /// Position of the low end.
    from: f64,
    /// Position of the high end.
    to: f64,
}

impl Scale {
    /// Creates a linear scale from 0 to the largest value, or to 1 if no value is positive.
    pub(super) fn linear(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Self {
        let largest = values.into_iter().filter(|value| value.is_finite()).fold(0.0, f64::max);
        Self { low: 0.0, high: if largest > 0.0 { largest } else { 1.0 }, is_logarithmic: false, from, to }
    }

    /// Creates a logarithmic scale, with a margin at both ends. Values that are not positive are ignored.
    pub(super) fn log(values: impl IntoIterator<Item = f64>, margin: f64, from: f64, to: f64) -> Self {
        let usable = values.into_iter().filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = usable.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if high > 0.0 { (low, high) } else { (1.0, 1.0) };
        // A very small range would be stretched over the whole axis, and small differences would look large. So the
        // range is widened to a factor of at least 1.5.
        let widening = if high / low < 1.5 { (1.5 / (high / low)).sqrt() } else { 1.0 };
        let (low, high) = (low / widening / margin, high * widening * margin);
        Self { low: low.max(f64::MIN_POSITIVE), high: high.min(f64::MAX), is_logarithmic: true, from, to }
    }

    /// Returns the position of a number.
    pub(super) fn position_of(&self, value: f64) -> f64 {
        let fraction = match self.is_logarithmic {
            true => (value.max(f64::MIN_POSITIVE).log10() - self.low.log10()) / (self.high.log10() - self.low.log10()),
            false => (value - self.low) / (self.high - self.low),
        };
        let fraction = if fraction.is_finite() { fraction.clamp(0.0, 1.0) } else { 0.0 };
        self.from + fraction * (self.to - self.from)
    }

    /// Returns round numbers on the axis, at most `max_ticks`.
    pub(super) fn choose_ticks(&self, max_ticks: usize) -> Vec<f64> {
        let max_ticks = max_ticks.max(2);
        if self.is_logarithmic { self.log_ticks(max_ticks) } else { self.linear_ticks(max_ticks) }
    }

    fn linear_ticks(&self, max_ticks: usize) -> Vec<f64> {
        let min_step = self.high / max_ticks as f64;
        let decade = 10_f64.powf(min_step.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * decade)
            .into_iter()
            .find(|step| *step >= min_step)
            .unwrap_or(self.high);
        let count = (self.high / step * 1.000_001).floor().min(max_ticks as f64) as usize;
        (0..=count).map(|index| index as f64 * step).collect()
    }

    fn log_ticks(&self, max_ticks: usize) -> Vec<f64> {
        let decades = || self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let is_inside = |v: &f64| *v >= self.low * 0.999 && *v <= self.high * 1.001;
        let ticks_with = |factors: &[f64]| -> Vec<f64> {
            let decade_ticks = |decade| factors.iter().map(move |factor| factor * 10_f64.powi(decade));
            decades().flat_map(decade_ticks).filter(is_inside).collect()
        };
        let sets: [&[f64]; 4] = [&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
        let finest = sets.iter().map(|factors| ticks_with(factors)).find(|ticks| ticks.len() <= max_ticks);
        finest.unwrap_or_else(|| {
            let all = ticks_with(&[1.0]);
            let step = all.len().div_ceil(max_ticks);
            all.into_iter().step_by(step).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(Scale::linear([42.0], 0.0, 100.0).choose_ticks(5), [0.0, 10.0, 20.0, 30.0, 40.0]);
        assert_eq!(Scale::log([10.0, 20_000.0], 1.0, 0.0, 1.0).choose_ticks(5), [10.0, 100.0, 1000.0, 10_000.0]);
        assert_eq!(Scale::log([120.0, 340.0], 1.0, 0.0, 1.0).choose_ticks(6), [150.0, 200.0, 300.0]);
    }

    #[test]
    fn any_numbers_have_a_position_on_the_scale() {
        let odd = [0.0, -1.0, 1e-300, 1e300, f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE];
        for count in 0..=odd.len() {
            let values = || odd.iter().copied().take(count);
            for scale in [Scale::linear(values(), 10.0, 20.0), Scale::log(values(), 1.1, 10.0, 20.0)] {
                let ticks = scale.choose_ticks(6);
                assert!(ticks.len() <= 7, "{scale:?} {ticks:?}");
                for value in values().chain(ticks) {
                    assert!((10.0..=20.0).contains(&scale.position_of(value)), "{scale:?} {value}");
                }
            }
        }
    }
}
