use super::*;

fn rename_to_string(map: &str, name: &str) -> Option<String> {
    let new = ClassMap::parse(map).unwrap().rename(name.as_bytes());
    new.map(|name| String::from_utf8(name).unwrap())
}

#[test]
fn wildcards_are_replaced_by_their_matches() {
    for (map, name, new) in [
        ("A=B", "A", Some("B")),
        ("A=B", "AA", None),
        ("*=B", "A", Some("B")),
        ("*=Old\\*", "A\\B", Some("Old\\A\\B")),
        ("A::*::C=*", "A::B::C", Some("B")),
        ("A::*::C=*", "A::B::C::C", Some("B::C")),
        ("A::*::C=*", "A::C", None),
        ("*::*=*\\*", "A::B::C", Some("A\\B::C")),
        ("*a*a=*-*", "aaa", Some("-a")),
        ("*::*=One", "A::B", Some("One")),
        ("A*=1, AB=2", "AB", Some("2")),
        ("A*=1, AB*=2", "AB", Some("1")),
        ("# A=B\n C = D ,\n E=F", "C", Some("D")),
        ("# A=B\n C = D ,\n E=F", "A", None),
        ("A=B=C", "A", Some("B=C")),
        ("A=(plain)", "A", None),
    ] {
        assert_eq!(rename_to_string(map, name).as_deref(), new, "{map}: {name}");
    }
}

#[test]
fn invalid_maps_are_refused() {
    for map in ["A", "=A", "A=", "A=*", "*=**", "A=1,A=2"] {
        let error = ClassMap::parse(map).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{map}");
        assert!(error.to_string().contains("class-map"), "{error}");
    }
}

#[test]
fn reserved_names_are_found_per_language() {
    let reserved = |naming, name: &[u8]| reserved::find_reserved(naming, name).map(|layout| layout.required.clone());
    use reserved::Language::{Php, Ruby};
    assert_eq!(reserved(Php, b"datetime"), Some(vec!["date", "timezone_type", "timezone"]));
    assert_eq!(reserved(Php, b"\\Closure"), Some(Vec::new()));
    assert_eq!(reserved(Php, b"stdClass"), None);
    assert_eq!(reserved(Ruby, b"String"), Some(Vec::new()));
    assert_eq!(reserved(Ruby, b"string"), None);
    let exception = reserved::find_reserved(Php, b"Exception").unwrap();
    assert_eq!(exception.typed.iter().find(|typed| typed.name == "line").map(|typed| typed.type_name), Some("int"));
    assert_eq!(reserved::from_foreign_name(b"Icecore::Foreign::A::B"), Some(&b"A::B"[..]));
    assert_eq!(reserved::from_foreign_name(b"Icecore\\Foreign\\A"), Some(&b"A"[..]));
    assert_eq!(reserved::from_foreign_name(b"Icecore::Foreign::"), None);
}
