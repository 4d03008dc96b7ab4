//! A deterministic mutator for structured bytes.

/// A small random number generator (xorshift64*).
pub struct Random(u64);

impl Random {
    /// Creates a generator; the same seed gives the same numbers.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03 | 1)
    }

    /// Returns the next number.
    pub fn next_bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Returns a number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((self.next_bits() >> 33) as usize) % bound.max(1)
    }

    /// Returns true in one of `cases` cases.
    pub fn one_in(&mut self, cases: usize) -> bool {
        self.below(cases) == 0
    }
}

/// Bytes that have a meaning in some format.
const SPECIAL_BYTES: &[u8] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 17, 18, 19, 20, 25, 27, 31, 32, 33, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49,
    50, 0x40, 0x41, 0x50, 0x51, 0x60, 0x61, 0x7E, 0x7F, 0x80, 0x81, 0xA8, 0xFE, 0xFF, b'"', b'[', b']', b'{', b'}',
    b',', b':', b'$', b'e', b'.', b'-', b'\\', b'u',
];

/// Numbers that are likely to be limits of lengths.
const SPECIAL_LENGTHS: &[u32] =
    &[0, 1, 2, 3, 16, 127, 128, 255, 256, 65_535, 65_536, 0x7FFF_FFFF, 0x8000_0000, u32::MAX];

/// Maximum length of a mutated input. Longer inputs only take more time.
const MAX_LEN: usize = 8_192;

/// Returns one of the seeds, changed in a few places.
pub fn mutate_seed(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    // Short seeds are chosen more often: a change affects more of their contents.
    let index = random.below(seeds.len()).min(random.below(seeds.len()));
    let mut data = seeds[index].clone();
    let changes = [1, 1, 1, 2, 2, 4, 8][random.below(7)];
    for _ in 0..changes {
        change_bytes(random, &mut data, seeds);
    }
    data.truncate(MAX_LEN);
    data
}

/// Makes one random change. Some kinds of changes have several numbers, so that they are chosen more often.
fn change_bytes(random: &mut Random, data: &mut Vec<u8>, seeds: &[Vec<u8>]) {
    let len = data.len();
    if len == 0 {
        data.push(random.next_bits() as u8);
        return;
    }
    let offset = random.below(len);
    let range_len = 1 + random.below(1 + (len - offset).min(32));
    let end = (offset + range_len).min(len);
    // A text of PHP that is changed without regard to lengths is hardly ever valid.
    if is_php(data) && !random.one_in(4) {
        return replace_php_value(random, data, offset);
    }
    match random.below(18) {
        0 | 1 => data[offset] ^= 1 << random.below(8),
        2 | 3 => data[offset] = SPECIAL_BYTES[random.below(SPECIAL_BYTES.len())],
        4 => data[offset] = data[offset].wrapping_add(random.below(9) as u8).wrapping_sub(4),
        5 => data[offset] = random.next_bits() as u8,
        6 => data.insert(offset, SPECIAL_BYTES[random.below(SPECIAL_BYTES.len())]),
        7 => {
            data.drain(offset..end);
        }
        8 => data.truncate(offset),
        9 => {
            // A length: 32 bits in either byte order.
            let word = SPECIAL_LENGTHS[random.below(SPECIAL_LENGTHS.len())]
                .wrapping_add(random.below(5) as u32)
                .wrapping_sub(2);
            let bytes = if random.one_in(2) { word.to_le_bytes() } else { word.to_be_bytes() };
            for (slot, byte) in data[offset..].iter_mut().zip(bytes) {
                *slot = byte;
            }
        }
        10 => {
            // A range is inserted again, here or elsewhere.
            let copy = data[offset..end].to_vec();
            let target = random.below(len + 1);
            data.splice(target..target, copy);
        }
        11 => {
            // Two ranges exchange places.
            let target = random.below(len);
            for index in 0..range_len {
                if offset + index < len && target + index < len {
                    data.swap(offset + index, target + index);
                }
            }
        }
        12 => {
            // A range of another seed is inserted.
            let other_range = random_range(random, seeds);
            data.splice(offset..offset, other_range);
        }
        13 => {
            // A range of another seed replaces one of this seed.
            let other_range = random_range(random, seeds);
            data.splice(offset..end, other_range);
        }
        14 => {
            // The beginning of this seed and the end of another.
            let other_seed = &seeds[random.below(seeds.len())];
            let from = random.below(other_seed.len().max(1));
            data.truncate(offset);
            data.extend_from_slice(other_seed.get(from..).unwrap_or(&[]));
        }
        15 | 16 => insert_link(random, data, offset, end),
        _ => {
            // A varint or a run.
            let byte = if random.one_in(2) { 0xFF } else { data[offset] };
            let count = 1 + random.below(12);
            data.splice(offset..offset, std::iter::repeat_n(byte, count));
        }
    }
}

/// Tags of Sereal after which an offset follows.
const SEREAL_LINKS: &[&[u8]] =
    &[&[0x29], &[0x2D], &[0x2E], &[0x2F], &[0x2F], &[0xAE], &[0xAF], &[0x28, 0x2F], &[0x30, 0x29], &[0x2C, 0x2F]];
/// Tags of Storable after which a number follows.
const STORABLE_LINKS: &[&[u8]] =
    &[&[0, 0, 0, 0], &[4, 0, 0, 0, 0], &[4, 0, 0, 0, 0], &[27, 0, 0, 0, 0], &[33, 0, 0, 0, 0, 0, 0, 0, 0]];

/// Tags of Marshal after which a number follows.
const MARSHAL_LINKS: &[&[u8]] = &[b"@", b"@", b"@", b";", b"I@", b"I\"\x06a", b"[", b"o;"];
/// Tags of igbinary after which a number follows.
const IGBINARY_LINKS: &[&[u8]] = &[&[1], &[0x0E], &[0x22], &[0x25, 1], &[0x25, 0x22], &[6], &[0x14], &[0x1A]];

/// Inserts a link in bytes of Marshal or igbinary.
fn insert_small_link(random: &mut Random, data: &mut Vec<u8>, links: &[&[u8]], first: u8, offset: usize, end: usize) {
    let mut link = links[random.below(links.len())].to_vec();
    link.push(first + random.below(offset.min(12) + 1) as u8);
    let end = if random.one_in(2) { offset } else { end };
    data.splice(offset..end, link);
}

/// Returns true if this is an array or an object of PHP.
fn is_php(data: &[u8]) -> bool {
    matches!(data, [b'a' | b'O' | b'C', b':', ..])
}

/// Replaces the bytes between two semicolons by a value of PHP.
fn replace_php_value(random: &mut Random, data: &mut Vec<u8>, offset: usize) {
    const VALUES: &[&str] = &[
        "R:#;",
        "R:#;",
        "r:#;",
        "i:#;",
        "N;",
        "d:#.5;",
        "s:1:\"#\";",
        "O:1:\"A\":0:{}",
        "a:0:{}",
        "a:1:{i:#;R:#;}",
        "O:1:\"A\":1:{s:1:\"#\";r:#;}",
        "a:2:{i:0;i:#;s:1:\"x\";R:#;}",
        "S:2:\"\\3#x\";",
        "i:-#;",
        "d:-#.#E#;",
        "b:1;",
        "b:#;",
    ];
    let after_semicolon =
        |from: usize| data.iter().skip(from).position(|byte| *byte == b';').map(|distance| from + distance + 1);
    let Some(start) = after_semicolon(offset) else { return };
    let end = after_semicolon(start).filter(|_| !random.one_in(8)).unwrap_or(start);
    let may_be_key = matches!(data.get(start), Some(b'i' | b's'));
    let value = if may_be_key && !random.one_in(3) { "i:#;" } else { VALUES[random.below(VALUES.len())] };
    let value = value.replace('#', &random.below(10).to_string());
    // If the range is empty, the value is inserted, and the count of the container becomes wrong.
    data.splice(start..end, value.into_bytes());
}

/// Inserts a link to something nearby, or replaces a range by one. Random changes alone seldom create a valid link.
fn insert_link(random: &mut Random, data: &mut Vec<u8>, offset: usize, end: usize) {
    match data[..] {
        [4, 8, ..] => return insert_small_link(random, data, MARSHAL_LINKS, 5, offset, end),
        [0, 0, 0, ..] => return insert_small_link(random, data, IGBINARY_LINKS, 0, offset, end),
        _ => {}
    }
    let is_sereal = data.starts_with(b"=s") || data.starts_with(b"=\xF3");
    let mut link = match is_sereal {
        true => SEREAL_LINKS[random.below(SEREAL_LINKS.len())].to_vec(),
        false => STORABLE_LINKS[random.below(STORABLE_LINKS.len())].to_vec(),
    };
    let target = random.below(offset.min(if is_sereal { 300 } else { 24 }) + 1);
    if is_sereal && target >= 0x80 {
        link.push(target as u8 | 0x80);
        link.push((target >> 7) as u8);
    } else {
        link.push(target as u8);
    }
    let end = if random.one_in(2) { offset } else { end };
    data.splice(offset..end, link);
    /// Position from which offsets count in protocol 2 and later, if there is no user header.
    const OFFSET_BASE: usize = 5;
    if is_sereal
        && let Some(tag) = data.get_mut(OFFSET_BASE + target)
        && random.one_in(2)
    {
        *tag |= 0x80;
    }
}

fn random_range(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let seed = &seeds[random.below(seeds.len())];
    let from = random.below(seed.len().max(1));
    let len = 1 + random.below(24);
    seed.iter().skip(from).take(len).copied().collect()
}
