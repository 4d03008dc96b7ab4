//! Servers with invalid answers: the command soon ends with an error, and does not use much memory.

use crate::run;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

/// Maximum address space of the command: if it trusted a declared size of gigabytes, this would not suffice.
const MEMORY: u64 = 600 << 20;

const NO_ANSWER: &str = "no answer";

/// The behaviour of a server when a client connects.
type Serve = fn(&mut TcpStream);

/// Returns the message of the command for such a server. It waits a second for an answer if there is none, and
/// otherwise as long as a busy machine needs.
fn message_of(scheme: &str, args: &[&str], expected: &str, serve: Serve) -> String {
    let patience = match expected {
        NO_ANSWER => 1,
        "BUSY" => 5,
        _ => 300,
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let db = format!("{scheme}://{}?timeout={patience}", listener.local_addr().expect("an address"));
    // The thread ends with the test.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a client");
            std::thread::spawn(move || serve(&mut stream));
        }
    });
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {}; exec \"$@\"", MEMORY >> 10);
    command.args(["-c", &script, "sh", run::ICECORE]).args(args).args(["--db", &db]);
    let output = command.env("MALLOC_ARENA_MAX", "1").stdin(Stdio::null()).output().expect("it runs");
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert!(matches!(output.status.code(), Some(2 | 5)), "{:?}: {stderr}", output.status);
    assert!(!stderr.contains("panicked") && !stderr.contains('\x1b'), "{stderr}");
    stderr
}

fn read_request(stream: &mut TcpStream) {
    let mut buffer = [0; 4096];
    let _ = stream.read(&mut buffer);
}

/// Sends these bytes, and then nothing.
fn send_and_wait(stream: &mut TcpStream, bytes: &[u8]) {
    read_request(stream);
    let _ = stream.write_all(bytes);
    send_nothing(stream);
}

fn send_nothing(stream: &mut TcpStream) {
    let mut buffer = [0; 4096];
    while stream.read(&mut buffer).is_ok_and(|count| count > 0) {}
}

/// Sends these bytes again and again.
fn send_repeatedly(stream: &mut TcpStream, first: &[u8], bytes: &[u8]) {
    read_request(stream);
    let _ = stream.write_all(first);
    let many = bytes.repeat((64 << 10) / bytes.len());
    while stream.write_all(&many).is_ok() {}
}

const SCANNED: &[u8] = b"*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n";

#[test]
fn invalid_answers_of_redis_are_errors() {
    let cases: &[(&str, &[&str], Serve)] = &[
        (NO_ANSWER, &["rows"], |stream| send_nothing(stream)),
        ("closed the connection", &["rows"], |stream| read_request(stream)),
        ("closed the connection", &["rows"], |stream| {
            read_request(stream);
            let _ = stream.write_all(b"*2\r\n$1\r\n");
        }),
        ("a line without an end", &["rows"], |stream| send_repeatedly(stream, b"", b"x")),
        ("a line without an end", &["rows"], |stream| send_repeatedly(stream, b"+", b"0")),
        ("Redis does not give", &["rows"], |stream| send_and_wait(stream, b"HTTP/1.1 400 Bad Request\r\n\r\n")),
        ("Redis does not give", &["rows"], |stream| send_and_wait(stream, b"*-7\r\n")),
        ("Redis does not give", &["rows"], |stream| send_and_wait(stream, b"*2\r\n$1\r\nx\r\n*0\r\n")),
        ("Redis does not give", &["rows"], |stream| send_and_wait(stream, b"*3\r\n$1\r\n0\r\n*0\r\n")),
        ("Redis does not give", &["rows"], |stream| send_and_wait(stream, b"*2\r\n*2\r\n*2\r\n*2\r\n")),
        ("Redis does not give", &["rows"], |stream| send_and_wait(stream, b"*2\r\n:1\r\n")),
        ("Redis does not give", &["rows"], |stream| send_and_wait(stream, b"*2\r\n$99999999999999999999\r\n")),
        ("more than the 20 bytes", &["rows"], |stream| send_and_wait(stream, b"*2\r\n$100\r\n")),
        ("more than the 1048576 bytes", &["rows"], |stream| {
            send_and_wait(stream, b"*2\r\n$1\r\n0\r\n*1\r\n$9999999999\r\n")
        }),
        (NO_ANSWER, &["rows"], |stream| send_and_wait(stream, b"*2\r\n$1\r\n0\r\n*9223372036854775807\r\n")),
        // Keys without an end.
        ("Redis does not give", &["rows"], |stream| {
            send_repeatedly(stream, b"*2\r\n$1\r\n0\r\n*9223372036854775807\r\n", b"$0\r\n\r\n")
        }),
        ("\\u{1b}", &["rows"], |stream| send_and_wait(stream, b"-ERR \x1b[31m\r\n")),
        ("whose length differs", &["rows"], |stream| send_and_wait(stream, b"*2\r\n$1\r\n000\r\n")),
        ("more than the 1073741824 bytes", &["inspect", "--key", "a"], |stream| {
            read_request(stream);
            let _ = stream.write_all(b"+string\r\n");
            send_and_wait(stream, b"$1073741825\r\n");
        }),
        // No memory is allocated for a declared size.
        (NO_ANSWER, &["inspect", "--key", "a"], |stream| {
            read_request(stream);
            let _ = stream.write_all(b"+string\r\n");
            send_and_wait(stream, b"$1073741824\r\nabc");
        }),
        ("Redis does not give", &["inspect", "--key", "a"], |stream| {
            read_request(stream);
            let _ = stream.write_all(b"+string\r\n");
            send_and_wait(stream, b"*1\r\n$1\r\na\r\n");
        }),
        ("which is not read", &["inspect", "--key", "a"], |stream| send_and_wait(stream, b"+ReJSON-RL\r\n")),
        ("`a` is a list: --field", &["inspect", "--key", "a"], |stream| send_and_wait(stream, b"+list\r\n")),
    ];
    for (cause, args, serve) in cases {
        let message = message_of("redis", args, cause, *serve);
        assert!(message.contains(cause), "{cause}: {message}");
    }
}

/// Invalid answers after the list of keys.
#[test]
fn invalid_answers_after_the_list_of_keys_are_errors() {
    let cases: &[(&str, Serve)] = &[
        ("Redis does not give", |stream| {
            read_request(stream);
            let _ = stream.write_all(SCANNED);
            send_and_wait(stream, b"$1\r\na\r\n");
        }),
        ("Redis does not give", |stream| {
            read_request(stream);
            let _ = stream.write_all(SCANNED);
            send_and_wait(stream, b"+string\r\n:-1\r\n$1\r\n1\r\n");
        }),
        // A window of more than was requested.
        ("Redis does not give", |stream| {
            read_request(stream);
            let _ = stream.write_all(SCANNED);
            read_request(stream);
            let _ = stream.write_all(b"+list\r\n:-1\r\n-WRONGTYPE x\r\n");
            send_and_wait(stream, b"*9000000000\r\n");
        }),
        // A stream that repeats itself.
        ("Redis does not give", |stream| {
            read_request(stream);
            let _ = stream.write_all(SCANNED);
            read_request(stream);
            let _ = stream.write_all(b"+stream\r\n:-1\r\n-WRONGTYPE x\r\n");
            read_request(stream);
            let entry = b"*2\r\n$3\r\n1-1\r\n*0\r\n";
            let _ = stream.write_all(&[&b"*2\r\n"[..], entry, entry].concat());
            send_nothing(stream);
        }),
    ];
    for (cause, serve) in cases {
        let message = message_of("redis", &["rows"], cause, *serve);
        assert!(message.contains(cause), "{cause}: {message}");
    }
}

/// Pages without an end: the same cursor, or always new ones with the same key.
#[test]
fn endless_pages_of_redis_are_errors() {
    fn answer(stream: &mut TcpStream, page: impl Fn(u64) -> String) {
        let mut buffer = [0; 65536];
        for number in 1u64.. {
            let Ok(count @ 1..) = stream.read(&mut buffer) else { return };
            let request = &buffer[..count];
            let is_scan = request.windows(4).any(|word| word.eq_ignore_ascii_case(b"SCAN"));
            let answer = if is_scan { page(number) } else { "+none\r\n:-2\r\n:0\r\n".to_owned() };
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }
    fn bulk(text: &str) -> String {
        format!("${}\r\n{text}\r\n", text.len())
    }
    let cases: &[Serve] = &[
        |stream| answer(stream, |_| format!("*2\r\n{}*0\r\n", bulk("7"))),
        |stream| answer(stream, |number| format!("*2\r\n{}*0\r\n", bulk(&(number % 5 + 1).to_string()))),
        |stream| answer(stream, |number| format!("*2\r\n{}*1\r\n{}", bulk(&number.to_string()), bulk("a"))),
        |stream| {
            answer(stream, |number| {
                format!("*2\r\n{}*1\r\n{}", bulk(&number.to_string()), bulk(&(number % 17).to_string()))
            })
        },
        // Members of a hash.
        |stream| {
            read_request(stream);
            let _ = stream.write_all(SCANNED);
            read_request(stream);
            let _ = stream.write_all(b"+hash\r\n:-1\r\n-WRONGTYPE x\r\n");
            answer(stream, |number| format!("*2\r\n{}*2\r\n{1}{1}", bulk(&number.to_string()), bulk("a")));
        },
    ];
    for serve in cases {
        let message = message_of("redis", &["rows"], "", *serve);
        assert!(message.contains("never ends"), "{message}");
    }
}

#[test]
fn invalid_answers_of_memcached_are_errors() {
    const STATS: &[u8] = b"STAT time 5\r\nEND\r\n";
    fn listing(stream: &mut TcpStream, list: &[u8]) {
        read_request(stream);
        let _ = stream.write_all(STATS);
        send_and_wait(stream, list);
    }
    let cases: &[(&str, &[&str], Serve)] = &[
        (NO_ANSWER, &["rows"], |stream| send_nothing(stream)),
        ("closed the connection", &["rows"], |stream| read_request(stream)),
        ("memcached does not give", &["rows"], |stream| send_and_wait(stream, b"END\r\n")),
        ("memcached does not give", &["rows"], |stream| send_repeatedly(stream, b"", b"STAT a b\r\n")),
        ("a line without an end", &["rows"], |stream| send_repeatedly(stream, b"STAT ", b"x")),
        ("ERROR", &["rows"], |stream| listing(stream, b"ERROR\r\n")),
        ("BUSY", &["rows"], |stream| {
            read_request(stream);
            let _ = stream.write_all(STATS);
            read_request(stream);
            // As often as it is asked.
            while stream.write_all(b"BUSY currently processing crawler request\r\n").is_ok() {
                read_request(stream);
            }
        }),
        // A list without an end.
        ("never ends", &["rows"], |stream| {
            read_request(stream);
            let _ = stream.write_all(STATS);
            send_repeatedly(stream, b"", b"key=%0A exp=-1\n");
        }),
        ("memcached does not give", &["rows"], |stream| listing(stream, b"key=%zz exp=-1\r\n")),
        ("memcached does not give", &["rows"], |stream| listing(stream, b"kex=a exp=-1\r\n")),
        ("memcached does not give", &["inspect", "--key", "a"], |stream| send_and_wait(stream, b"VALUE a 0\r\n")),
        ("memcached does not give", &["inspect", "--key", "a"], |stream| send_and_wait(stream, b"VALUE a 0 -5\r\n")),
        ("memcached does not give", &["inspect", "--key", "a"], |stream| {
            send_and_wait(stream, b"VALUE b 0 1\r\nx\r\nEND\r\n")
        }),
        ("whose length differs", &["inspect", "--key", "a"], |stream| send_and_wait(stream, b"VALUE a 0 1\r\nxyz\r\n")),
        ("more than the 1073741824 bytes", &["inspect", "--key", "a"], |stream| {
            send_and_wait(stream, b"VALUE a 0 1073741825\r\n")
        }),
        (NO_ANSWER, &["inspect", "--key", "a"], |stream| send_and_wait(stream, b"VALUE a 0 1073741824\r\nabc")),
        ("SERVER_ERROR", &["inspect", "--key", "a"], |stream| send_and_wait(stream, b"SERVER_ERROR out of memory\r\n")),
    ];
    for (cause, args, serve) in cases {
        let message = message_of("memcached", args, cause, *serve);
        assert!(message.contains(cause), "{cause}: {message}");
    }
}

/// Keys in a list are not sent as commands.
#[test]
fn keys_in_a_list_are_not_sent_as_commands() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let db = format!("memcached://{}?timeout=300", listener.local_addr().expect("an address"));
    let server = std::thread::spawn(move || {
        let (mut first, _) = listener.accept().expect("a client");
        let (mut second, _) = listener.accept().expect("a client");
        read_request(&mut first);
        let _ = first.write_all(b"STAT time 5\r\nEND\r\n");
        read_request(&mut first);
        let _ = first.write_all(b"key=a%0d%0aflush_all exp=-1\nkey=b exp=-1\nEND\r\n");
        let mut buffer = [0; 4096];
        let count = second.read(&mut buffer).expect("a command");
        let _ = second.write_all(b"VALUE b 0 1\r\nx\r\nEND\r\n");
        buffer[..count].to_vec()
    });
    let (stdout, stderr, code) = run::icecore(&["rows", "--db", &db], b"");
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(String::from_utf8(server.join().expect("it served")).expect("text"), "get b\r\n");
    let text = String::from_utf8(stdout).expect("text");
    assert!(text.contains("\"hex:610d0a666c7573685f616c6c\"") && text.contains("\"value\":\"x\""), "{text}");
}
