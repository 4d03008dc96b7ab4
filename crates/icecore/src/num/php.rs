//! Numbers as PHP writes them.

use super::decimal::{POWERS, few_digits};

/// Appends a float as PHP writes it with `serialize_precision` -1 (and with 17, where each digit counts).
pub(crate) fn push_float(value: f64, buf: &mut Vec<u8>) {
    if value.is_nan() {
        return buf.extend_from_slice(b"NAN");
    }
    if value.is_infinite() {
        return buf.extend_from_slice(if value > 0.0 { b"INF" } else { b"-INF" });
    }
    if value.is_sign_negative() {
        buf.push(b'-');
    }
    let value = value.abs();
    if value < 9e15 && value.fract() == 0.0 {
        return push_uint(value as u64, buf);
    }
    if let Some((digits, scale)) = few_digits(value) {
        let ten = POWERS[scale];
        push_uint((digits / ten) as u64, buf);
        // The leading 1 keeps zeros after the point, and is then replaced by the point.
        let point = buf.len();
        push_uint((ten + digits % ten) as u64, buf);
        buf[point] = b'.';
        return;
    }
    let (digits, point) = super::shortest_digits(value);
    if !(-3..=17).contains(&point) {
        buf.push(digits[0]);
        buf.push(b'.');
        buf.extend_from_slice(if digits.len() > 1 { &digits[1..] } else { b"0" });
        buf.push(b'E');
        buf.push(if point > 0 { b'+' } else { b'-' });
        return push_uint(u64::from((point - 1).unsigned_abs()), buf);
    }
    if point <= 0 {
        buf.extend_from_slice(b"0.");
        buf.extend(std::iter::repeat_n(b'0', point.unsigned_abs() as usize));
        return buf.extend_from_slice(&digits);
    }
    let point = point as usize;
    match digits.split_at_checked(point) {
        Some((integer_part, [])) => buf.extend_from_slice(integer_part),
        Some((integer_part, fraction)) => {
            buf.extend_from_slice(integer_part);
            buf.push(b'.');
            buf.extend_from_slice(fraction);
        }
        None => {
            buf.extend_from_slice(&digits);
            buf.extend(std::iter::repeat_n(b'0', point - digits.len()));
        }
    }
}

pub(crate) fn push_uint(value: u64, buf: &mut Vec<u8>) {
    push_number(b"", value, b"", buf);
}

/// Appends a number with up to 4 bytes before and after it. The text is assembled first, so that it takes one short
/// copy of a fixed size.
#[inline(always)]
pub(crate) fn push_number(before: &[u8], mut value: u64, after: &[u8], buf: &mut Vec<u8>) {
    let mut text = [0; 32];
    text[..before.len()].copy_from_slice(before);
    let digits = value.checked_ilog10().unwrap_or(0) as usize + 1;
    let end = before.len() + digits;
    let mut position = end;
    while position > before.len() {
        position -= 1;
        text[position] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    text[end..end + after.len()].copy_from_slice(after);
    let end = buf.len() + end + after.len();
    buf.extend_from_slice(&text);
    buf.truncate(end);
}
