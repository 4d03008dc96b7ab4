//! Names of charsets in SQL dumps.

/// Returns the IANA name of the charset with this name: `other` if it has none, and `None` if the name means bytes.
///
/// `latin1` differs between the servers: MySQL's has the characters of Windows between 0x80 and 0x9f.
pub(crate) fn find_iana_name(name: &[u8], is_postgres: bool) -> Option<&'static str> {
    const NAMES_OF_BYTES: [&str; 4] = ["binary", "sql_ascii", "default", "ascii"];
    let is_same_name = |candidate: &&str| name.eq_ignore_ascii_case(candidate.as_bytes());
    if NAMES_OF_BYTES.iter().any(&is_same_name) {
        return None;
    }
    let names: &[(&str, &'static str)] = if is_postgres { &POSTGRES } else { &MYSQL };
    let entry = names.iter().chain(&BOTH_SERVERS).find(|(server_name, _)| is_same_name(server_name));
    Some(entry.map_or("other", |(_, iana_name)| iana_name))
}

/// Names of charsets in MySQL and in PostgreSQL, each with the IANA name.
const BOTH_SERVERS: [(&str, &str); 4] =
    [("utf8", "UTF-8"), ("utf8mb4", "UTF-8"), ("utf8mb3", "UTF-8"), ("unicode", "UTF-8")];

const MYSQL: [(&str, &str); 17] = [
    ("latin1", "Windows-1252"),
    ("latin2", "ISO-8859-2"),
    ("latin5", "ISO-8859-9"),
    ("latin7", "ISO-8859-13"),
    ("cp1250", "Windows-1250"),
    ("cp1251", "Windows-1251"),
    ("cp1256", "Windows-1256"),
    ("cp1257", "Windows-1257"),
    ("cp850", "CP850"),
    ("cp852", "CP852"),
    ("cp866", "IBM866"),
    ("greek", "ISO-8859-7"),
    ("hebrew", "ISO-8859-8"),
    ("koi8r", "KOI8-R"),
    ("koi8u", "KOI8-U"),
    ("macroman", "macRoman"),
    ("tis620", "TIS-620"),
];

const POSTGRES: [(&str, &str); 28] = [
    ("latin1", "ISO-8859-1"),
    ("latin2", "ISO-8859-2"),
    ("latin3", "ISO-8859-3"),
    ("latin4", "ISO-8859-4"),
    ("latin5", "ISO-8859-9"),
    ("latin6", "ISO-8859-10"),
    ("latin7", "ISO-8859-13"),
    ("latin8", "ISO-8859-14"),
    ("latin9", "ISO-8859-15"),
    ("latin10", "ISO-8859-16"),
    ("iso_8859_5", "ISO-8859-5"),
    ("iso_8859_6", "ISO-8859-6"),
    ("iso_8859_7", "ISO-8859-7"),
    ("iso_8859_8", "ISO-8859-8"),
    ("koi8r", "KOI8-R"),
    ("koi8", "KOI8-R"),
    ("koi8u", "KOI8-U"),
    ("win866", "IBM866"),
    ("win874", "Windows-874"),
    ("win1250", "Windows-1250"),
    ("win1251", "Windows-1251"),
    ("win1252", "Windows-1252"),
    ("win1253", "Windows-1253"),
    ("win1254", "Windows-1254"),
    ("win1255", "Windows-1255"),
    ("win1256", "Windows-1256"),
    ("win1257", "Windows-1257"),
    ("win1258", "Windows-1258"),
];
