//! Description of the routes for programs: OpenAPI 3.1.

use super::{ROUTES, RequestBody, Route};
use serde_json::{Map, Value, json};

/// Returns the document, generated from the table of routes.
pub fn build_document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = describe_operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Icecore",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Frozen objects and a job queue. Jobs are done at least once.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Error": error_schema() },
        },
        "security": [{}, { "token": [] }],
    })
}

fn error_schema() -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["kind", "message"],
                "properties": {
                    "kind": text("One word, for programs."),
                    "message": text("A sentence, for people."),
                    "path": text("The place in the payload, such as `$.user.id`."),
                    "offset": { "type": "integer", "description": "The offset in the payload, in bytes." },
                    "expected": text("What was expected there."),
                    "found": text("What was found there."),
                    "help": text("What to do."),
                    "errors": {
                        "type": "array",
                        "description": "All errors, if there is more than one.",
                        "items": {
                            "type": "object",
                            "properties": { "path": { "type": "string" }, "message": { "type": "string" } },
                        },
                    },
                },
            },
        },
    })
}

/// Returns the OpenAPI description of a route.
fn describe_operation(route: &Route) -> Value {
    let path_names = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path =
        path_names.map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }));
    let in_query = route.parameters.iter().map(|parameter| {
        json!({
            "name": parameter.name,
            "in": "query",
            "description": parameter.description,
            "schema": { "type": parameter.json_type },
        })
    });
    let mut responses = Map::new();
    for (code, description) in route.answers {
        let content = match code {
            200..300 => json!({ route.media_type: {} }),
            _ if route.is_open => json!({ "application/json": {} }),
            _ => json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } }),
        };
        responses.insert(code.to_string(), json!({ "description": description, "content": content }));
    }
    let failure = json!({ "schema": { "$ref": "#/components/schemas/Error" } });
    let failure = json!({ "description": "The request failed.", "content": { "application/json": failure } });
    responses.insert("default".to_owned(), failure);
    let mut operation = json!({
        "operationId": route.name,
        "summary": route.summary,
        "parameters": in_path.chain(in_query).collect::<Vec<Value>>(),
        "responses": responses,
    });
    let content = match route.request_body {
        RequestBody::Nothing => None,
        RequestBody::Payload => Some(json!({ "application/json": {}, "application/octet-stream": {} })),
        RequestBody::Json => Some(json!({ "application/json": { "schema": { "type": "object" } } })),
        RequestBody::Schema => Some(json!({ "application/schema+json": {} })),
    };
    if let Some(content) = content {
        let is_required = matches!(route.request_body, RequestBody::Payload | RequestBody::Schema);
        operation["requestBody"] = json!({ "required": is_required, "content": content });
    }
    if route.is_open {
        operation["security"] = json!([]);
    }
    operation
}
