//! Routes. One table generates the router, the checks of parameters, and `/openapi.json`.

mod about;
mod claims;
mod compare;
mod inspect;
mod jobs;
mod objects;
mod openapi;
mod queues;
mod run;
mod schedules;

pub use schedules::fire_due_schedules;

use crate::answer;
use crate::app::App;
use crate::body::discard_body;
use crate::call::ClientAddress;
use crate::call::{Call, mark_connection_known};
use crate::connections::ConnectionHandle;
use crate::failure::Failure;
use crate::host::{self, Host};
use crate::page::{self, Asset};
use crate::query::Query;
use axum::Router;
use axum::body::HttpBody;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use std::future::{Future, poll_fn};
use std::net::{IpAddr, Ipv4Addr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Future of an answer.
pub type ResponseFuture = Pin<Box<dyn Future<Output = Result<Response, Failure>> + Send>>;

/// Parameters in the path of a request, or why they are invalid.
type PathParameters = Result<RawPathParams, RawPathParamsRejection>;

/// A query parameter.
pub struct Parameter {
    pub name: &'static str,
    /// JSON Schema type: `string`, `integer`.
    pub json_type: &'static str,
    pub description: &'static str,
}

/// Content of a request body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RequestBody {
    Nothing,
    /// JSON, or a blob of any format.
    Payload,
    /// Settings, as an alternative to parameters.
    Json,
    /// A JSON Schema.
    Schema,
}

/// A route.
pub struct Route {
    pub method: Method,
    pub path: &'static str,
    /// Operation name, for generators of clients.
    pub name: &'static str,
    pub summary: &'static str,
    pub parameters: &'static [Parameter],
    pub request_body: RequestBody,
    /// Status codes of its answers, and their descriptions.
    pub answers: &'static [(u16, &'static str)],
    /// Media type of a successful answer.
    pub media_type: &'static str,
    /// Whether the route needs no token.
    pub is_open: bool,
    handler: fn(Call) -> ResponseFuture,
}

const fn parameter(name: &'static str, json_type: &'static str, description: &'static str) -> Parameter {
    Parameter { name, json_type, description }
}

const JSON: &str = "application/json";
const BYTES: &str = "application/octet-stream";

const AFTER: Parameter =
    parameter("after", "integer", "Only those after this sequence number, such as `next` of the previous answer.");
const LIMIT: Parameter =
    parameter("limit", "integer", "The maximum number of results; there are fewer if they are large.");
const BRIEF: Parameter = parameter("brief", "boolean", "`true`: without payloads, documents and results.");
const WITH_BYTES: Parameter = parameter("bytes", "boolean", "`true`: with the original bytes, in Base64.");
const ID: Parameter =
    parameter("id", "string", "A UUID that you choose; a repeated request with the same id stores nothing twice.");
const TO: Parameter = parameter("to", "string", "Converts to another format, such as `json` or `base64/php`.");
const TOKEN: Parameter = parameter("token", "string", "The token that the job was claimed with.");

macro_rules! route {
    ($method:ident $path:literal $name:literal $summary:literal, [$($parameter:expr),*],
     $request_body:ident, $media_type:expr, [$($code:literal $description:literal),*], $handler:path) => {
        Route {
            method: Method::$method,
            path: $path,
            name: $name,
            summary: $summary,
            parameters: &[$($parameter),*],
            request_body: RequestBody::$request_body,
            answers: &[$(($code, $description)),*],
            media_type: $media_type,
            is_open: false,
            handler: |call| Box::pin($handler(call)),
        }
    };
}

/// A route that shows a blob in parts.
macro_rules! inspect {
    ($path:literal $name:literal $summary:literal, $handler:path) => {
        route!(GET $path $name $summary, [
            parameter("format", "string", "The format to read; detected by default."),
            parameter("within", "string", "The content of the string with this `node`; for a string in a string, `5,3`."),
            parameter("node", "integer", "Only the value with this `node` and its content."),
            parameter("skip", "integer", "The number of its items to skip."),
            parameter("depth", "integer", "The number of levels; 3 by default."),
            parameter("items", "integer", "The number of items of each list; 100 by default."),
            parameter("limit", "integer", "The number of rows; 500 by default."),
            parameter("longest", "integer", "The number of bytes of a text; 1000 by default.")
        ], Nothing, JSON, [
            200 "`items` as the JSON of `icecore inspect` has them, with their first `bytes`; `error`, if it breaks off.",
            404 "It does not exist."
        ], $handler)
    };
}

/// All routes.
pub static ROUTES: &[Route] = &[
    route!(POST "/jobs" "pushJob" "Queues a job; the body is its payload.", [
        parameter("queue", "string", "The queue; `default` by default."),
        parameter("priority", "integer", "Jobs with a higher priority are handed out first; 0 by default."),
        parameter("delay", "string", "The time before it is handed out: `5`, `5s`, `2m`."),
        parameter("unique", "string", "A key that no other unfinished job of the queue may have."),
        parameter("format", "string", "The format of the payload, such as `base64/marshal`; detected by default."),
        ID,
        parameter("max_attempts", "integer", "The maximum number of attempts."),
        parameter("after", "string", "The id of another job: this job is handed out when that job is done."),
        parameter("run", "string", "`now`: the queue's command runs it now, and the answer has its result.")
    ], Payload, JSON, [
        201 "The job is stored durably.",
        200 "A job with this id or unique key already exists; or, with `run=now`, the command ended.",
        400 "The payload is not in the given format, or does not match the schema.",
        404 "The job that `after` names does not exist; nothing is stored.",
        409 "The queue is paused and can't run the job now, as `run=now` requires; nothing is stored.",
        429 "The queue's limit is reached and it can't run the job now, as `run=now` requires; nothing is stored."
    ], jobs::push),
    route!(GET "/jobs" "listJobs" "Lists jobs in the order in which they were queued.", [
        parameter("queue", "string", "Only jobs of this queue."),
        parameter("state", "string", "Only jobs in this state: `ready`, `leased`, `done`, `dead`, `waiting`."),
        AFTER,
        parameter("before", "integer", "Only those before this sequence number, the newest first."),
        LIMIT, BRIEF
    ], Nothing, JSON, [200 "`jobs`, and `next` if there are more."], jobs::list),
    route!(GET "/jobs/{id}" "getJob" "Returns a job, decoded.", [BRIEF], Nothing, JSON, [
        200 "The job.", 404 "There is no such job."
    ], jobs::get),
    route!(GET "/jobs/{id}/payload" "getPayload" "Returns the payload of a job, unchanged.", [TO], Nothing, BYTES, [
        200 "The bytes.", 400 "The bytes can't be converted.", 404 "There is no such job."
    ], jobs::payload),
    inspect!("/jobs/{id}/inspect" "inspectJob" "Shows the structure of a job's payload.", inspect::job),
    route!(POST "/jobs/{id}/replay" "replayJob" "Queues a copy of a job.", [], Nothing, JSON, [
        201 "The `id` of the new job.", 404 "There is no such job."
    ], jobs::replay),
    route!(POST "/jobs/{id}/ack" "ackJob" "Reports that a job is done.", [
        TOKEN, parameter("result", "string", "The result of the job; any JSON if it is in the body.")
    ], Json, JSON, [
        200 "It is recorded.", 404 "There is no such job.", 409 "The token is wrong or has expired."
    ], claims::ack),
    route!(POST "/jobs/{id}/nack" "nackJob" "Reports that a job failed.", [
        TOKEN,
        parameter("error", "string", "The reason."),
        parameter("delay", "string", "The time before the next attempt; by default, the queue decides.")
    ], Json, JSON, [
        200 "It is recorded; `state` is `ready`, or `dead` after the last attempt.",
        404 "There is no such job.", 409 "The token is wrong or has expired."
    ], claims::nack),
    route!(POST "/jobs/{id}/extend" "extendJob" "Extends the lease of a job.", [
        TOKEN, parameter("lease", "string", "The new length, from now on; 60 s by default.")
    ], Json, JSON, [
        200 "The new end of the lease: `lease_until`.", 404 "There is no such job.",
        409 "The token is wrong or has expired."
    ], claims::extend),
    route!(GET "/queues" "listQueues" "Lists all queues.", [], Nothing, JSON, [200 "`queues`."], queues::list),
    route!(POST "/queues/{queue}/claim" "claimJobs" "Leases jobs to a worker.", [
        parameter("worker", "string", "The name of the worker."),
        parameter("lease", "string", "How long the worker owns them; 60 s by default."),
        parameter("max", "integer", "The maximum number of jobs; 1 by default."),
        parameter("wait", "string", "How long to wait for a job; 0 by default."),
        BRIEF, WITH_BYTES
    ], Nothing, JSON, [200 "`jobs`, each with its `token`; empty if there was no job in time."], claims::claim),
    route!(POST "/queues/{queue}/pause" "pauseQueue" "Pauses a queue: it hands out no jobs.", [], Nothing, JSON, [
        200 "It is recorded."
    ], queues::pause),
    route!(POST "/queues/{queue}/resume" "resumeQueue" "Resumes a queue: it hands out jobs again.", [], Nothing, JSON, [
        200 "It is recorded."
    ], queues::resume),
    route!(POST "/queues/{queue}/redrive" "redriveQueue" "Makes dead jobs ready again, or the jobs of `ids`, which may also wait for their time.", [
        parameter("ids", "string", "Only the jobs with these ids, separated by commas; a list if they are in the body.")
    ], Json, JSON, [200 "The number of jobs that are ready again: `redriven`."], queues::redrive),
    route!(PUT "/queues/{queue}/limits" "setLimits" "Limits how many jobs of a queue are handed out.", [
        parameter("concurrency", "integer", "The maximum number of leased jobs at a time; 0: no limit."),
        parameter("rate", "string", "The maximum number of jobs per time, such as `100/1m`; `none`: no limit.")
    ], Json, JSON, [
        200 "The limits are set; a limit that is not given does not change.", 400 "A limit is invalid."
    ], queues::set_limits),
    route!(PUT "/queues/{queue}/schema" "setSchema" "Sets the JSON Schema that payloads are checked against.", [
    ], Schema, JSON, [200 "It is set; an empty schema removes the current one.", 400 "It is not a schema."], queues::set_schema),
    route!(GET "/queues/{queue}/schema" "getSchema" "The JSON Schema of a queue.", [
    ], Nothing, "application/schema+json", [200 "The schema.", 404 "The queue has none."], queues::schema),
    route!(GET "/schedules" "listSchedules" "Lists all schedules by name.", [BRIEF], Nothing, JSON, [
        200 "`schedules`."
    ], schedules::list),
    route!(PUT "/schedules/{name}" "setSchedule" "Queues a job repeatedly; the body is its payload.", [
        parameter("timing", "string", "When it queues a job: `30 2 * * MON-FRI` as in cron, `@hourly`, `every 5m`."),
        parameter("zone", "string", "The time zone of the timing, such as `Europe/Berlin`; UTC by default."),
        parameter("queue", "string", "The queue; `default` by default."),
        parameter("priority", "integer", "Jobs with a higher priority are handed out first; 0 by default."),
        parameter("max_attempts", "integer", "The maximum number of attempts for each job."),
        parameter("alone", "boolean", "`true`: no job is queued until the previous one is done or dead."),
        parameter("format", "string", "The format of the payload, such as `base64/marshal`; detected by default.")
    ], Payload, JSON, [
        200 "The time of its first job: `next_at`. A schedule with this name is replaced.",
        400 "The timing, the time zone or the payload is invalid, or the payload does not match the schema."
    ], schedules::set),
    route!(DELETE "/schedules/{name}" "removeSchedule" "Removes a schedule; its jobs stay.", [], Nothing, JSON, [
        200 "It is removed.", 404 "There is no such schedule."
    ], schedules::remove),
    route!(POST "/schedules/{name}/pause" "pauseSchedule" "Pauses a schedule: it queues no jobs.", [], Nothing, JSON, [
        200 "It is recorded.", 404 "There is no such schedule."
    ], schedules::pause),
    route!(POST "/schedules/{name}/resume" "resumeSchedule" "Resumes a schedule.", [], Nothing, JSON, [
        200 "It is recorded.", 400 "Its timing is invalid.", 404 "There is no such schedule."
    ], schedules::resume),
    route!(POST "/objects" "putObject" "Stores an object; the body is its bytes.", [
        parameter("key", "string", "A name that no other object has."),
        parameter("format", "string", "The format of the bytes, such as `base64/marshal`; detected by default."),
        parameter("expires", "string", "How long it is kept: `1h`, `7d`."),
        ID
    ], Payload, JSON, [
        201 "The `id`; also `problem` if the bytes can't be decoded.",
        200 "An object with this id already exists.", 409 "Another object has the key."
    ], objects::put),
    route!(GET "/objects" "listObjects" "Lists objects in the order in which they were stored.", [
        AFTER, LIMIT, BRIEF, WITH_BYTES,
        parameter("class", "string", "Only those that contain an object of this class."),
        parameter("path", "string", "Only those with `value` at this path: `$.user.id`."),
        parameter("value", "string", "The value at `path`, as JSON; anything that is not JSON is a text."),
        parameter("key", "string", "Only the object with this key."),
        parameter("problem", "string", "`true`: only those that can't be decoded; `false`: only the others.")
    ], Nothing, JSON, [
        200 "`objects`, and `next` if there are more; with `Accept: application/x-ndjson`, one per line."
    ], objects::list),
    route!(GET "/objects/{id}" "getObject" "Returns an object, decoded.", [BRIEF, WITH_BYTES], Nothing, JSON, [
        200 "The object.", 404 "There is no such object."
    ], objects::get),
    route!(GET "/objects/{id}/bytes" "getBytes" "Returns the bytes of an object.", [TO], Nothing, BYTES, [
        200 "The bytes.", 400 "The bytes can't be converted.", 404 "There is no such object."
    ], objects::bytes),
    inspect!("/objects/{id}/inspect" "inspectObject" "Shows the structure of an object.", inspect::object),
    route!(DELETE "/objects/{id}" "removeObject" "Removes an object.", [], Nothing, JSON, [
        200 "It is removed.", 404 "There is no such object."
    ], objects::remove),
    route!(GET "/compare" "compare" "Compares two payloads or objects.", [
        parameter("left", "string", "The first one: `jobs/ID` or `objects/ID`."),
        parameter("right", "string", "The second one."),
        parameter("limit", "integer", "The maximum number of differences; 200 by default.")
    ], Nothing, JSON, [
        200 "`differences`, and their `count`.", 400 "One of them can't be decoded.", 404 "One of them does not exist."
    ], compare::compare),
    Route {
        is_open: true,
        ..route!(GET "/healthz" "health" "Checks whether the daemon and its database work.", [], Nothing, JSON, [
            200 "Both work.", 503 "The database does not work; the answer says why."
        ], about::health)
    },
    route!(GET "/metrics" "metrics" "Returns metrics for Prometheus.", [], Nothing, "text/plain", [
        200 "The text."
    ], about::metrics),
    route!(GET "/openapi.json" "openapi" "Returns this description.", [], Nothing, JSON, [
        200 "The document."
    ], about::openapi),
];

/// Name for routes and methods that are not known.
const UNKNOWN: &str = "other";

/// How much of the body of an unauthorized request is read, and for how long.
const UNAUTHORIZED_BODY_LIMIT: usize = 1 << 20;
const UNAUTHORIZED_BODY_TIMEOUT: Duration = Duration::from_secs(1);

/// Creates the router for all routes.
pub fn build_router(app: Arc<App>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let app = Arc::clone(&app);
        let answer = move |path_parameters: PathParameters, request: Request| async move {
            let call = |request| prepare_call(route, Arc::clone(&app), path_parameters, request);
            answer_request(&app, route.path, route.is_open, request, call).await
        };
        if let Ok(filter) = MethodFilter::try_from(route.method.clone()) {
            router = router.route(route.path, on(filter, answer));
        }
    }
    for asset in page::ASSETS {
        let app = Arc::clone(&app);
        let answer = move |request: Request| async move { serve_asset(&app, asset, request).await };
        router = router.route(asset.path, on(MethodFilter::GET, answer));
    }
    let no_route = StatusCode::NOT_FOUND;
    let (no_route_app, no_method_app) = (Arc::clone(&app), app);
    router
        .method_not_allowed_fallback(move |request| {
            answer_unrouted(Arc::clone(&no_method_app), request, StatusCode::METHOD_NOT_ALLOWED)
        })
        .fallback(move |request| answer_unrouted(Arc::clone(&no_route_app), request, no_route))
}

/// Answers with a file of the page. A token is not required, because the file does not contain data, and sending it
/// costs no more than a refusal.
async fn serve_asset(app: &App, asset: &'static Asset, request: Request) -> Response {
    let (start, method) = (Instant::now(), request.method().clone());
    let response = match requested_host(&request) {
        Ok(_) => asset.to_response(),
        Err(failure) => answer::failure_response(&failure),
    };
    log_answer(app, page::ROUTE, &method, response.status().as_u16(), start);
    response
}

async fn answer_unrouted(app: Arc<App>, request: Request, code: StatusCode) -> Response {
    answer_request(&app, UNKNOWN, false, request, |_| {
        let (kind, message) = match code {
            StatusCode::METHOD_NOT_ALLOWED => ("method", "this path has no such method; /openapi.json has all of them"),
            _ => ("missing", "there is no such path; /openapi.json has all of them"),
        };
        Err(Failure::new(code, kind, message))
    })
    .await
}

/// Prepares a request for its handler.
fn prepare_call(
    route: &'static Route,
    app: Arc<App>,
    path_parameters: PathParameters,
    request: Request,
) -> Result<ResponseFuture, Failure> {
    let path_parameters =
        path_parameters.map_err(|_| Failure::invalid_request("path", "the percent-encoded path is not valid UTF-8"))?;
    let path_parameters = path_parameters.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let allowed: Vec<&str> = route.parameters.iter().map(|parameter| parameter.name).collect();
    let query = Query::parse(request.uri().query().unwrap_or_default(), &allowed)?;
    let (client_address, connection) = (client_address(&request), connection_handle(&request).cloned());
    let (parts, body) = request.into_parts();
    Ok((route.handler)(Call { app, path_parameters, query, headers: parts.headers, body, client_address, connection }))
}

fn client_address(request: &Request) -> IpAddr {
    request.extensions().get::<ClientAddress>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |client| client.0)
}

fn connection_handle(request: &Request) -> Option<&ConnectionHandle> {
    request.extensions().get::<ConnectionHandle>()
}

/// Answers a request, if it is authorized, and logs it.
async fn answer_request(
    app: &App,
    route: &'static str,
    is_open: bool,
    request: Request,
    call: impl FnOnce(Request) -> Result<ResponseFuture, Failure>,
) -> Response {
    let (start, method) = (Instant::now(), request.method().clone());
    let result = match admit_request(app, is_open, &request) {
        Err(failure) => {
            discard_body(request.into_body(), UNAUTHORIZED_BODY_LIMIT, UNAUTHORIZED_BODY_TIMEOUT).await;
            Err(failure.closing_connection())
        }
        Ok(()) => match call(request) {
            Ok(answer) => catch_panics(answer).await,
            Err(failure) => Err(failure),
        },
    };
    let response = result.unwrap_or_else(|failure| answer::failure_response(&failure));
    log_answer(app, route, &method, response.status().as_u16(), start);
    response
}

/// Logs and counts an answer.
fn log_answer(app: &App, route: &'static str, method: &Method, code: u16, start: Instant) {
    let took = start.elapsed();
    // Clients can send any method name, so only known ones are counted by name.
    let method = match ROUTES.iter().any(|route| route.method == *method) {
        true => method.as_str(),
        false => UNKNOWN,
    };
    app.metrics.count_request(route, method, code, took);
    app.journal.log_request(method, route, code, took);
}

fn requested_host(request: &Request) -> Result<Option<Host>, Failure> {
    host::find_requested_host(request.method(), request.uri(), request.version(), request.headers())
}

/// Checks the host, the rate limit and the authorization of a request.
fn admit_request(app: &App, is_open: bool, request: &Request) -> Result<(), Failure> {
    let host = requested_host(request)?;
    if let Err(seconds) = app.rates.take_token(client_address(request), Instant::now()) {
        let message = "too many requests from this address";
        let failure = Failure::new(StatusCode::TOO_MANY_REQUESTS, "rate", message);
        return Err(Failure { retry_after: Some(seconds), ..failure });
    }
    if is_open {
        return Ok(());
    }
    app.auth.check_request(host.as_ref(), request.headers())?;
    // Without a token, anyone could send such a head. So the connection is known only if the request is complete.
    let is_known = app.auth.has_token() || request.body().is_end_stream();
    if is_known { mark_connection_known(connection_handle(request)) } else { Ok(()) }
}

/// Runs a handler. A panic gives an error answer, and the daemon continues.
async fn catch_panics(mut answer: ResponseFuture) -> Result<Response, Failure> {
    poll_fn(|context| {
        catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context)))
            .unwrap_or_else(|_| std::task::Poll::Ready(Err(crate::threads::WorkError::Broken.into())))
    })
    .await
}
