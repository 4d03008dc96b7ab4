//! Floats as C's `%.15g` writes them.

/// Returns the float as perl converts it to a string: 15 significant digits, without trailing zeros; `Inf`, `-Inf`,
/// `NaN`. Zero has no sign.
///
/// Source: perl's `NVgf` format, see `Perl_sv_2pv_flags` in sv.c.
pub(crate) fn float_to_perl_text(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format_percent_g(value) }
}

/// Returns the float as `%.15g` prints it: like [`float_to_perl_text`], but with the sign of zero.
pub(crate) fn format_percent_g(value: f64) -> String {
    const DIGITS: i32 = 15;
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{:.*e}", DIGITS as usize - 1, value);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS).contains(&exponent) {
        let fixed = format!("{:.*}", (DIGITS - 1 - exponent) as usize, value);
        return trim_fraction(&fixed).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim_fraction(mantissa), exponent.abs())
}

fn trim_fraction(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::float_to_perl_text;

    #[test]
    fn numbers_are_printed_like_perl() {
        for (value, text) in [
            (0.1, "0.1"),
            (-0.0, "0"),
            (1e15, "1e+15"),
            (999999999999999.0, "999999999999999"),
            (9007199254740993.0, "9.00719925474099e+15"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (1.5e300, "1.5e+300"),
            (1.0 / 3.0, "0.333333333333333"),
            (100.0, "100"),
            (f64::NEG_INFINITY, "-Inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(float_to_perl_text(value), text);
        }
    }
}
