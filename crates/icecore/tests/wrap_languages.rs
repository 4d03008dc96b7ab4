//! Data that Perl, PHP and Ruby themselves write and read. Each part needs its language; without
//! it, the test says so and does nothing.

use icecore::{Limits, Stage};
use std::io::Write;
use std::process::{Command, Stdio};

/// Returns inputs of many lengths and with every byte.
fn inputs() -> Vec<Vec<u8>> {
    let all: Vec<u8> = (0..=255).collect();
    let mut inputs: Vec<Vec<u8>> =
        (0..130).map(|len| all.iter().cycle().skip(len * 7).take(len).copied().collect()).collect();
    inputs.push(all.repeat(40));
    inputs.push(b"a:1:{s:9:\"it's a ~!\";d:1.5;}+*()_-.".to_vec());
    inputs
}

fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(line: &str) -> Vec<u8> {
    (0..line.len()).step_by(2).map(|index| u8::from_str_radix(&line[index..index + 2], 16).expect("hex")).collect()
}

/// Sends lines of hex through a program and returns the same number of lines; `None` without the language.
fn pipe_through(program: &str, args: &[&str], lines: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    let probe = Command::new(program).arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        println!("skipped: {program} is not installed");
        return None;
    }
    let mut child =
        Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    let mut stdin = child.stdin.take().expect("its input");
    let text: String = lines.iter().map(|line| encode_hex(line) + "\n").collect();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(text.as_bytes()).expect("it reads"));
        child.wait_with_output().expect("its output")
    });
    assert!(output.status.success(), "{program} {args:?}");
    let output = String::from_utf8(output.stdout).expect("hex");
    let lines_out: Vec<_> = output.lines().map(from_hex).collect();
    assert_eq!(lines_out.len(), lines.len(), "{program} {args:?}");
    Some(lines_out)
}

fn stage(wrapper: &str) -> Stage {
    Stage::parse(&format!("{wrapper}/json")).expect("a stage")
}

fn wrap(wrapper: &str, bytes: &[u8]) -> Vec<u8> {
    stage(wrapper).wrap(bytes.to_vec()).expect("it is wrapped")
}

fn unwrap(wrapper: &str, bytes: &[u8]) -> Vec<u8> {
    let inside = stage(wrapper).unwrap(bytes, &Limits::default());
    inside.unwrap_or_else(|error| panic!("{wrapper}: {error}")).bytes.into_owned()
}

fn perl(expression: &str) -> Vec<String> {
    let program = format!(
        "use MIME::Base64 qw(encode_base64 decode_base64 encode_base64url decode_base64url); use Compress::Zlib; \
         while (<STDIN>) {{ chomp; my $x = pack 'H*', $_; print unpack('H*', {expression}), \"\\n\" }}"
    );
    vec!["-e".to_owned(), program]
}

fn php(expression: &str) -> Vec<String> {
    vec![
        "-r".to_owned(),
        format!(
            "while (($l = fgets(STDIN)) !== false) {{ $x = hex2bin(trim($l)); echo bin2hex({expression}), \"\\n\"; }}"
        ),
    ]
}

fn ruby(expression: &str) -> Vec<String> {
    let program = format!(
        "require 'base64'; require 'zlib'; require 'cgi'; require 'erb'; require 'uri'; \
         STDIN.each_line {{ |l| x = [l.chomp].pack('H*'); puts(({expression}).unpack1('H*')) }}"
    );
    vec!["-e".to_owned(), program]
}

/// Each entry: a wrapper with its options, and a program that writes the same.
fn writers() -> Vec<(&'static str, &'static str, Vec<String>)> {
    let escape = |safe: &str| perl(&format!("do {{ $x =~ s/([^A-Za-z0-9{safe}])/sprintf '%%%02X', ord $1/ge; $x }}"));
    vec![
        ("base64", "perl", perl("encode_base64($x, '')")),
        ("base64:newlines", "perl", perl("encode_base64($x)")),
        ("base64url", "perl", perl("encode_base64url($x)")),
        ("hex", "perl", perl("unpack('H*', $x)")),
        ("uri", "perl", escape(r"\-\._~!*'()")),
        ("base64", "php", php("base64_encode($x)")),
        ("hex", "php", php("bin2hex($x)")),
        ("uri:as=php", "php", php("urlencode($x)")),
        ("uri:plus", "php", php("urlencode($x)")),
        ("uri:as=rfc3986", "php", php("rawurlencode($x)")),
        ("base64", "ruby", ruby("Base64.strict_encode64(x)")),
        ("base64:wrap=60", "ruby", ruby("Base64.encode64(x)")),
        ("base64:wrap=60", "ruby", ruby("[x].pack('m')")),
        ("base64:wrap=45", "ruby", ruby("[x].pack('m0').scan(/.{1,45}/).map { |l| l + \"\\n\" }.join")),
        ("base64url:padding", "ruby", ruby("Base64.urlsafe_encode64(x)")),
        ("base64url", "ruby", ruby("Base64.urlsafe_encode64(x, padding: false)")),
        ("uri:as=rfc3986", "ruby", ruby("ERB::Util.url_encode(x)")),
        ("uri:as=cgi", "ruby", ruby("CGI.escape(x)")),
        ("uri:as=form", "ruby", ruby("URI.encode_www_form_component(x)")),
    ]
}

#[test]
fn wrapped_texts_equal_those_of_each_language() {
    let inputs = inputs();
    for (wrapper, program, args) in writers() {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let Some(theirs) = pipe_through(program, &args, &inputs) else { continue };
        for (input, theirs) in inputs.iter().zip(&theirs) {
            let ours = wrap(wrapper, input);
            let texts = [&ours, theirs].map(|text| String::from_utf8_lossy(text).into_owned());
            assert_eq!(texts[0], texts[1], "{wrapper} and {program} {args:?}");
            assert_eq!(&unwrap(wrapper, theirs), input, "{wrapper} and {program} {args:?}");
        }
    }
}

#[test]
fn each_language_reads_our_wrapped_texts() {
    let inputs = inputs();
    let readers = [
        ("base64", "perl", perl("decode_base64($x)")),
        ("base64:newlines", "perl", perl("decode_base64($x)")),
        ("base64:padding=no", "perl", perl("decode_base64($x)")),
        ("base64url", "perl", perl("decode_base64url($x)")),
        ("hex:upper", "perl", perl("pack('H*', $x)")),
        ("base64:wrap=1", "php", php("base64_decode($x, true)")),
        ("uri", "php", php("rawurldecode($x)")),
        ("uri:as=form", "php", php("urldecode($x)")),
        ("base64:newlines", "ruby", ruby("Base64.decode64(x)")),
        ("base64url", "ruby", ruby("Base64.urlsafe_decode64(x)")),
        ("uri:as=php", "ruby", ruby("CGI.unescape(x.force_encoding('BINARY'), 'BINARY')")),
    ];
    for (wrapper, program, args) in readers {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let written: Vec<_> = inputs.iter().map(|input| wrap(wrapper, input)).collect();
        let Some(unwrapped) = pipe_through(program, &args, &written) else { continue };
        assert!(unwrapped == inputs, "{wrapper} and {program} {args:?}");
    }
}

/// Compressed bytes differ between libraries; their content must not.
#[cfg(feature = "zlib")]
#[test]
fn each_language_and_we_read_each_others_compressed_data() {
    let inputs = inputs();
    let pairs = [
        ("gzip", "perl", perl("Compress::Zlib::memGzip($x)"), perl("do { my $y = Compress::Zlib::memGunzip($x); $y }")),
        ("zlib", "perl", perl("Compress::Zlib::compress($x)"), perl("Compress::Zlib::uncompress($x)")),
        ("gzip", "php", php("gzencode($x)"), php("gzdecode($x)")),
        ("zlib:level=9", "php", php("gzcompress($x)"), php("gzuncompress($x)")),
        ("gzip:level=1", "ruby", ruby("Zlib.gzip(x)"), ruby("Zlib.gunzip(x)")),
        ("zlib:level=0", "ruby", ruby("Zlib.deflate(x)"), ruby("Zlib.inflate(x)")),
    ];
    for (wrapper, program, write, read) in pairs {
        let [write, read] = [&write, &read].map(|args| args.iter().map(String::as_str).collect::<Vec<_>>());
        let Some(theirs) = pipe_through(program, &write, &inputs) else { continue };
        for (input, theirs) in inputs.iter().zip(&theirs) {
            assert_eq!(&unwrap(wrapper, theirs), input, "{wrapper} of {program}");
        }
        let written: Vec<_> = inputs.iter().map(|input| wrap(wrapper, input)).collect();
        let unwrapped = pipe_through(program, &read, &written).expect("it was there before");
        assert!(unwrapped == inputs, "{wrapper} and {program}");
    }
}
