//! Removes secrets from the environment of other programs.
//!
//! Runners and servers are programs of other authors. They measure data in files, and do not need credentials.

use std::process::Command;

/// The endings of names of variables for secrets, and for addresses that may contain a password.
const SECRET_ENDINGS: [&str; 11] = [
    "PASSWORD",
    "PASSWORD_FILE",
    "_TOKEN",
    "_SECRET",
    "_SECRET_KEY",
    "_ACCESS_KEY",
    "_API_KEY",
    "_DB",
    "_DSN",
    "DATABASE_URL",
    "REDIS_URL",
];

/// Returns true if a variable with this name counts as a secret. Case does not matter.
///
/// ```
/// assert!(icecore_lab::is_secret("PGPASSWORD"));
/// assert!(!icecore_lab::is_secret("PATH"));
/// ```
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Removes the secrets of this process from the environment of a command. Variables that the lab itself set for the
/// command, such as the address of the measured database, stay.
pub fn hide_secrets_from(command: &mut Command) {
    let own_variables: Vec<_> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_secret) && !own_variables.contains(&name) {
            command.env_remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn secrets_are_recognized_by_their_suffixes() {
        for name in
            ["DATABASE_URL", "APP_TOKEN", "PGPASSWORD", "APP_DB_PASSWORD", "github_token", "AWS_SECRET_ACCESS_KEY"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in ["PATH", "HOME", "PERL5LIB", "LAB_LIB", "ICECORE_URL", "TOKENIZERS", "KEYBOARD"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
