//! The packages of a Composer project, and the classes that they declare.

use crate::report::{Abort, code};
use serde_json::Value;
use std::path::Path;

/// The prefixes of class names that packages declare.
pub struct Packages {
    prefixes: Vec<Prefix>,
}

struct Prefix {
    /// The prefix, such as `App\`.
    text: String,
    package: String,
}

impl Packages {
    /// Reads `composer.json` of the project, and Composer's list of installed packages.
    pub fn read(folder: &Path) -> Result<Packages, Abort> {
        let mut packages = Packages { prefixes: Vec::new() };
        let project = read_json(&folder.join("composer.json"))?;
        packages.add_prefixes(&project, "this project");
        let installed_file = folder.join("vendor/composer/installed.json");
        if installed_file.exists() {
            let installed = read_json(&installed_file)?;
            // Composer 1 wrote the list without an object around it.
            let list = installed.get("packages").unwrap_or(&installed).as_array();
            for package in list.into_iter().flatten() {
                packages.add_prefixes(
                    package,
                    package.get("name").and_then(Value::as_str).unwrap_or("a package without a name"),
                );
            }
        }
        Ok(packages)
    }

    /// Adds the prefixes that a `composer.json` declares.
    fn add_prefixes(&mut self, description: &Value, name: &str) {
        for section in ["autoload", "autoload-dev"] {
            for standard in ["psr-4", "psr-0"] {
                let declared_prefixes =
                    description.pointer(&format!("/{section}/{standard}")).and_then(Value::as_object);
                for text in declared_prefixes.into_iter().flat_map(|prefixes| prefixes.keys()) {
                    self.prefixes.push(Prefix { text: text.clone(), package: to_comment_text(name) });
                }
            }
        }
    }

    /// Returns the package with the longest matching prefix.
    pub fn find_package(&self, class: &[u8]) -> Option<&str> {
        let matching_prefixes =
            self.prefixes.iter().filter(|prefix| !prefix.text.is_empty() && class.starts_with(prefix.text.as_bytes()));
        matching_prefixes.max_by_key(|prefix| prefix.text.len()).map(|prefix| prefix.package.as_str())
    }
}

/// Returns the name without characters that could end a comment of PHP.
fn to_comment_text(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-_. ".contains(c);
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

fn read_json(path: &Path) -> Result<Value, Abort> {
    let file_error = |reason: String| Abort::Failed(code::USAGE, format!("{}: {reason}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| file_error(error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| file_error(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_decides() {
        let mut packages = Packages { prefixes: Vec::new() };
        let declare = |prefixes: &[&str]| {
            let prefixes: serde_json::Map<_, _> =
                prefixes.iter().map(|prefix| ((*prefix).to_owned(), "src/".into())).collect();
            serde_json::json!({ "autoload": { "psr-4": prefixes } })
        };
        packages.add_prefixes(&declare(&["App\\", ""]), "this project");
        packages.add_prefixes(&declare(&["Illuminate\\", "App\\Shared\\"]), "acme/shared\n?> x");
        assert_eq!(packages.find_package(b"App\\User"), Some("this project"));
        assert_eq!(packages.find_package(b"App\\Shared\\Money"), Some("acme/shared___ x"));
        assert_eq!(packages.find_package(b"DateTime"), None);
    }
}
