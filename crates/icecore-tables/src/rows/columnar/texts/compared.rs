//! Tests that compare this crate with arrow-cast. They compare the texts of columns, and the results of parsing
//! texts.

use super::calendar::{PRINTABLE_DAYS, SECONDS_PER_DAY};
use super::parse::{parse_date_in_milliseconds, parse_day, parse_float, parse_integer, parse_moment, parse_time};
use super::temporal::{Temporal, units_per_second};
use super::zone::Zone;
use arrow_array::temporal_conversions::as_datetime;
use arrow_array::timezone::Tz;
use arrow_array::types::*;
use arrow_array::{Array, PrimitiveArray};
use arrow_buffer::{IntervalDayTime, IntervalMonthDayNano};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_cast::parse::{Parser, string_to_datetime};
use arrow_schema::TimeUnit;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn next_below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.next_below(all.len())]
    }
}

/// Returns the number of random rounds.
fn count_rounds(rounds: usize) -> usize {
    if std::env::var_os("ICECORE_FULL").is_some() { rounds * 20 } else { rounds }
}

/// Returns whether arrow-cast supports named zones. This depends on the features of the build.
fn has_named_zones() -> bool {
    "Europe/Berlin".parse::<Tz>().is_ok()
}

/// Returns counts of a unit near the limits of types, of the calendar, of days and of seconds, and random ones.
fn sample_counts(random: &mut Random) -> Vec<i64> {
    let mut counts = vec![0, i64::MIN, i64::MAX, i64::MAX / 1_000, i64::from(i32::MIN), i64::from(i32::MAX)];
    let seconds = [1, 60, 3600, SECONDS_PER_DAY, 1_770_000_000, 62_167_219_200, 253_402_300_800, 8_210_266_876_800];
    for seconds in seconds.into_iter().chain([8_334_601_228_800]) {
        counts.extend(
            [1, 1_000, 1_000_000, 1_000_000_000].map(|per_second| seconds * per_second.min(i64::MAX / seconds)),
        );
    }
    for _ in 0..count_rounds(300) {
        counts.push(random.next() as i64 >> random.next_below(64));
    }
    let around = |count: &i64| {
        [-1, 0, 1, 500, 86_399]
            .map(|offset: i64| [*count, -count.saturating_abs()].map(|count| count.saturating_add(offset)))
    };
    counts.iter().flat_map(around).flatten().collect()
}

fn check_texts(array: &dyn Array) {
    let temporal = Temporal::from_array(array).expect("its zone is known").expect("a temporal type");
    let formatter = ArrayFormatter::try_new(array, &FormatOptions::new()).expect("a formatter");
    for row in 0..array.len() {
        let mut out = Vec::new();
        if let Err(text) = temporal.print_value(row, &mut out) {
            assert!(out.is_empty());
            out = text.into_bytes();
        }
        let expected = formatter.value(row).to_string();
        assert_eq!(String::from_utf8(out).expect("text"), expected, "row {row} of {}", array.data_type());
    }
}

fn check_counts<T: ArrowPrimitiveType<Native = i64>>(counts: &[i64]) {
    check_texts(&PrimitiveArray::<T>::from_iter_values(counts.iter().copied()));
}

fn check_short_counts<T: ArrowPrimitiveType<Native = i32>>(counts: &[i64]) {
    check_texts(&PrimitiveArray::<T>::from_iter_values(counts.iter().map(|count| *count as i32)));
}

fn check_timestamps<T: ArrowTimestampType>(counts: &[i64]) {
    check_counts::<T>(counts);
    let with_zone = |zone: &str, counts: &[i64]| {
        let values = PrimitiveArray::<T>::from_iter_values(counts.iter().copied()).with_timezone(zone);
        check_texts(&values);
    };
    // arrow-cast panics if a local date is just outside the calendar.
    let is_at_edge = |count: i64| {
        let day = count.div_euclid(units_per_second(T::UNIT)).div_euclid(SECONDS_PER_DAY);
        [*PRINTABLE_DAYS.start(), *PRINTABLE_DAYS.end()].iter().any(|edge| (day - edge).abs() < 2)
    };
    let counts: Vec<i64> = counts.iter().copied().filter(|count| !is_at_edge(*count)).collect();
    for zone in ["+00:00", "+05:30", "-0930", "+14", "-23:59", "+00:01"] {
        with_zone(zone, &counts);
    }
    if has_named_zones() {
        // For other years, one of the two libraries does not have the rules of all zones.
        let is_known = |count: &&i64| (-4_000_000_000..4_000_000_000).contains(&(**count / units_per_second(T::UNIT)));
        let known: Vec<i64> = counts.iter().filter(is_known).copied().collect();
        for zone in ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Etc/GMT+3"] {
            with_zone(zone, &known);
        }
    }
}

#[test]
fn temporal_values_are_printed_like_arrow_cast() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let counts = sample_counts(&mut random);
    check_timestamps::<TimestampSecondType>(&counts);
    check_timestamps::<TimestampMillisecondType>(&counts);
    check_timestamps::<TimestampMicrosecondType>(&counts);
    check_timestamps::<TimestampNanosecondType>(&counts);
    check_counts::<Date64Type>(&counts);
    check_counts::<DurationSecondType>(&counts);
    check_counts::<DurationMillisecondType>(&counts);
    check_counts::<DurationMicrosecondType>(&counts);
    check_counts::<DurationNanosecondType>(&counts);
    check_short_counts::<Date32Type>(&counts);
    check_short_counts::<Time32SecondType>(&counts);
    check_short_counts::<Time32MillisecondType>(&counts);
    check_short_counts::<IntervalYearMonthType>(&counts);
    // arrow-cast takes the lowest 32 bits of the seconds.
    let short = |per_second: i64| -> Vec<i64> { counts.iter().map(|count| count % (per_second << 31)).collect() };
    check_counts::<Time64MicrosecondType>(&short(1_000_000));
    check_counts::<Time64NanosecondType>(&short(1_000_000_000));
    let pairs = counts.iter().zip(counts.iter().rev());
    let intervals = pairs.clone().map(|(days, milliseconds)| IntervalDayTime::new(*days as i32, *milliseconds as i32));
    check_texts(&PrimitiveArray::<IntervalDayTimeType>::from_iter_values(intervals));
    let intervals = pairs.map(|(months_and_days, nanoseconds)| {
        IntervalMonthDayNano::new(*months_and_days as i32, (*months_and_days >> 32) as i32, *nanoseconds)
    });
    check_texts(&PrimitiveArray::<IntervalMonthDayNanoType>::from_iter_values(intervals));
}

/// Returns texts of all kinds, most of them nearly valid.
fn sample_texts(random: &mut Random) -> Vec<String> {
    const SEEDS: [&str; 78] = [
        "",
        " ",
        "-",
        "+",
        ".",
        "0",
        "-0",
        "+0",
        "-000",
        "7",
        " 7",
        "7 ",
        "\t7\n",
        "\u{a0}7",
        "127",
        "128",
        "-128",
        "-129",
        "255",
        "256",
        "65535",
        "4294967295",
        "18446744073709551615",
        "18446744073709551616",
        "9223372036854775807",
        "-9223372036854775808",
        "-9223372036854775809",
        "00000000000000000000000000005",
        "0x10",
        "1_000",
        "\u{663}",
        "1.0",
        "1.",
        ".5",
        "-.5e-7",
        "1e5",
        "1E+05",
        "1e",
        "1e400",
        "-1e-400",
        "inf",
        "-Infinity",
        "+nan",
        "-NaN",
        "nano",
        "5e-324",
        "0.1000000000000000055511151231257827021181583404541015625",
        "16777217",
        "65519.99",
        "123456789012345678901234567890",
        "2026-02-03",
        "20260203",
        "2026-2-3",
        "2026-2-03",
        "0000-01-01",
        "9999-12-31",
        "2026-02-29",
        "2024-02-29",
        "-0044-03-15",
        "+12026-02-03",
        "-5877641-06-23",
        "+5881580-07-11",
        "+5881580-07-12",
        "+2026-1-+1",
        "2026-02-03T04:05:06",
        "2026-02-03t04:05:06.5z",
        "2026-02-03 04:05:06.123456789+05:30",
        "2026-02-03 040506 -08",
        "2026-02-03T23:59:60.999Z",
        "1677-09-21T00:12:43.145224192",
        "2262-04-11T23:47:16.854775807",
        "2026-02-03T00:00:00.0000000000001 +0000",
        "4:05",
        "04:05:06",
        "23:59:60.5",
        "12:30 AM",
        "12:30:01.25 pm",
        "24:00",
    ];
    const LETTERS: &str = "0123456789000-+-+::.. TtZzeE_ampAMPx\t\u{663}\u{e9}/,";
    let letters: Vec<char> = LETTERS.chars().collect();
    let mut texts: Vec<String> = SEEDS.map(str::to_owned).into();
    if has_named_zones() {
        texts.extend(
            [
                "2026-03-29 02:30:00 Europe/Berlin",
                "2026-10-25T02:30:00Europe/Berlin",
                "2026-02-03T04:05:06 europe/berlin",
            ]
            .map(str::to_owned),
        );
    }
    for _ in 0..count_rounds(20_000) {
        let mut text: Vec<char> = random.pick(&SEEDS).chars().collect();
        for _ in 0..random.next_below(3) {
            let index = random.next_below(text.len() + 1);
            match (random.next_below(4), index < text.len()) {
                (0, true) => drop(text.remove(index)),
                (1, _) => text.insert(index, random.pick(&letters)),
                (2, _) => text.truncate(index),
                (_, true) => text[index] = random.pick(&letters),
                _ => text.push(random.pick(&letters)),
            }
        }
        texts.push(text.into_iter().collect());
    }
    for _ in 0..count_rounds(2_000) {
        let [number, other] =
            [random.next() as i64 >> random.next_below(64), random.next() as i64 >> random.next_below(64)];
        texts.push(number.to_string());
        texts.push(format!("{number}.{}e{}", other.unsigned_abs(), other % 330));
        texts.push(f64::from_bits(number as u64).to_string());
        let [month, day, hour, minute, second] = [14, 33, 26, 62, 63].map(|bound| random.next_below(bound));
        let digits = format!(".{}", other.unsigned_abs());
        let fraction = &digits[..random.next_below(digits.len() + 1)];
        texts.push(format!(
            "{:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}",
            number.unsigned_abs() % 10_000
        ));
        texts.push(format!("{hour}:{minute:02}:{second:02}{fraction}"));
    }
    texts
}

/// Returns the day that arrow-cast reads. A text with a time does not count as a day.
fn expected_day(text: &str) -> Option<i32> {
    let day = Date32Type::parse(text)?;
    let begin = Date32Type::to_naive_date_opt(day).and_then(|day| day.and_hms_opt(0, 0, 0));
    match string_to_datetime(&"+00:00".parse::<Tz>().ok()?, text) {
        Ok(moment) if text.len() > 10 && begin != Some(moment.naive_local()) => None,
        _ => Some(day),
    }
}

fn expected_moment<T: ArrowTimestampType>(text: &str, zone: &str) -> Option<i64> {
    let utc = string_to_datetime(&zone.parse::<Tz>().ok()?, text).ok()?.naive_utc();
    T::from_naive_datetime(utc, None).filter(|value| as_datetime::<T>(*value) == Some(utc))
}

fn check_moment<T: ArrowTimestampType>(text: &str, zone: &str) {
    let found = parse_moment(text, &Zone::parse(zone).expect("a zone")).and_then(|moment| moment.to_count(T::UNIT));
    assert_eq!(found, expected_moment::<T>(text, zone), "{text:?} in {zone} as {}", T::DATA_TYPE);
}

#[test]
fn texts_are_parsed_like_arrow_cast() {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut zones = vec!["+00:00", "-05:30"];
    if has_named_zones() {
        zones.extend(["Europe/Berlin", "America/New_York"]);
    }
    for text in sample_texts(&mut random) {
        let text = text.as_str();
        assert_eq!(parse_integer::<i8>(text), Int8Type::parse(text), "{text:?}");
        assert_eq!(parse_integer::<i16>(text), Int16Type::parse(text), "{text:?}");
        assert_eq!(parse_integer::<i32>(text), Int32Type::parse(text), "{text:?}");
        assert_eq!(parse_integer::<i64>(text), Int64Type::parse(text), "{text:?}");
        assert_eq!(parse_integer::<u8>(text), UInt8Type::parse(text), "{text:?}");
        assert_eq!(parse_integer::<u16>(text), UInt16Type::parse(text), "{text:?}");
        assert_eq!(parse_integer::<u32>(text), UInt32Type::parse(text), "{text:?}");
        assert_eq!(parse_integer::<u64>(text), UInt64Type::parse(text), "{text:?}");
        let [found, expected] = [parse_float(text).map(f32::to_bits), Float32Type::parse(text).map(f32::to_bits)];
        assert_eq!(found, expected, "{text:?}");
        let [found, expected] = [parse_float(text).map(f64::to_bits), Float64Type::parse(text).map(f64::to_bits)];
        assert_eq!(found, expected, "{text:?}");
        assert_eq!(parse_time::<i32>(text, TimeUnit::Second), Time32SecondType::parse(text), "{text:?}");
        assert_eq!(parse_time::<i32>(text, TimeUnit::Millisecond), Time32MillisecondType::parse(text), "{text:?}");
        assert_eq!(parse_time::<i64>(text, TimeUnit::Microsecond), Time64MicrosecondType::parse(text), "{text:?}");
        assert_eq!(parse_time::<i64>(text, TimeUnit::Nanosecond), Time64NanosecondType::parse(text), "{text:?}");
        // arrow-cast ignores the text after a short date: `2026-2-3xy`.
        let is_garbage = text.len() <= 10 && !text.ends_with(|last: char| last.is_ascii_digit());
        if !is_garbage {
            assert_eq!(parse_day(text), expected_day(text), "{text:?}");
            assert_eq!(parse_date_in_milliseconds(text), Date64Type::parse(text), "{text:?}");
        }
        // The time zone databases of the two libraries may differ for other years.
        let has_known_rules = ("1970".."2030").contains(&text.get(..4).unwrap_or_default());
        for zone in zones.iter().filter(|zone| has_known_rules || !zone.contains('/')) {
            check_moment::<TimestampSecondType>(text, zone);
            check_moment::<TimestampMillisecondType>(text, zone);
            check_moment::<TimestampMicrosecondType>(text, zone);
            check_moment::<TimestampNanosecondType>(text, zone);
        }
    }
}
