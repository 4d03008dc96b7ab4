//! Uuencode: lines with six bits in each character.

fn is_uu_digit(byte: u8) -> bool {
    (b' '..=b'`').contains(&byte)
}

/// Returns the six bits of a character.
fn decode_sextet(byte: u8) -> u8 {
    byte.wrapping_sub(b' ') & 0x3F
}

/// Decodes lines as far as they are valid, and returns how many bytes they used.
pub(super) fn decode_lines(input: &[u8], mut out: Option<&mut Vec<u8>>) -> usize {
    let mut offset = 0;
    while let Some(head) = input.get(offset).copied().filter(|byte| *byte != b' ' && is_uu_digit(*byte)) {
        offset += 1;
        let mut remaining = usize::from(decode_sextet(head));
        while remaining > 0 {
            let mut sextets = [0; 4];
            for sextet in &mut sextets {
                if let Some(byte) = input.get(offset).copied().filter(|byte| is_uu_digit(*byte)) {
                    *sextet = decode_sextet(byte);
                    offset += 1;
                }
            }
            let [a, b, c, d] = sextets;
            let bytes = [a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d];
            let count = remaining.min(3);
            if let Some(out) = &mut out {
                out.extend_from_slice(&bytes[..count]);
            }
            remaining -= count;
        }
        if input.get(offset) == Some(&b'\n') {
            offset += 1;
        } else if input.get(offset + 1) == Some(&b'\n') {
            // This may be a checksum.
            offset += 2;
        }
    }
    offset
}

/// Encodes one line of up to 63 bytes.
pub(super) fn encode_line(bytes: &[u8], out: &mut Vec<u8>) {
    let digit = |six: u8| if six & 0x3F == 0 { b'`' } else { b' ' + (six & 0x3F) };
    out.push(digit(bytes.len() as u8));
    for chunk in bytes.chunks(3) {
        let [a, b, c] = [0, 1, 2].map(|index| chunk.get(index).copied().unwrap_or(0));
        out.extend_from_slice(&[digit(a >> 2), digit(a << 4 | b >> 4), digit(b << 2 | c >> 6), digit(c)]);
    }
    out.push(b'\n');
}
