use super::*;
use crate::document::Builder;

fn make_rules(names: &[&str], otherwise: Option<Otherwise>) -> Rules {
    let mut rules = Rules::new(NameComparison::Exact);
    names.iter().for_each(|name| rules.allow(name.as_bytes(), true).unwrap());
    if let Some(otherwise) = otherwise {
        rules.otherwise(otherwise);
    }
    rules
}

fn ask_layers(layers: &[&Rules], name: &str) -> (Verdict, bool) {
    let Answer { verdict, is_reported } = ask(layers, NameComparison::Exact, name.as_bytes(), true).unwrap();
    (verdict, is_reported)
}

#[test]
fn only_listed_names_and_patterns_are_allowed() {
    let rules = make_rules(&["Employee", "My::*", "*::Model", "Caf\u{e9}"], None);
    for name in ["Employee", "My::", "My::A::B", "Shop::Model", "Caf\u{e9}"] {
        assert_eq!(ask_layers(&[&rules], name), (Verdict::Allowed, false), "{name}");
    }
    for name in ["", "employee", "Employee2", "Employee::Evil", "Employee\0", "My", "Not::My::A", "Model", "Cafe"] {
        assert_eq!(ask_layers(&[&rules], name), (Verdict::Refused, false), "{name}");
    }
    let latin = ask(&[&rules], NameComparison::Exact, b"Caf\xe9", false).unwrap();
    assert_eq!(latin.verdict, Verdict::Allowed);
    let utf8 = ask(&[&rules], NameComparison::Exact, "Caf\u{e9}".as_bytes(), false).unwrap();
    assert_eq!(utf8.verdict, Verdict::Refused);
    assert!(ask(&[&rules], NameComparison::Exact, b"My::\xe9", true).is_err());
}

#[test]
fn a_star_can_be_allowed_exactly() {
    let mut exact = Rules::new(NameComparison::Exact);
    exact.allow_exactly(b"My::*", false).unwrap();
    assert_eq!(ask_layers(&[&exact], "My::*").0, Verdict::Allowed);
    assert_eq!(ask_layers(&[&exact], "My::A").0, Verdict::Refused);
}

/// The rules of two layers, and the result for a Perl program.
#[test]
fn the_last_layer_that_names_a_class_decides() {
    use Otherwise::{Any, AnyReported, Refuse, Report};
    use Verdict::{Allowed, Record, Refused};
    let (list, other) = (make_rules(&["A"], None), make_rules(&["B"], None));
    let default = |otherwise| make_rules(&[], Some(otherwise));
    let [any, reported, record, report, refuse] = [Any, AnyReported, Otherwise::Record, Report, Refuse].map(default);
    for (layers, verdict, is_reported) in [
        (&[][..], Refused, false),
        (&[&other], Refused, false),
        (&[&other, &list], Allowed, false),
        (&[&record, &list], Allowed, false),
        (&[&record, &other], Record, false),
        (&[&record, &other, &any], Record, false),
        (&[&other, &other, &record], Record, false),
        (&[&reported, &list], Allowed, true),
        (&[&list, &reported], Allowed, false),
        (&[&other, &list, &reported], Allowed, false),
        (&[&report, &other, &any], Refused, true),
        (&[&report, &list], Allowed, false),
        (&[&refuse, &list, &any], Refused, false),
        (&[&record, &refuse, &list], Record, false),
        (&[&other, &any], Allowed, false),
    ] {
        assert_eq!(ask_layers(layers, "A"), (verdict, is_reported), "{layers:?}");
    }
}

#[test]
fn a_question_tells_when_its_answer_is_final() {
    let name = ClassName::new(NameComparison::Exact, b"A", false).unwrap();
    let mut question = Question::new(name);
    question.item(ClassName::checked(NameComparison::Exact, b"B", false));
    assert!(!question.is_final());
    question.otherwise(Otherwise::Record);
    let mut question = Question::at(question.name(), question.state());
    assert!(!question.is_final());
    question.item(ClassName::checked(NameComparison::Exact, b"*", false));
    assert!(question.is_final());
    question.otherwise(Otherwise::Refuse);
    assert_eq!(question.answer().verdict, Verdict::Allowed);
}

#[test]
fn php_names_are_found_in_long_lists() {
    let mut list = Rules::new(NameComparison::Php);
    for number in 0..2000 {
        list.allow(format!("\\App\\Class{number}").as_bytes(), false).unwrap();
    }
    let verdict = |name: &[u8]| ask(&[&list], NameComparison::Php, name, false).unwrap().verdict;
    assert_eq!(verdict(b"app\\cLASS1999"), Verdict::Allowed);
    assert_eq!(verdict(b"\\App\\Class0"), Verdict::Allowed);
    assert_eq!(verdict(b"App\\Class2000"), Verdict::Refused);
    assert_eq!(verdict(b"\\\\App\\Class0"), Verdict::Refused);
    let steps = crate::steps::counted(|| assert_eq!(verdict(b"App\\Class1234"), Verdict::Allowed));
    assert!(steps < 100, "a name is looked up, not searched: {steps}");
}

#[test]
fn words_for_unlisted_classes_are_parsed() {
    assert_eq!(Otherwise::of_word(b"any"), Some(Otherwise::Any));
    assert_eq!(Otherwise::of_word(b"any,report"), Some(Otherwise::AnyReported));
    assert_eq!(Otherwise::of_word(b"report"), Some(Otherwise::Report));
    assert_eq!(Otherwise::of_word(b"record"), Some(Otherwise::Record));
    assert_eq!(Otherwise::of_word(b"Any"), None);
}

#[test]
fn all_classes_of_a_document_are_checked_at_once() {
    let mut b = Builder::new();
    b.begin_array();
    for class in ["A", "Evil", "My::B", "Evil", "Other"] {
        b.begin_object(class);
        b.begin_map();
        b.end().end();
    }
    b.end();
    let document = b.finish().unwrap();
    let list = make_rules(&["A", "My::*"], Some(Otherwise::Report));
    let refused = |layers: &[&Rules]| {
        let refused = super::refused(&document, layers, NameComparison::Exact, |class| class.kind == "object").unwrap();
        refused
            .into_iter()
            .map(|class| (String::from_utf8(class.name).unwrap(), class.path, class.is_reported))
            .collect::<Vec<_>>()
    };
    let expected = |name: &str, path: &str, is_reported| (name.to_owned(), path.to_owned(), is_reported);
    assert_eq!(refused(&[&list]), [expected("Evil", "$[1]", true), expected("Other", "$[4]", true)]);
    assert_eq!(refused(&[&list, &make_rules(&["*"], None)]), []);
    assert_eq!(refused(&[]).len(), 4);
    assert!(super::refused(&document, &[], NameComparison::Exact, |_| false).unwrap().is_empty());
}
