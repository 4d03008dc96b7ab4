//! What becomes of each construct.

use super::*;

/// Pattern, flags, expected pattern, expected flags. A pattern of `None` is copied.
type Row<'t> = (&'t str, &'t str, Option<&'t str>, &'t str);

fn check_rows(rows: &[Row<'_>], from: Dialect, loss: Option<LossKind>) {
    for (pattern, flags, expected, expected_flags) in rows {
        let translated = translate(pattern, flags.as_bytes(), from);
        let text = format!("{}/{}", translated.pattern, String::from_utf8_lossy(&translated.flags));
        assert_eq!(text, format!("{}/{expected_flags}", expected.unwrap_or(pattern)), "{pattern} /{flags}");
        assert_eq!(translated.loss, loss, "{pattern} /{flags}");
    }
}

#[test]
fn patterns_of_perl_are_written_for_ruby() {
    check_rows(
        &[
            ("", "", None, ""),
            (r"abc|\t\n\.\*[a-z][^b-d]a{1,2}?b++", "", None, ""),
            ("é日", "", None, "u"),
            ("a", "msix", None, "six"),
            ("^a$", "", Some(r"\Aa\Z"), ""),
            ("^a$", "m", None, ""),
            ("(?m:^)(?-m:$)", "m", Some(r"(?:^)(?:\Z)"), ""),
            ("(?^:a)", "", Some("(?-mix:a)"), ""),
            ("(?^i:a)", "", Some("(?i-mx:a)"), ""),
            ("(?s)a.", "", Some("(?m)a."), ""),
            ("a(?i)b", "", None, ""),
            ("a(?i)b|c", "", Some("a(?i:b)|(?i:c)"), ""),
            (r"\x{e9}\x{1F600}\x41\xE9\351", "", Some(r"\u{e9}\u{1f600}\x41\u{e9}\u{e9}"), "u"),
            (r"\o{351}\N{U+E9}\c[\cA\u", "", Some(r"\u{e9}\u{e9}\x1B\cAu"), "u"),
            (r"\d\D", "", Some(r"\p{Nd}\P{Nd}"), "u"),
            (r"\w\W", "", Some(r"[\p{Word}\u200C\u200D][^\p{Word}\u200C\u200D]"), "u"),
            (r"\s\S\N+", "", Some(r"[[:space:]][^[:space:]][^\n]+"), ""),
            (r"\d\w\s\S", "a", None, ""),
            (r"\h\v", "", Some(r"[\t\p{Zs}][\n-\r\u0085\u2028\u2029]"), "u"),
            (r"[\w.-]", "", Some(r"[\p{Word}\u200C\u200D.-]"), "u"),
            (r"[\w.]", "i", Some(r"(?-i:[\p{Word}\u200C\u200D.])"), "iu"),
            (r"[\Wa]", "", Some(r"[[^\p{Word}\u200C\u200D]a]"), "u"),
            ("[[:alpha:]]", "a", Some("(?a:[[:alpha:]])"), ""),
            (r"\b", "a", Some(r"(?a:\b)"), ""),
            ("[[a&&b]", "", Some(r"[\[a\&\&b]"), ""),
            ("[]a]", "", Some(r"[\]a]"), ""),
            ("[a b]", "xx", Some("[ab]"), "x"),
            ("[aé]", "i", Some("[aéÉ]"), "iu"),
            (r"\pL\p{IsLu}\p{gc=Nd}\p{Script=Han}", "", Some(r"\p{L}\p{Lu}\p{Nd}\p{Han}"), "u"),
            (r"\p{L&}", "", Some(r"[\p{Lu}\p{Ll}\p{Lt}]"), "u"),
            ("(?<n>a)(?P<m>b)(?P=n)", "", Some(r"(?<n>a)(?<m>b)\k<n>"), ""),
            (r"(?<n>a)\1", "", Some(r"(?<n>a)\k<n>"), ""),
            (r"(a)\g{-1}", "", Some(r"(a)\k<1>"), ""),
            ("(a)(b)", "n", Some("(?:a)(?:b)"), ""),
            ("a{1,2}+a{2}?", "", Some("(?>a{1,2})(?:a{2})"), ""),
            ("a{ 1, 2 }", "", Some("a{1,2}"), ""),
            ("(?<=a{1,3})b", "", Some("(?<=a|aa|aaa)b"), ""),
            ("(?<!a(?:b|cd))e", "", Some("(?<!a(?:b)|a(?:cd))e"), ""),
            (r"(\((?:[^()]|(?1))*\))", "", Some(r"(\((?:[^()]|\g<1>)*\))"), ""),
            ("(?(?=a)b|c)", "", Some("(?:(?=a)b|(?!a)c)"), ""),
            ("(*FAIL)(*pla:a)", "", Some("(?!)(?=a)"), ""),
            ("(?|a|b)", "", Some("(?:a|b)"), ""),
            ("a b # c", "x", None, "x"),
            ("(?x: a # b\n)", "", None, ""),
        ],
        Dialect::Perl,
        None,
    );
}

#[test]
fn losses_are_reported_for_ruby() {
    check_rows(
        &[
            (r"\p{Han}", "", None, "u"),
            (r"a\Gb", "", None, ""),
            (r"\X", "", None, ""),
            (r"\b{wb}a", "", Some(r"\ba"), ""),
            ("(?<n>a)(b)", "", Some("(?<n>a)(?<_2>b)"), ""),
            ("(a)(?1)", "", Some(r"(a)\g<1>"), ""),
            ("s(?:s)", "i", None, "i"),
            ("(?|a(b)|(c)d)", "", Some("(?:a(b)|(c)d)"), ""),
            ("(?(DEFINE)(?<m>y))x(?&m)", "", Some(r"(?:(?<m>y)){0}x\g<m>"), ""),
        ],
        Dialect::Perl,
        Some(LossKind::RegexpMeaning),
    );
    for pattern in [
        r"(?|(a)|(b))\1",
        "(?{1})",
        "a(*SKIP)b",
        r"\x{110000}",
        r"\N{DIGIT ONE}",
        r"\p{main::IsFoo}",
        "(?<=a+)b",
        "(?<!(a))b",
        "(?1)(a|(?1)b)",
        "a{100001}",
        "(",
        "a)",
        "[a",
        r"a\",
        "(?(R)a|b)",
        "(?[ [a] ])",
    ] {
        let source = pattern.replace('\\', r"\\").replace(')', r"\)");
        let translated = translate(pattern, b"", Dialect::Perl);
        assert_eq!(translated.pattern, format!("(?!)(?#{source})"), "{pattern}");
        assert_eq!(translated.loss, Some(LossKind::RegexpNever), "{pattern}");
    }
}

#[test]
fn patterns_of_ruby_are_written_for_perl() {
    check_rows(
        &[
            ("", "", None, ""),
            (r"abc|\t\n\.\*[a-z][^b-d]a{1,2}?b++", "", None, ""),
            ("é日", "u", None, ""),
            ("^a", "", None, "m"),
            ("a$", "s", None, "ms"),
            (r"\Aa\z.", "six", None, "six"),
            ("(?m:.)(?-mix:a)", "", Some("(?s:.)(?-six:a)"), ""),
            ("a(?i)b|c", "", Some("a(?i:b|c)"), ""),
            (r"\h\H", "", Some("[0-9A-Fa-f][^0-9A-Fa-f]"), ""),
            (r"\d\w\s", "", Some(r"[0-9][0-9A-Za-z_][\t-\r ]"), ""),
            (r"\w", "i", Some("(?-i:[0-9A-Za-z_])"), "i"),
            (r"[\w.]", "i", Some(r"(?-i:(?![\x{212a}\x{17f}]))[0-9A-Za-z_.]"), "i"),
            (r"\u00e9\u{e9}\u{61 62}\xC3\xA9", "", Some(r"\x{e9}\x{e9}ab\x{e9}"), ""),
            (r"\v\C-a\N\Q\o", "", Some(r"\x{b}\x{1}NQo"), ""),
            ("[a-z&&[^aeiou]]", "", Some("(?=[a-z])[^aeiou]"), ""),
            ("[^a-z&&b-d]", "", Some("(?!(?=[a-z])[b-d])(?s:.)"), ""),
            ("[[a]b][^a[b]]", "", Some("[ab][^ab]"), ""),
            ("[[^a][^b]]+", "", Some("(?:(?:[^a]|[^b]))+"), ""),
            ("[aé]", "i", Some(r"(?-i:(?![\x{c9}]))[aé]"), "i"),
            (r"[[:word:]]", "", Some(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]"), ""),
            (r"\p{Han}\p{^L}\p{InHiragana}", "", Some(r"\p{Script=Han}\P{L}\p{InHiragana}"), ""),
            ("(?<n>a)(b)", "", Some("(?<n>a)(?:b)"), ""),
            (r"(a)\k<1>\k<-1>", "", Some(r"(a)\g{1}\g{1}"), ""),
            ("a{1,2}+b{2}?c**", "", Some("(?:a{1,2})+(?:b{2})?(?:c*)*"), ""),
            ("a{,2}a{1, 2}", "", Some(r"a{0,2}a\{1, 2}"), ""),
            (r"(?<n>\((?:[^()]|\g<n>)*\))", "", Some(r"(?<n>\((?:[^()]|(?&n))*\))"), ""),
            ("b(?~a)", "", Some("b[^a]*"), ""),
            ("a{1}", "n", None, ""),
        ],
        Dialect::Ruby,
        None,
    );
}

#[test]
fn losses_are_reported_for_perl() {
    check_rows(
        &[
            ("(?~ab)", "", Some("(?:(?!ab)(?s:.))*"), ""),
            (r"(a)\g<1>", "", Some("(a)(?1)"), ""),
            (r"\p{Lu}", "i", None, "i"),
            ("(?<日>a)", "", Some("(a)"), ""),
            (r"a\G", "", None, ""),
        ],
        Dialect::Ruby,
        Some(LossKind::RegexpMeaning),
    );
    for (pattern, source) in [
        (r"(?<n>a)\k<n+0>", r"(?<n>a)\k<n+0>"),
        ("a{70000}\n#", r"a{70000}\n#"),
        (r"\c?", r"\c?"),
        (r"\xE9", r"\xE9"),
        ("[a", "[a"),
        ("(?<n>", "(?<n>"),
        ("(?{1})", "(? {1})"),
    ] {
        let expected = format!("{NEVER}#{source}");
        check_rows(&[(pattern, "", Some(&expected), "x")], Dialect::Ruby, Some(LossKind::RegexpNever));
    }
}

#[test]
fn the_nesting_of_patterns_is_limited() {
    for from in [Dialect::Perl, Dialect::Ruby] {
        for (open, close) in [("(", ")"), ("(?:", ")"), ("[[", "]]"), ("(?i:[", "])")] {
            let pattern = open.repeat(100_000) + "a" + &close.repeat(100_000);
            let _ = translate(&pattern, b"", from);
            let _ = translate(&open.repeat(100_000), b"", from);
        }
        for text in ["{", "[[:", "(?<n>a)\\k<n>", "(?1)", "[", "{1", "s(?:s)", "(?(?=a)", "\\N{1", "(?<=a?"] {
            let _ = translate(&text.repeat(100_000), b"i", from);
        }
        let long = "a(?:b|c)d?[e-g]\\d".repeat(20_000);
        assert_eq!(translate(&long, b"", from).loss, None);
    }
}

#[test]
fn random_texts_are_translated_without_a_panic() {
    const TOKENS: &[&str] = &[
        "(", ")", "(?", "(?<", "(?'", "(?^", "(*", "[", "]", "[^", "[[:", ":]", "&&", "{", "}", "{1,", "\\", "\\x",
        "\\p{", "\\k<", "\\g", "\\u", "\\N{", "\\b{", "|", "*", "+", "?", "-", "i", "x", ":", ">", "#", "\n", " ", "é",
        "日", "a", "1", "=", "!", "R", "^", "$", ".", "~",
    ];
    let mut state = 1_u64;
    for _ in 0..200_000 {
        let mut pattern = String::new();
        for _ in 0..(state >> 40) % 9 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            pattern.push_str(TOKENS[(state >> 33) as usize % TOKENS.len()]);
        }
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        for from in [Dialect::Perl, Dialect::Ruby] {
            for flags in [&b""[..], b"ixx", b"msaa"] {
                let _ = translate(&pattern, flags, from);
            }
        }
    }
}
