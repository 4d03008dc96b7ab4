//! Checks that a page loads the frozen value before it takes part.

use super::load::request_page;
use super::measure::Plan;
use super::pages::{PAGES, Page};
use icecore::Document;
use icecore_lab::model::{Fidelity, Role, Sample};
use icecore_lab::runner::ParticipantError;
use icecore_lab::{Error, scenario};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

/// The scenario with the classes of the value.
const CLASSES_SCENARIO: &str = "php-objects";

/// A page that takes part.
pub(super) struct PageContender {
    pub page: &'static Page,
    pub role: Role,
    pub path: String,
    /// The expected answer of the page.
    pub answer: String,
    pub fidelity: Fidelity,
    pub size: Option<u64>,
    /// The samples for each number of clients.
    pub samples: Vec<Vec<Sample>>,
    /// Seconds of a single request.
    pub seconds: f64,
}

/// The expected answers of all pages.
pub(super) struct ExpectedAnswers {
    bytes: Vec<u8>,
    /// Number of leaves, sum of their ids, and sum of the lengths of their names.
    sums: String,
    /// The elements of the list.
    list: String,
}

impl ExpectedAnswers {
    /// Computes the answers from the value itself. An answer of PHP could be wrong in the same way as the page.
    pub(super) fn from_document(document: &Document<'_>) -> Result<ExpectedAnswers, Error> {
        let (mut leaves, mut ids, mut name_lengths) = (0_u64, 0_i64, 0_usize);
        let mut pending = vec![document.root()];
        while let Some(cursor) = pending.pop() {
            if let (b"Leaf", Some(id), Some(name)) =
                (cursor.class(), cursor.body().get("id"), cursor.body().get("name"))
            {
                leaves += 1;
                ids += id.as_i64().unwrap_or_default();
                name_lengths += name.as_bytes().unwrap_or_default().len();
            } else {
                pending.extend(cursor.children());
            }
        }
        let list = document.root().body().get("list").map_or(0, |list| list.len());
        let bytes = icecore::write(document, "php")?;
        Ok(ExpectedAnswers { bytes, sums: format!("{leaves} {ids} {name_lengths}"), list: list.to_string() })
    }
}

/// Writes the pages, the classes and the value into the folder of the web server.
pub(super) fn write_pages(plan: &Plan<'_>, folder: &Path, expected: &ExpectedAnswers) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, &error))?;
    let classes = scenario::extract_code(plan.folder, CLASSES_SCENARIO, "php")?;
    let classes = classes.ok_or_else(|| Error::new(format!("{CLASSES_SCENARIO}.php is missing")))?;
    let classes = classes.to_string_lossy().replace('\\', "\\\\").replace('\'', "\\'");
    let mut files = vec![
        ("classes.php".to_owned(), format!("<?php\nrequire '{classes}';\n").into_bytes()),
        ("check.php".to_owned(), include_bytes!("php/check.php").to_vec()),
        ("status.php".to_owned(), include_bytes!("php/status.php").to_vec()),
        ("reference".to_owned(), expected.bytes.clone()),
    ];
    files.extend(PAGES.iter().map(|page| (format!("{}.php", page.file_stem()), page.render_source().into_bytes())));
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| Error::io(&path, &error))?;
    }
    Ok(())
}

/// Lets a page freeze the value, and checks that it loads it correctly.
pub(super) fn check_page(
    page: &'static Page,
    folder: &Path,
    expected: &ExpectedAnswers,
    address: SocketAddr,
    client_counts: usize,
) -> Result<PageContender, ParticipantError> {
    let frozen = request_page(address, &page.url_path("freeze"))?;
    if frozen != "frozen" {
        return Err(ParticipantError::Failed(format!("it could not freeze the value: {frozen}")));
    }
    let found = request_page(address, &page.url_path("check"))?;
    let Some(kind) = found.strip_prefix(&format!("{} ", expected.sums)) else {
        let sums = &expected.sums;
        return Err(ParticipantError::Failed(format!("it loaded another value: {found:?} instead of {sums:?}")));
    };
    let fidelity = match kind.split_once(' ') {
        Some((_, "same")) => Fidelity::Exact,
        Some((kind, _)) => Fidelity::Differs { differences: vec![format!("the objects came back as {kind}")] },
        None => return Err(ParticipantError::Failed(format!("it answered {found:?}"))),
    };
    let path = page.url_path("load");
    let began = Instant::now();
    let answer = request_page(address, &path)?;
    if answer != expected.list {
        return Err(ParticipantError::Failed(format!("its list has {answer} elements instead of {}", expected.list)));
    }
    Ok(PageContender {
        page,
        role: Role::Competitor,
        path,
        answer,
        fidelity,
        size: std::fs::metadata(folder.join(page.frozen_file_name())).ok().map(|file| file.len()),
        samples: vec![Vec::new(); client_counts],
        seconds: began.elapsed().as_secs_f64(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::load::{PageRequest, time_requests};
    use super::super::pages::WRONG;
    use super::super::server::Servers;
    use super::super::tools;
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn wrong_pages_are_detected() {
        let Ok(tools) = tools::find_tools(&tools::program_folders()) else { return };
        let scenario = super::super::parse_web_scenario().expect("its file is right");
        let size = scenario.small_sizes().next().expect("a size");
        let expected = ExpectedAnswers::from_document(&scenario.make_document(size).expect("data"))
            .expect("it is written as PHP's");
        // 1 leaf, 10 in the recursion, and 10 in each of the two lists; `leaf 1` to `leaf 31`.
        assert_eq!((expected.sums.as_str(), expected.list.as_str()), ("31 496 208", "10"));

        let folder = tempfile::tempdir().expect("a folder");
        let stop = AtomicBool::new(false);
        let plan = Plan {
            scenario: &scenario,
            size,
            folder: folder.path(),
            rounds: 1,
            turns: 1,
            requests: 1,
            budget: None,
            seed: 1,
            only: &[],
            modules: None,
            stop: &stop,
        };
        let pages = folder.path().join("pages");
        write_pages(&plan, &pages, &expected).expect("pages");
        for page in &WRONG {
            std::fs::write(pages.join(format!("{}.php", page.file_stem())), page.render_source()).expect("a page");
        }
        let servers = Servers::start(&tools, &folder.path().join("servers"), &pages, 2).expect("servers");
        let mut failures = WRONG.iter().map(|page| match check_page(page, &pages, &expected, servers.address, 1) {
            Err(ParticipantError::Failed(reason)) => reason,
            other => panic!("{}: {:?}", page.id, other.map(|contender| contender.fidelity)),
        });
        let forgetful = failures.next().expect("one page");
        assert!(forgetful.starts_with("it loaded another value: \"31 485 207"), "{forgetful}");
        let broken = failures.next().expect("another page");
        assert!(broken.ends_with("the server answered 500"), "{broken}");

        let right = check_page(&PAGES[0], &pages, &expected, servers.address, 1).expect("it is right");
        let request = PageRequest { address: servers.address, path: &right.path, answer: "11" };
        let error = time_requests(request, 2, 4, &stop).expect_err("another answer than expected");
        assert!(
            matches!(&error, ParticipantError::Failed(why) if why.contains("\"10\" instead of \"11\"")),
            "{error:?}"
        );
    }
}
