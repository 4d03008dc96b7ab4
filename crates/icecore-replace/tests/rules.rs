//! What matches, and what replaces it.

use icecore_replace::{Rules, SecondRun, Spelling};
use proptest::prelude::*;

fn rules(pairs: &[(&str, &str)]) -> Rules {
    let add = |builder: icecore_replace::Builder, (old, new): &(&str, &str)| builder.pair(*old, *new);
    pairs.iter().fold(Rules::builder(), add).build().unwrap()
}

fn apply(pairs: &[(&str, &str)], text: &str) -> String {
    String::from_utf8(rules(pairs).apply(text.as_bytes())).unwrap()
}

fn url(old: &str, new: &str, text: &str) -> String {
    String::from_utf8(Rules::builder().url(old, new).build().unwrap().apply(text.as_bytes())).unwrap()
}

fn refusal(builder: icecore_replace::Builder) -> String {
    builder.build().unwrap_err().to_string()
}

#[test]
fn all_pairs_act_at_once_and_the_longest_match_wins() {
    assert_eq!(apply(&[("a", "b"), ("b", "a")], "abba"), "baab");
    assert_eq!(apply(&[("http://a", "1"), ("http://a.b", "2"), ("a.b", "3")], "http://a.b http://a a.b"), "2 1 3");
    // The leftmost match, even if a longer one begins inside of it.
    assert_eq!(apply(&[("ab", "x"), ("bcd", "y")], "abcd"), "xcd");
    // Inserted text is not searched.
    assert_eq!(apply(&[("a", "aa")], "aa"), "aaaa");
    assert_eq!(apply(&[("x", "")], "axbx"), "ab");
    // A pair that changes nothing protects its matches.
    assert_eq!(apply(&[("old", "new"), ("keep.old", "keep.old")], "old keep.old"), "new keep.old");
}

#[test]
fn contradictory_rules_are_refused() {
    assert_eq!(refusal(Rules::builder()), "there is nothing to replace: give OLD and NEW");
    assert_eq!(refusal(Rules::builder().pair("", "x")), "an empty OLD is found everywhere: give a text");
    assert_eq!(
        refusal(Rules::builder().pair("a", "b").pair("a", "c")),
        "`a` can't be replaced with both `b` and `c`: give it once"
    );
    assert!(Rules::builder().pair("a", "b").pair("a", "b").build().is_ok());
    assert_eq!(
        refusal(Rules::builder().pair("a", "b").pair("A", "c").ignore_case(true)),
        "`A` can't be replaced with both `b` and `c`: give it once"
    );
    assert_eq!(
        refusal(Rules::builder().pair("x*", "b").regex(true)),
        "`x*` matches the empty text, so it is found everywhere: use `+` instead of `*`"
    );
    assert!(refusal(Rules::builder().pair("(", "b").regex(true)).starts_with("`(` is not a regular expression: "));
    assert_eq!(
        refusal(Rules::builder().pair("(x)", "$1a").regex(true)),
        "there is no group `1a` in `(x)`: `${1}a` is the first group with an `a` after it, `$$` is a dollar"
    );
    assert!(refusal(Rules::builder().pair("(x)", "$2").regex(true)).starts_with("there is no group `2`"));
    assert!(
        refusal(Rules::builder().url("old.example", "https://new")).starts_with("`old.example` is not an address: ")
    );
    assert!(
        refusal(Rules::builder().url("https://", "https://new")).starts_with("`https://` is not an address of a host")
    );
    assert!(refusal(Rules::builder().url("https://u@old", "https://new")).contains("without a user"));
}

#[test]
fn ignore_case_applies_to_ascii_letters() {
    let rules = Rules::builder().pair("Äpfel", "x").pair("Old", "new").ignore_case(true).build().unwrap();
    assert_eq!(rules.apply("OLD old äpfel ÄPFEL".as_bytes()), "new new äpfel x".as_bytes());
    let rules = Rules::builder().pair("äpfel", "x").regex(true).ignore_case(true).build().unwrap();
    assert_eq!(rules.apply("Äpfel ÄPFEL".as_bytes()), b"x x");
}

#[test]
fn replacements_of_expressions_may_use_groups() {
    let rules = Rules::builder()
        .pair(r"(?P<user>\w+)@(\w+)\.old", "${user}@$2.new ($$1)")
        .pair("o+", "0")
        .regex(true)
        .build()
        .unwrap();
    assert_eq!(rules.apply(b"joe@mail.old foo"), b"joe@mail.new ($1) f0");
    // Anchors and word boundaries see the whole text, not only the rest of it.
    let rules = Rules::builder().pair(r"\bb", "x").pair("^a", "y").regex(true).build().unwrap();
    assert_eq!(rules.apply(b"aab b"), b"yab x");
    // Bytes that are not UTF-8.
    let rules = Rules::builder().pair(r"(?-u:\xff)", "y").regex(true).build().unwrap();
    assert_eq!(rules.apply(b"a\xffb"), b"ayb");
}

#[test]
fn an_address_is_found_in_every_spelling() {
    let (old, new) = ("https://old.example/blog", "http://new.example:8080");
    let spelled = |text| url(old, new, text);
    assert_eq!(spelled("https://old.example/blog/a?b#c"), "http://new.example:8080/a?b#c");
    assert_eq!(spelled("http://old.example/blog"), "http://new.example:8080");
    assert_eq!(spelled("src=\"//old.example/blog/a.png\""), "src=\"//new.example:8080/a.png\"");
    assert_eq!(spelled(r"https:\/\/old.example\/blog\/a"), r"http:\/\/new.example:8080\/a");
    assert_eq!(spelled(r"https:\\\/\\\/old.example\\\/blog\\\/a"), r"http:\\\/\\\/new.example:8080\\\/a");
    assert_eq!(spelled(r"https:\\/\\/old.example\\/blog"), r"http:\\/\\/new.example:8080");
    assert_eq!(spelled(r"\/\/old.example\/blog"), r"\/\/new.example:8080");
    assert_eq!(spelled("https%3A%2F%2Fold.example%2Fblog%2Fa"), "http%3A%2F%2Fnew.example%3A8080%2Fa");
    assert_eq!(spelled("https%3a%2f%2fold.example%2fblog"), "http%3a%2f%2fnew.example%3a8080");
    assert_eq!(spelled("https%3A//old.example/blog"), "http%3A//new.example%3A8080");
    // The other scheme is kept.
    assert_eq!(url("https://a", "https://b", "http://a https://a //a"), "http://b https://b //b");
}

#[test]
fn an_address_ends_where_its_host_or_folder_ends() {
    for other in [
        "https://old.example.org",
        "https://old.example-shop",
        "https://old.examples",
        "https://old.example_1",
        "https://old.example:8080/",
        "https://old.example@evil.example",
        "https%3A%2F%2Fold.example%3A8080",
        "https://www.old.example",
        "ftp://old.example",
        "file:////old.example",
        "joe@old.example",
        "old.example",
    ] {
        assert_eq!(url("https://old.example", "https://new.example", other), other);
    }
    for (text, expected) in [
        ("See https://old.example.", "See https://new."),
        ("https://old.example: a site", "https://new: a site"),
        ("https://old.example\u{201d}", "https://new\u{201d}"),
        ("https://old.example%20", "https://new%20"),
        ("https://old.example?x", "https://new?x"),
        ("url(//old.example)", "url(//new)"),
    ] {
        assert_eq!(url("https://old.example", "https://new", text), expected);
    }
    for other in
        ["https://a/blogger", "https://a/blog.html", "https://a/blog-2", "https://a/blog~", "https://a/blog%20x"]
    {
        assert_eq!(url("https://a/blog", "https://b", other), other);
    }
    assert_eq!(
        url("https://a/blog", "https://b", "https://a/blog. https%3A%2F%2Fa%2Fblog%3Fx"),
        "https://b. https%3A%2F%2Fb%3Fx"
    );
    // Slashes at the end make no difference.
    assert_eq!(url("https://a/", "https://b", "https://a/x https://a"), "https://b/x https://b");
    assert_eq!(url("https://a", "https://b/", "https://a/x https://a"), "https://b/x https://b");
}

#[test]
fn a_shorter_address_matches_where_a_longer_one_does_not() {
    let rules = Rules::builder().url("https://a/blog", "https://b").url("https://a", "https://c").build().unwrap();
    assert_eq!(
        rules.apply(b"https://a/blog/1 https://a/blogger https://a.b"),
        b"https://b/1 https://c/blogger https://a.b"
    );
    let rules = Rules::builder().url("https://a", "https://b").pair("http", "HTTP").build().unwrap();
    assert_eq!(rules.apply(b"https://a https://ab"), b"https://b HTTPs://ab");
}

#[test]
fn matches_report_their_spelling() {
    let rules = Rules::builder().url("https://a", "https://b").build().unwrap();
    let spellings = |text: &str| -> Vec<Spelling> {
        rules.matches(text.as_bytes()).map(|found| rules.pairs()[found.pair].spelling()).collect()
    };
    use Spelling::{Given, Json, NoScheme, OtherScheme, Percent};
    assert_eq!(
        spellings(r"https://a http://a //a https:\/\/a \/\/a https%3A%2F%2Fa"),
        [Given, OtherScheme, NoScheme, Json, Json, Percent]
    );
}

#[test]
fn effects_of_a_second_run_are_predicted() {
    let second_run = |old: &str, new: &str| rules(&[(old, new)]).check_second_run();
    assert_eq!(second_run("old", "new"), SecondRun::Nothing);
    assert_eq!(second_run("http://x", "https://x"), SecondRun::Nothing);
    assert_eq!(second_run("x", "x2"), SecondRun::Contains(0, 0));
    assert_eq!(second_run("ab", "ca"), SecondRun::Joins(0, 0));
    assert_eq!(second_run("ab", ""), SecondRun::Joins(0, 0));
    assert_eq!(rules(&[("a", "b"), ("b", "a")]).check_second_run(), SecondRun::Contains(0, 1));
    assert_eq!(rules(&[("a", "a")]).check_second_run(), SecondRun::Nothing);
    let url = |old, new| Rules::builder().url(old, new).build().unwrap().check_second_run();
    assert_eq!(url("https://a.b", "https://a.b.c"), SecondRun::Nothing);
    assert_eq!(url("https://a.b", "https://a.b/c"), SecondRun::Contains(0, 0));
}

/// Replaces at each position, without any optimization.
fn replace_naively(pairs: &[(Vec<u8>, Vec<u8>)], text: &[u8]) -> Vec<u8> {
    let (mut out, mut offset) = (Vec::new(), 0);
    while offset < text.len() {
        let fits = |(old, _): &&(Vec<u8>, Vec<u8>)| text[offset..].starts_with(old);
        match pairs.iter().filter(fits).max_by_key(|(old, _)| old.len()) {
            Some((old, new)) => {
                out.extend_from_slice(new);
                offset += old.len();
            }
            None => {
                out.push(text[offset]);
                offset += 1;
            }
        }
    }
    out
}

fn few() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'b'), Just(b'/'), Just(b'"'), Just(0xffu8)], 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn results_equal_those_of_a_naive_search(
        pairs in proptest::collection::btree_map(few(), proptest::collection::vec(any::<u8>(), 0..4), 1..8),
        text in proptest::collection::vec(few(), 0..30),
    ) {
        let (pairs, text): (Vec<_>, Vec<u8>) = (pairs.into_iter().collect(), text.concat());
        let add = |builder: icecore_replace::Builder, (old, new): &(Vec<u8>, Vec<u8>)| builder.pair(old.clone(), new.clone());
        let rules = pairs.iter().fold(Rules::builder(), add).build().unwrap();
        prop_assert_eq!(rules.apply(&text), replace_naively(&pairs, &text));
        // If the rules promise that a second run changes nothing, it changes nothing.
        if rules.check_second_run() == SecondRun::Nothing {
            let once = rules.apply(&text);
            prop_assert_eq!(rules.apply(&once), once);
        }
    }

    #[test]
    fn literal_expressions_match_like_plain_texts(
        old in few().prop_filter("UTF-8", |old| std::str::from_utf8(old).is_ok()),
        text in proptest::collection::vec(few(), 0..30),
    ) {
        let text = text.concat();
        let plain = Rules::builder().pair(old.clone(), "-").build().unwrap();
        let expression = Rules::builder().pair(old, "-").regex(true).build().unwrap();
        prop_assert_eq!(plain.apply(&text), expression.apply(&text));
    }
}
