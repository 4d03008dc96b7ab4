//! Environment variables that contain secrets, and programs that must not inherit them.

use std::process::Command;

/// The address of the database, which may contain a password.
pub const DATABASE: &str = "ICECORE_DB";
/// The password of the database.
pub const PASSWORD: &str = "ICECORE_DB_PASSWORD";
/// The file that contains the password of the database.
pub const PASSWORD_FILE: &str = "ICECORE_DB_PASSWORD_FILE";
/// The token of the daemon.
pub const TOKEN: &str = "ICECORE_TOKEN";

/// All variables with secrets. A program that this command starts, for a job or for its user, does not need them.
pub const ALL: [&str; 4] = [DATABASE, PASSWORD, PASSWORD_FILE, TOKEN];

/// Removes all variables with secrets from the environment of a program.
pub fn remove_secrets(command: &mut Command) {
    for name in ALL {
        command.env_remove(name);
    }
}

#[cfg(test)]
mod tests {
    /// The lab recognises secrets by the suffixes of their names.
    #[cfg(feature = "bench")]
    #[test]
    fn the_lab_hides_all_secrets_of_the_command() {
        for name in super::ALL {
            assert!(icecore_lab::is_secret(name), "{name}");
        }
    }
}
