//! Variables of the environment that hold secrets, and programs that must not inherit them.

use std::process::Command;

/// The address of the database, which may have a password in it.
pub const DATABASE: &str = "ICECORE_DB";
/// The password of the database.
pub const PASSWORD: &str = "ICECORE_DB_PASSWORD";
/// The file that has this password.
pub const PASSWORD_FILE: &str = "ICECORE_DB_PASSWORD_FILE";
/// The token of the daemon.
pub const TOKEN: &str = "ICECORE_TOKEN";

/// All of them. A program that this command starts, for a job or for its user, has no use for them.
pub const ALL: [&str; 4] = [DATABASE, PASSWORD, PASSWORD_FILE, TOKEN];

/// Starts a program with an environment without them.
pub fn hide_from(command: &mut Command) {
    for name in ALL {
        command.env_remove(name);
    }
}

#[cfg(test)]
mod tests {
    /// The lab knows secrets by the ends of their names.
    #[cfg(feature = "bench")]
    #[test]
    fn the_lab_hides_them_too() {
        for name in super::ALL {
            assert!(icecore_lab::is_secret(name), "{name}");
        }
    }
}
