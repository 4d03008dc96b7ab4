//! Wrappers, and the search for what happened to damaged data.

use icecore::{Limits, Stage, detect, wrap};

/// Each wrapper is removed from any bytes without a panic, and what it adds it also removes. An error that
/// explains damage is that of the reader.
pub fn wrapped(data: &[u8]) {
    let limits = Limits::default();
    let _ = detect::is_damaged_data(data);
    if let Some(damage) = detect::find_damage(data) {
        assert!(damage.error.is_none() || icecore::read_as(data, &damage.stage, &limits).is_err(), "{damage:?}");
    }
    for wrapper in wrap::all() {
        let options = match wrapper.name {
            "rails-signed" => ":key=k",
            "plack-session" => ":key=k,id=1",
            _ => "",
        };
        let stage = Stage::parse(&format!("{}{options}/json", wrapper.name)).unwrap();
        let _ = (wrapper.detect)(data);
        let _ = stage.unwrap(data, &limits);
        // The first bytes of a cache file's value show where it begins.
        if wrapper.name == "php-cache" {
            continue;
        }
        let outside = stage.wrap(data.to_vec()).unwrap_or_else(|error| panic!("{}: {error}", wrapper.name));
        let inside = stage.unwrap(&outside, &limits).unwrap_or_else(|error| panic!("{}: {error}", wrapper.name));
        assert_eq!(&*inside.bytes, data, "{}", wrapper.name);
    }
}
