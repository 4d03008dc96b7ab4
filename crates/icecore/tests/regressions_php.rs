//! Texts of PHP that fuzzing found, each with what went wrong.

use icecore::{ErrorKind, Limits, php};

fn written(text: &[u8]) -> Vec<u8> {
    let limits = Limits::default();
    let document = php::read(text, &php::ReadOptions::default(), &limits).expect("read");
    let mut out = Vec::new();
    php::write(&document, &php::WriteOptions::default(), &limits, &mut out).expect("written");
    out
}

/// Halfway between .2 and .3: PHP takes the even digit.
#[test]
fn of_two_texts_that_are_as_near_the_even_one_is_written() {
    assert_eq!(written(b"d:-2.2483716200475643E15;"), b"d:-2248371620047564.2;");
    assert_eq!(written(b"d:9007199254740993;"), b"d:9007199254740992;");
    assert_eq!(written(b"d:5e-324;"), b"d:5.0E-324;");
    assert_eq!(written(b"d:1e22;"), b"d:1.0E+22;");
    assert_eq!(written(b"d:0.00012;"), b"d:0.00012;");
    assert_eq!(written(b"d:100000000000000000;"), b"d:1.0E+17;");
}

#[test]
fn a_class_has_no_del_in_its_name() {
    let error = php::read(b"O:1:\"\x7f\":0:{}", &php::ReadOptions::default(), &Limits::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert!(error.help().is_some_and(|help| help.contains("Error at offset 0 of 12 bytes")), "{error}");
    assert_eq!(written(b"O:1:\"\x80\":0:{}"), b"O:1:\"\x80\":0:{}");
}
