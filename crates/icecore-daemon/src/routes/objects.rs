//! Routes for objects.

use super::jobs::Page;
use crate::answer::{ObjectView, RequestedParts, build_response, json_response, ok_response};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::payload;
use axum::http::{StatusCode, header};
use axum::response::Response;
use icecore_store::{Id, NewObject, Object, ObjectFilter};
use serde::Serialize;

pub async fn put(mut call: Call) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Put {
        id: String,
        format: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    }
    let (keep, id) = (call.query.parse_duration("expires")?, call.id_parameter("id")?);
    let key = call.query.get("key").map(str::to_owned);
    if key.as_ref().is_some_and(|key| key.len() > 255) {
        return Err(Failure::invalid_request("parameter", "a key may have at most 255 bytes"));
    }
    let format = payload::read_declared_format(&call)?;
    let received = call.read_body().await?;
    // Bytes that can't be decoded are stored too, because they may be the only copy.
    let payload = payload::decode_body(&call.app, received, format).await?;
    let (format, problem) = (payload.description.format.clone(), payload.description.problem.clone());
    let object = NewObject { bytes: payload.bytes, description: payload.description, key, id, ..NewObject::default() };
    let stored = call.app.committer.store_object(object, keep).await;
    drop(payload.memory);
    let (code, id) = match (stored, id) {
        (Ok(id), _) => (StatusCode::CREATED, id),
        // The client chose the id, so the object comes from an earlier request of the same client. The client did not
        // receive the answer to that request.
        (Err(failure), Some(id)) if failure.code == StatusCode::CONFLICT && object_exists(&call.app, id).await? => {
            (StatusCode::OK, id)
        }
        (Err(failure), _) => return Err(failure),
    };
    Ok(json_response(code, &Put { id: id.to_string(), format, problem }))
}

async fn object_exists(app: &App, id: Id) -> Result<bool, Failure> {
    app.database.read(move |backend| Ok(backend.object(id)?.is_some())).await
}

pub async fn find_object(app: &App, id: Id) -> Result<Object, Failure> {
    let found = app.database.read(move |backend| {
        let found = backend.object(id)?;
        let expires_at = found.as_ref().and_then(|object| object.expires_at);
        // An expired object counts as removed, even if its row still exists.
        Ok(match expires_at {
            Some(expires_at) if expires_at <= backend.now()? => None,
            _ => found,
        })
    });
    found.await?.ok_or_else(|| Failure::not_found(format!("there is no object {id}")))
}

pub async fn get(call: Call) -> Result<Response, Failure> {
    let parts = call.requested_parts()?;
    let object = find_object(&call.app, call.parse_id()?).await?;
    Ok(ok_response(&ObjectView::from_object(&object, parts)))
}

pub async fn bytes(call: Call) -> Result<Response, Failure> {
    let object = find_object(&call.app, call.parse_id()?).await?;
    payload::respond_with_bytes(&call.app, call.query.get("to"), object.bytes, object.format).await
}

pub async fn remove(call: Call) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Removed {
        id: String,
        removed: bool,
    }
    let (id, actor) = (call.parse_id()?, call.client_name());
    match call.app.database.write(move |backend| backend.remove(&[id], &actor)).await? {
        0 => Err(Failure::not_found(format!("there is no object {id}"))),
        _ => Ok(ok_response(&Removed { id: id.to_string(), removed: true })),
    }
}

pub async fn list(call: Call) -> Result<Response, Failure> {
    let after = call.query.parse_number("after")?.unwrap_or(0);
    let limit = call.limit_parameter("limit", 100, 1000)?;
    let text = |name| call.query.get(name).map(str::to_owned);
    let path_value = match (text("path"), text("value")) {
        (Some(path), Some(value)) => Some((path, value)),
        (None, None) => None,
        _ => return Err(Failure::invalid_request("parameter", "path and value must be given together")),
    };
    let (quarantined, parts) = (call.flag_parameter("problem")?, call.requested_parts()?);
    let (key, filter) = (text("key"), ObjectFilter { class: text("class"), path_value, quarantined, before: None });
    let page = call.app.database.read(move |backend| {
        let (mut page, now) = (Page::new(limit), backend.now()?);
        if let Some(key) = key {
            page.items.extend(backend.object_named(&key)?);
            page.items.retain(|object: &Object| object.expires_at.is_none_or(|expires_at| expires_at > now));
            return Ok(page);
        }
        backend.objects(after, limit + 1, &filter, &mut |object| {
            let (sequence, size) = (object.sequence, object.bytes.len() + object.json.as_ref().map_or(0, String::len));
            Ok(page.add_item(object, sequence, size))
        })?;
        page.items.retain(|object| object.expires_at.is_none_or(|expires_at| expires_at > now));
        Ok(page)
    });
    let page = page.await?;
    let accepts = call.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    Ok(match accepts.contains("ndjson") {
        true => lines_response(&page, parts),
        false => list_response(&page, parts),
    })
}

fn list_response(page: &Page<Object>, parts: RequestedParts) -> Response {
    #[derive(Serialize)]
    struct Objects<'o> {
        objects: Vec<ObjectView<'o>>,
        next: Option<i64>,
    }
    let objects = page.items.iter().map(|object| ObjectView::from_object(object, parts)).collect();
    ok_response(&Objects { objects, next: page.next })
}

/// Returns one object per line, and at the end a line with the next position if there are more objects.
fn lines_response(page: &Page<Object>, parts: RequestedParts) -> Response {
    #[derive(Serialize)]
    struct Next {
        next: i64,
    }
    let mut text = Vec::new();
    for object in &page.items {
        // Writing into memory does not fail. An object without a readable copy has no document here.
        let _ = serde_json::to_writer(&mut text, &ObjectView::from_object(object, parts));
        text.push(b'\n');
    }
    if let Some(next) = page.next {
        let _ = serde_json::to_writer(&mut text, &Next { next });
        text.push(b'\n');
    }
    build_response(StatusCode::OK, "application/x-ndjson", text)
}
