//! Files that caches and session stores of Perl, PHP and Ruby write: each is read, written again byte for byte, and
//! read by its program. Each part needs its program; without it, the test says so and does nothing.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Runs a program and returns its output; `None` if a library of `needs` is missing.
fn run(program: &str, args: &[&str], needs: &str) -> Option<Vec<u8>> {
    let output = Command::new(program).args(args).output();
    match output {
        Ok(output) if output.status.success() => Some(output.stdout),
        other => {
            let is_required = std::env::var_os("CI").is_some();
            assert!(!is_required, "{program} with {needs} failed: {other:?}");
            println!("skipped: {program} with {needs} is not installed");
            None
        }
    }
}

fn to_json(bytes: &[u8]) -> (String, String) {
    let stage = icecore::detect::stage_of(bytes).unwrap_or_else(|error| panic!("{error}: {}", bytes.escape_ascii()));
    let json = icecore::convert(bytes, &stage.name(), "json:sort_keys").expect("JSON");
    (stage.name().to_string(), String::from_utf8(json).expect("text"))
}

/// An empty folder, which is removed at the end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("icecore-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a path")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn entries_of_chi_are_read_and_written() {
    let folder = Folder::new();
    let root = folder.path();
    let write = "use CHI; my $root = shift; for my $threshold (0, 10) { \
        my $cache = CHI->new(driver => 'File', root_dir => $root, namespace => $threshold ? 'small' : 'large', \
        $threshold ? (compress_threshold => $threshold) : ()); $cache->set('k', {id => 7, list => [1 .. 50]}, 3600); \
        print $cache->path_to_key('k'), \"\\n\" }";
    let Some(paths) = run("perl", &["-e", write, root], "CHI") else { return };
    let paths = String::from_utf8(paths).expect("paths");
    let list = (1..=50).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    for (path, is_compressed) in paths.lines().zip([false, true]) {
        let entry = std::fs::read(path).expect("an entry");
        assert_eq!(to_json(&entry), ("chi/storable".to_owned(), format!("{{\"id\":7,\"list\":[{list}]}}")));
        let again = icecore::convert(&entry, "chi/storable", "chi/storable").expect("an entry");
        assert!(is_compressed || again == entry);
        std::fs::write(path, again).expect("it is written");
    }
    let read = "use CHI; my $root = shift; for my $name ('large', 'small') { \
        my $cache = CHI->new(driver => 'File', root_dir => $root, namespace => $name); \
        my $value = $cache->get('k'); print \"$value->{id} $#{$value->{list}} \" }";
    assert_eq!(run("perl", &["-e", read, root], "CHI").as_deref(), Some(&b"7 49 7 49 "[..]));
}

#[test]
fn sessions_of_perl_are_read_and_written() {
    let folder = Folder::new();
    let root = folder.path();
    let write = "use CGI::Session; my $s = CGI::Session->new('driver:File', undef, {Directory => shift}); \
        $s->param(user => {id => 7, names => ['a', 'b']}); $s->flush; print $s->id";
    if let Some(id) = run("perl", &["-e", write, root], "CGI::Session") {
        let id = String::from_utf8(id).expect("an id");
        let path = folder.0.join(format!("cgisess_{id}"));
        let session = std::fs::read(&path).expect("a session");
        let (stage, json) = to_json(&session);
        assert!(stage == "dumper" && json.contains(r#""user":{"id":7,"names":["a","b"]}"#), "{stage}: {json}");
        assert_eq!(icecore::convert(&session, "dumper", "dumper").expect("a session"), session);
        let changed = icecore::convert(&session, "dumper", "dumper:result=no").expect("text");
        assert!(session.starts_with(&changed) && session.ends_with(b";;$D"));
        let json = icecore::convert(&session, "dumper", "json:typed").expect("JSON");
        let json = String::from_utf8(json).expect("text").replace(":7", ":8");
        let stage = "dumper:indent=0,names=D,result";
        std::fs::write(&path, icecore::convert(json.as_bytes(), "json:typed", stage).expect("text")).expect("a file");
        let read = "use CGI::Session; my $s = CGI::Session->load('driver:File', $ARGV[1], {Directory => $ARGV[0]}); \
            print $s->param('user')->{id}";
        assert_eq!(run("perl", &["-e", read, root, &id], "CGI::Session").as_deref(), Some(&b"8"[..]));
    }
    let cookie = "use Plack::Middleware::Session::Cookie; \
        my $m = Plack::Middleware::Session::Cookie->new(secret => 's3cret', app => sub {}); $m->prepare_app; \
        print $m->_serialize('id1', {id => 7})";
    let Some(cookie) = run("perl", &["-e", cookie], "Plack") else { return };
    assert_eq!(to_json(&cookie), ("plack-session/storable".to_owned(), r#"{"id":7}"#.to_owned()));
    let stage = "plack-session:key=s3cret/storable";
    assert_eq!(icecore::convert(&cookie, stage, stage).expect("a cookie"), cookie);
    assert!(icecore::convert(&cookie, "plack-session:key=other/storable", "json").is_err());
}

#[test]
fn entries_of_symfony_are_read_and_written() {
    let folder = Folder::new();
    let root = folder.path();
    let write = "require '/usr/share/php/Symfony/Component/Cache/autoload.php'; \
        use Symfony\\Component\\Cache\\Adapter\\FilesystemAdapter; use Symfony\\Component\\Cache\\Marshaller\\DefaultMarshaller; \
        foreach ([false, true] as $igbinary) { $c = new FilesystemAdapter($igbinary ? 'a' : 'b', 0, $argv[1], new DefaultMarshaller($igbinary)); \
        $i = $c->getItem('user.7'); $i->set(['id' => 7, 'list' => [1, 2]]); $i->expiresAfter(3600); $c->save($i); }";
    let Some(_) = run("php", &["-r", write, root], "php-symfony-cache") else { return };
    let mut stages: Vec<String> = Vec::new();
    for entry in files_in(&folder.0) {
        let bytes = std::fs::read(&entry).expect("an entry");
        let (stage, json) = to_json(&bytes);
        assert_eq!(json, r#"{"id":7,"list":[1,2]}"#);
        assert_eq!(icecore::convert(&bytes, &stage, &stage).expect("an entry"), bytes);
        stages.push(stage);
    }
    stages.sort();
    assert_eq!(stages, ["php-cache/igbinary", "php-cache/php"]);
}

/// Returns the files below a folder.
fn files_in(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] }).collect()
}

#[test]
fn cookies_of_rack_are_read() {
    let write = "require 'rack'; require 'rack/session/cookie'; secret = 'x' * 64; \
        cookie = Rack::Session::Cookie.new(proc {}, secret: secret); \
        data = cookie.send(:coder).encode({'id' => 7, 'list' => (1..60).to_a}); \
        message = \"#{data}--#{OpenSSL::HMAC.hexdigest('SHA1', secret, data)}\"; \
        print message, \"\\0\", Rack::Utils.escape(message)";
    let Some(cookies) = run("ruby", &["-e", write], "rack") else { return };
    let key = "x".repeat(64);
    for (cookie, stage) in cookies.split(|byte| *byte == 0).zip(["rails-signed", "uri/rails-signed"]) {
        let (found, json) = to_json(cookie);
        assert_eq!(found, format!("{stage}/marshal"));
        assert!(json.starts_with(r#"{"id":7,"list":[1,2,3"#), "{json}");
        let checked = stage.replace("signed", &format!("signed:key={key}"));
        assert!(icecore::convert(cookie, &format!("{checked}/marshal"), "json").is_ok());
    }
}

#[test]
fn cache_files_of_php_have_lines_before_the_value() {
    for (file, value) in [
        ("1893456000\na:1:{s:2:\"id\";i:7;}", r#"{"id":7}"#),
        ("0\nuser%2E7\na:1:{s:2:\"id\";i:7;}", r#"{"id":7}"#),
        ("<?php exit; ?>\n1893456000\n20\na:1:{s:2:\"id\";i:77;}", r#"{"id":77}"#),
        ("<?php exit; ?>\n1893456000\nSELECT 1\n4\ni:5;", "5"),
    ] {
        let stage = "php-cache/php";
        assert_eq!(icecore::convert(file.as_bytes(), stage, "json").expect(file), value.as_bytes());
        assert_eq!(icecore::convert(file.as_bytes(), stage, stage).expect(file), file.as_bytes());
        if value.starts_with('{') {
            assert_eq!(to_json(file.as_bytes()).0, stage);
        }
    }
    for broken in ["", "x\n", "12", "123456789012345678901\ni:5;"] {
        assert!(icecore::convert(broken.as_bytes(), "php-cache/php", "json").is_err(), "{broken}");
    }
}
