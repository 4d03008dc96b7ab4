//! The job of the article, with a new number each time.

use icecore_lab::{Error, scenario};

/// The number of the job in the article. It is replaced.
const ARTICLE_JOB_ID: &str = "366107";

/// Creates jobs.
#[derive(Clone, Debug)]
pub(super) struct JobFactory {
    /// The JSON before and after the number.
    before: String,
    after: String,
}

impl JobFactory {
    /// Reads the job of the scenario `job-hash`.
    pub(super) fn new() -> Result<JobFactory, Error> {
        let scenario = scenario::find_scenario("job-hash")?;
        let size = scenario.full_sizes().next().ok_or_else(|| Error::new("job-hash has no size"))?;
        let json = icecore::write(&scenario.make_document(size)?, "json")?;
        let json = String::from_utf8(json).map_err(|_| Error::new("a job that is not text"))?;
        let (before, after) = json.split_once(ARTICLE_JOB_ID).ok_or_else(|| Error::new("the job has no number"))?;
        Ok(JobFactory { before: before.to_owned(), after: after.to_owned() })
    }

    /// Returns the job with this number as JSON.
    pub(super) fn job_as_json(&self, number: u32) -> String {
        format!("{}{number}{}", self.before, self.after)
    }

    /// Returns a schema for what the Perl daemon checks.
    pub(super) fn job_schema() -> &'static str {
        r#"{
            "type": "object",
            "required": ["clientref", "jobid", "name", "type", "sessionid", "priority", "jobflags", "args"],
            "properties": {
                "clientref": {"type": "string", "minLength": 1},
                "jobid": {"type": "string", "minLength": 1},
                "name": {"type": "string", "minLength": 1},
                "type": {"type": "string", "minLength": 1},
                "sessionid": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
                "priority": {"type": "integer"},
                "jobflags": {"type": "integer"},
                "args": {"type": "object"}
            }
        }"#
    }

    /// Returns a job that each daemon has to refuse.
    pub(super) fn invalid_job(&self) -> String {
        self.job_as_json(1).replace("\"name\"", "\"nam\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn jobs_differ_in_their_number() {
        let jobs = JobFactory::new().expect("the scenario is there");
        let job: Value = serde_json::from_str(&jobs.job_as_json(1_000_007)).expect("it is JSON");
        assert_eq!((&job["jobid"], &job["priority"]), (&Value::from("1000007"), &Value::from(2)));
        let wrong: Value = serde_json::from_str(&jobs.invalid_job()).expect("it is JSON");
        assert!(wrong.get("name").is_none() && wrong.get("type").is_some());
        serde_json::from_str::<Value>(JobFactory::job_schema()).expect("it is JSON");
    }
}
