//! Documents that try to run code: PHP evaluates and requires our output for them, and must not
//! call anything.

use crate::common::usual_or_full;
use icecore::format::var_export::{self, WriteOptions};
use icecore::{Document, Limits, LossKind, Stage};
use std::io::Write;
use std::process::{Command, Stdio};

/// Evaluates each text of stdin, requires it as a file, and prints the texts that called something.
/// Before each text come its length in 4 bytes and one byte: `c` if it may load classes, `p` if it
/// may not.
const RUN_TEXTS: &str = r#"
    error_reporting(0);
    $calls = []; $values = 0; $may_load = false; $text = ''; $is_done = false;
    function hit() { $GLOBALS['calls'][] = 'hit'; return 'hit'; }
    class Any {
        const Hearts = 1, hit = 2;
        static function __set_state($a) { if (!$GLOBALS['may_load']) $GLOBALS['calls'][] = '__set_state'; return new self; }
        static function __callStatic($name, $a) { $GLOBALS['calls'][] = "::$name"; }
        function __destruct() {}
    }
    spl_autoload_register(function ($name) {
        if (!$GLOBALS['may_load']) $GLOBALS['calls'][] = "class $name";
        // No class can be called so.
        if (!preg_match('/(^|\\\\)(self|static|parent)$/iD', $name)) class_alias('Any', $name);
    });
    class Texts {
        public $context; private $at = 0;
        function stream_open() { return true; }
        function stream_read($count) {
            $part = substr($GLOBALS['file'], $this->at, $count); $this->at += strlen($part); return $part;
        }
        function stream_eof() { return $this->at >= strlen($GLOBALS['file']); }
        function stream_stat() { return []; }
        function stream_set_option() { return false; }
    }
    stream_wrapper_register('text', 'Texts');
    register_shutdown_function(function () {
        if (!$GLOBALS['is_done']) echo "ENDED BY: ", error_get_last()['message'] ?? '', "\n", $GLOBALS['text'], "\n";
    });
    function required($text) { $GLOBALS['file'] = $text; return require 'text://x'; }
    $tries = [
        fn($text) => eval('return ' . $text . ';'),
        fn($text) => required($text),
        fn($text) => required("<?php return\n" . $text . ';'),
    ];
    while (strlen($head = (string) fread(STDIN, 5)) === 5) {
        ['length' => $length, 'mode' => $mode] = unpack('Nlength/amode', $head);
        $text = $length ? stream_get_contents(STDIN, $length) : '';
        $calls = []; $may_load = $mode === 'c'; $has_value = false;
        foreach ($tries as $number => $try) {
            ob_start();
            try { $value = $try($text); $has_value = $has_value || $value !== 1; } catch (Throwable) {}
            $value = null;
            ob_end_clean();
            if ($calls) { echo "CALLED: try $number, ", implode(', ', $calls), ":\n$text\n"; break; }
        }
        $values += $has_value ? 1 : 0;
    }
    $is_done = true;
    echo "VALUES: $values\n";
"#;

/// A text, and whether it may load classes.
type Text = (Vec<u8>, bool);

/// Returns the texts that called something, and the number of texts with a value; `None` without PHP.
fn run_in_php(texts: &[Text]) -> Option<(Vec<String>, usize)> {
    let found = Command::new("php")
        .args(["-n", "-d", "short_open_tag=1", "-d", "memory_limit=-1", "-r", RUN_TEXTS])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut php) = found else {
        println!("skipped: PHP is not installed");
        return None;
    };
    let mut stdin = php.stdin.take()?;
    let input = texts.iter().flat_map(|(text, may_load)| {
        let head = [(text.len() as u32).to_be_bytes().as_slice(), if *may_load { b"c" } else { b"p" }].concat();
        [head.as_slice(), text].concat()
    });
    let input: Vec<u8> = input.collect();
    let feeder = std::thread::spawn(move || stdin.write_all(&input));
    let output = php.wait_with_output().expect("PHP ends");
    let fed = feeder.join().expect("a thread");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let (called, values) = stdout.rsplit_once("VALUES: ").unwrap_or_else(|| panic!("{stdout}"));
    fed.expect("PHP reads all");
    let called = called.split("CALLED: ").skip(1).map(str::to_owned).collect();
    Some((called, values.trim().parse().expect("a number")))
}

fn assert_nothing_runs(texts: &[Text]) -> usize {
    let Some((called, values)) = run_in_php(texts) else { return usize::MAX };
    println!("{} texts, {values} had a value", texts.len());
    let some = &called[..called.len().min(8)];
    assert!(called.is_empty(), "{} texts called something: {}", called.len(), some.join("\n---\n"));
    values
}

fn read(bytes: &[u8], stage: &str) -> Result<Document<'static>, icecore::Error> {
    let stage = Stage::parse(stage).expect("a stage");
    Ok(icecore::read_as(bytes, &stage, &Limits::default())?.into_owned())
}

fn write_document(document: &Document<'_>, options: &WriteOptions) -> Result<(Vec<u8>, Vec<LossKind>), icecore::Error> {
    let mut text = Vec::new();
    let losses = var_export::write(document, options, &Limits::default(), &mut text)?;
    Ok((text, losses.iter().map(|loss| loss.kind).collect()))
}

fn convert_to_text(bytes: &[u8], stage: &str, options: &WriteOptions) -> (String, Vec<LossKind>) {
    let document = read(bytes, stage).unwrap_or_else(|error| panic!("{error}: {}", bytes.escape_ascii()));
    let (text, losses) = write_document(&document, options).expect("a text");
    (String::from_utf8_lossy(&text).into_owned(), losses)
}

fn short_syntax() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.short = true;
    options
}

/// PHP prints a file that does not begin with `<?php`, up to a tag in one of its strings.
#[test]
fn php_tags_in_strings_are_split() {
    for (json, text) in [
        (r#""<?php hit(); ?>""#, "'<' . '?php hit(); ?>'"),
        (r#""<?= hit() ?>""#, "'<' . '?= hit() ?>'"),
        (r#""a<<?<%""#, "'a<<' . '?<' . '%'"),
        (r#""<SCRIPT language=php>hit();</script>""#, "'<' . 'SCRIPT language=php>hit();</script>'"),
        (r#""'<?\\<?""#, "'\\'<' . '?\\\\<' . '?'"),
        (r#"{"<?":1}"#, "[\n    '<' . '?' => 1,\n]"),
        (r#"{"$class":"stdClass","$value":{"<?":1}}"#, "(object) [\n    '<' . '?' => 1,\n]"),
        (r#"{"$symbol":"<?"}"#, "'<' . '?'"),
        (r#"{"$enum":"<?:a"}"#, "'<' . '?:a'"),
        (r#""a < b ?""#, "'a < b ?'"),
    ] {
        assert_eq!(convert_to_text(json.as_bytes(), "json:typed", &short_syntax()).0, text, "{json}");
        let stage = if json.starts_with("{\"$class\"") { continue } else { "var-export" };
        let reread = read(text.as_bytes(), stage).expect("the same value");
        assert_eq!(write_document(&reread, &short_syntax()).expect("a text").0, text.as_bytes(), "{json}");
    }
    let mut options = short_syntax();
    options.file = Some(true);
    assert_eq!(convert_to_text(br#""<?php""#, "json", &options).0, "<?php\n\nreturn '<?php';\n");
    options.file = None;
    options.trusted = true;
    assert_eq!(convert_to_text(br#""<?php""#, "json", &options).0, "'<?php'");
}

/// The kept spelling of a text is written again, unless PHP would run it.
#[test]
fn php_tags_in_kept_spelling_are_not_written() {
    for (text, rewritten) in [
        (&b"/* <?php hit(); ?> */ return \"\\x3c?\";"[..], "\"\\x3c?\";"),
        (b"[\"<?php hit(); ?>\\x00\"] // <?= hit() ?>", ""),
        (b"<?php // <?= hit()\nreturn \"<?\\x21\";", "<?php // <?= hit()\nreturn \"<?\\x21\";"),
    ] {
        let stage = Stage::parse("var-export").expect("a stage");
        let mut out = Vec::new();
        let converted = icecore::Converter::new(stage.clone(), stage).convert(text, &mut out);
        match converted.written {
            Ok(_) if rewritten.is_empty() => {
                let out = String::from_utf8_lossy(&out);
                assert!(!out.contains("<?"), "{out}");
            }
            Ok(_) => assert_eq!(String::from_utf8_lossy(&out).trim_end(), rewritten),
            // After `//`, PHP still ends at `?>`.
            Err(error) => assert!(rewritten.is_empty(), "{error}"),
        }
    }
}

/// PHP needs a certain blank after `<?php`, or it prints the text.
#[test]
fn a_form_feed_after_the_php_tag_is_refused() {
    for text in ["<?php\x0creturn ['<?php hit(); ?>'];", "<?php\x0b return 1;"] {
        assert!(read(text.as_bytes(), "var-export").is_err(), "{text:?}");
    }
    for text in ["<?php return 1;", "<?PHP\treturn 1;", "<?php\rreturn 1;", "<?php\nreturn 1;"] {
        assert!(read(text.as_bytes(), "var-export").is_ok(), "{text:?}");
    }
}

#[test]
fn names_that_are_not_php_syntax_become_strings() {
    for (bytes, text, losses) in [
        (&b"E:7:\"1A:case\";"[..], "'1A:case'", &[LossKind::Name][..]),
        (b"E:8:\"A\\\\B:cas\";", "'A\\\\\\\\B:cas'", &[LossKind::Name]),
        (b"E:4:\"A\\:b\";", "'A\\\\:b'", &[LossKind::Name]),
        (b"E:6:\"Self:X\";", "'Self:X'", &[LossKind::Name]),
        (b"E:7:\"A:class\";", "'A:class'", &[LossKind::Name]),
        (b"E:8:\"A:1;hit(\";", "'A:1;hit('", &[LossKind::Name]),
        (b"E:8:\"A\\B:case\";", "\\A\\B::case", &[]),
        (b"O:6:\"parent\":0:{}", "[]", &[LossKind::Class]),
        (b"O:6:\"A\\self\":0:{}", "\\A\\self::__set_state([])", &[]),
        (b"O:5:\"A\\\\\\B\":0:{}", "[]", &[LossKind::Class]),
    ] {
        let (found, lost) = convert_to_text(bytes, "php", &short_syntax());
        let lost: Vec<_> = lost.into_iter().filter(|kind| *kind != LossKind::ArrayKind).collect();
        assert_eq!((found.as_str(), &lost[..]), (text, losses), "{}", bytes.escape_ascii());
    }
}

#[test]
fn option_plain_writes_no_class_names() {
    let mut options = short_syntax();
    options.plain = true;
    let (text, losses) =
        convert_to_text(b"a:2:{i:0;O:1:\"A\":1:{s:1:\"b\";E:3:\"S:H\";}i:1;O:8:\"stdClass\":0:{}}", "php", &options);
    assert_eq!(text, "[\n    [\n        'b' => 'S:H',\n    ],\n    [],\n]");
    assert!(losses.contains(&LossKind::Class) && losses.contains(&LossKind::Name), "{losses:?}");
}

/// A generator whose sequence depends only on the seed.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn random_hostile_text(&mut self) -> String {
        const PIECES: &[&str] = &[
            "hit()",
            "hit",
            "${hit()}",
            "{${hit()}}",
            "`hit`",
            "<?php hit(); ?>",
            "<?= hit() ?>",
            "<? hit();",
            "?>",
            "<<<E\n{${hit()}}\nE\n",
            "<<<'E'\n",
            "\nE;\n",
            "<script language=\"php\">hit();</script>",
            "<% hit() %>",
            "'",
            "\"",
            "\\",
            "\\'",
            "\\\\",
            "' . hit() . '",
            "\" . hit() . \"",
            "\0",
            "\n",
            "\r",
            "\t",
            "\u{c}",
            ";",
            "hit();",
            "//",
            "#",
            "/*",
            "*/",
            "#[hit]",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            ",",
            "=>",
            "->",
            "::",
            ":",
            "A:",
            ":Hearts",
            ":class",
            ":hit",
            "A::hit()",
            "::__set_state(array(",
            "__halt_compiler();",
            "self",
            "static",
            "parent",
            "class",
            "namespace\\",
            "fn()=>hit()",
            "new hit",
            "$",
            "$GLOBALS",
            "@",
            "&",
            ".",
            "-",
            "1",
            "0",
            "-0",
            "9223372036854775807",
            "-9223372036854775808",
            "INF",
            "NAN",
            "A",
            "B\\C",
            "\u{e9}",
            "\u{2028}",
            "<",
            "?",
            "=",
            "%",
            "eval",
            "include",
            "array(",
            "0x",
            "1e9",
            " ",
            "_",
            "C:",
            "*",
            "O:",
        ];
        (0..self.below(6)).map(|_| self.pick(PIECES)).collect()
    }

    /// Returns the name of a class, often one that PHP accepts.
    fn class(&mut self) -> String {
        let name = match self.below(3) {
            0 => self.random_hostile_text(),
            _ => self.pick(&["A", "Ns\\B", "stdClass", "hit", "\\hit", "self", "a b", "Ns::Deep", "1A"]).to_owned(),
        };
        serde_json::to_string(&name).expect("JSON")
    }

    /// Returns the text as JSON, in one of the kinds of strings.
    fn string(&mut self) -> String {
        let quoted = serde_json::to_string(&self.random_hostile_text()).expect("JSON");
        match self.below(4) {
            0 => format!("{{\"$symbol\":{quoted}}}"),
            1 if quoted.is_ascii() => format!("{{\"$latin1\":{quoted}}}"),
            _ => quoted,
        }
    }

    fn number(&mut self) -> &'static str {
        self.pick(&[
            "0",
            "-0.0",
            "1.5",
            "-9223372036854775808",
            "18446744073709551615",
            "1e300",
            "99999999999999999999",
        ])
    }

    fn value(&mut self, depth: usize) -> String {
        match self.below(if depth > 3 { 5 } else { 14 }) {
            0 | 1 => self.string(),
            2 => self.number().to_owned(),
            3 => {
                let (class, case) = (self.class(), self.random_hostile_text());
                let case = if self.below(2) == 0 { "Hearts".to_owned() } else { case };
                let class: String = serde_json::from_str(&class).expect("a text");
                format!("{{\"$enum\":{}}}", serde_json::to_string(&format!("{class}:{case}")).expect("JSON"))
            }
            4 => match self.below(3) {
                0 => format!("{{\"$module\":{},\"$form\":\"class\"}}", self.class()),
                1 => format!("{{\"$regexp\":{},\"$flags\":\"\"}}", self.string()),
                _ => format!("{{\"$code\":{}}}", self.string()),
            },
            5 | 6 => format!("{{\"$class\":{},\"$value\":{}}}", self.class(), self.container(depth)),
            7 => format!("{{\"$opaque\":\"C\",\"$class\":{},\"$payload\":{}}}", self.class(), self.string()),
            8 => format!("{{\"$ref\":{}}}", self.value(depth + 1)),
            _ => self.container(depth),
        }
    }

    fn container(&mut self, depth: usize) -> String {
        let count = self.below(4);
        if self.below(2) == 0 {
            let items: Vec<_> = (0..count).map(|_| self.value(depth + 1)).collect();
            return format!("[{}]", items.join(","));
        }
        let pairs: Vec<_> = (0..count)
            .map(|_| {
                let key = if self.below(5) == 0 { self.below(3).to_string() } else { self.string() };
                format!("[{key},{}]", self.value(depth + 1))
            })
            .collect();
        format!("{{\"$map\":[{}]}}", pairs.join(","))
    }

    fn options(&mut self) -> WriteOptions {
        let mut options = WriteOptions::default();
        options.short = self.below(2) == 0;
        options.plain = self.below(3) == 0;
        options.file = [None, None, Some(true)][self.below(3)];
        options
    }

    /// Returns blanks and comments, or something that is neither.
    fn random_blanks(&mut self) -> &'static str {
        self.pick(&[
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            " ",
            "\n",
            "\r",
            "\t",
            "/* c */",
            "// c\n",
            "# c\r",
            "/**/",
            "/** **/",
            "/* <?php hit(); ?> */",
            "// ?> <?php hit(); //\n",
            "# ?><?= hit() ?>\n",
            "#[hit]\n",
            "/*/ hit() /*/",
            "\u{c}",
            "\u{b}",
            "// hit()\u{2028}\n",
            "//\r\n",
            "/*\0*/",
            "?>",
            ";",
        ])
    }

    /// Returns PHP's text of a value, or nearly that.
    fn random_source(&mut self, depth: usize) -> String {
        let (a, b) = (self.random_blanks(), self.random_blanks());
        let value = match self.below(if depth > 2 { 6 } else { 10 }) {
            0 => self.pick(&[
                "null",
                "1",
                "-1",
                "- 1",
                ".5",
                "1_0",
                "017",
                "INF",
                "-NAN",
                "\\true",
                "PHP_INT_MIN",
                "hit",
            ]),
            1 => self.pick(&[
                "'<?php hit(); ?>'",
                "'a\\'.hit().\\''",
                "''",
                "'\\\\'",
                "b'x'",
                "'a'.'b'",
                "'<'.'?= hit()'",
            ]),
            2 => self.pick(&[
                "\"a\"",
                "\"\\x3c?= hit() ?>\"",
                "\"<?= hit() ?>\\n\"",
                "\"\\\\\"",
                "\"\\{$x}\"",
                "\"\\u{3c}?\"",
            ]),
            3 => self.pick(&[
                "\"$a\"",
                "\"{$a}\"",
                "\"${a}\"",
                "\"$\"",
                "\"\\$a\"",
                "\"{\\$a}\"",
                "\"\\\\$a\"",
                "\"{ $\"",
            ]),
            4 => self.pick(&["\\A::Hearts", "A::class", "A :: hit", "hit::Hearts", "\\Ns\\A::hit", "self::Hearts"]),
            5 => self.pick(&[
                "hit()",
                "`hit`",
                "new hit",
                "<<<E\n{${hit()}}\nE",
                "(hit())",
                "&hit",
                "[hit()]",
                "A::hit()",
            ]),
            6 => {
                let body = self.entries(depth);
                return format!("{a}\\A::__set_state(array({body}){b})");
            }
            7 => {
                let body = self.entries(depth);
                return format!("(object){a}[{body}]{b}");
            }
            _ => {
                let body = self.entries(depth);
                return format!("array{a}({body}){b}");
            }
        };
        format!("{a}{value}{b}")
    }

    fn entries(&mut self, depth: usize) -> String {
        (0..self.below(3))
            .map(|_| {
                let key = if self.below(2) == 0 { format!("{}=>", self.random_source(9)) } else { String::new() };
                format!("{key}{},", self.random_source(depth + 1))
            })
            .collect()
    }

    fn file(&mut self) -> String {
        let front = self.pick(&["", "", "<?php ", "<?php\n", "<?php\r", "<?php\u{c}", "\u{feff}<?php ", "<?PHP\t"]);
        // PHP stops if anything is printed before this.
        let declares = if front.starts_with("<?php") { "declare(strict_types=1);return " } else { "return " };
        let word = self.pick(&["", "return ", "return", declares]);
        let end =
            self.pick(&["", ";", ";", "?>", ";\n?>\n", ";?>\u{c}", ";?> <?php hit();", "; hit();", "<?php hit();"]);
        format!("{front}{}{word}{}{end}", self.random_blanks(), self.random_source(0))
    }
}

fn count() -> usize {
    let number = std::env::var("TEXTS").ok().and_then(|text| text.parse().ok());
    number.unwrap_or(usual_or_full(4_000, 100_000))
}

fn seed() -> u64 {
    std::env::var("TEXTS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(42)
}

/// Hostile documents through each format that can contain them.
#[test]
fn php_runs_no_code_of_hostile_documents() {
    let through = ["", "", "", "php", "storable", "sereal", "marshal", "igbinary", "dumper", "json"];
    let mut random = Random(seed());
    let (mut texts, count) = (Vec::new(), count());
    for _ in 0..count {
        let json = random.value(0);
        let (options, format) = (random.options(), through[random.below(through.len())]);
        let Ok(mut document) = read(json.as_bytes(), "json:typed") else { continue };
        if !format.is_empty() {
            let mut bytes = Vec::new();
            let stage = Stage::parse(format).expect("a stage");
            if icecore::write_to(&document, &stage, &Limits::default(), &mut bytes).is_err() {
                continue;
            }
            let Ok(read) = read(&bytes, format) else { continue };
            document = read;
        }
        if let Ok((text, _)) = write_document(&document, &options) {
            texts.push((text, !options.plain));
        }
    }
    assert!(texts.len() * 2 > count, "{} of {count}", texts.len());
    let values = assert_nothing_runs(&texts);
    assert!(values > texts.len() / 3, "{values} of {}", texts.len());
}

/// Texts that the reader accepts as data, and the writer's output for them with all kept spelling.
#[test]
fn php_runs_no_code_of_rewritten_texts() {
    let mut random = Random(seed() ^ 7);
    let stage = Stage::parse("var-export").expect("a stage");
    let (mut texts, count) = (Vec::new(), count() * 4);
    for _ in 0..count {
        let text = random.file();
        let mut out = Vec::new();
        let converted = icecore::Converter::new(stage.clone(), stage.clone()).convert(text.as_bytes(), &mut out);
        if converted.written.is_ok() {
            texts.push((out, true));
        }
    }
    assert!(texts.len() * 20 > count, "{} of {count}", texts.len());
    let values = assert_nothing_runs(&texts);
    assert!(values > texts.len() / 3, "{values} of {}", texts.len());
}
