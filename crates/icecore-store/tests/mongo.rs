//! What is different in MongoDB: documents have a maximum size, and data that is stored together arrives piece by
//! piece.
//!
//! `scripts/servers.sh run cargo test -p icecore-store --features mongodb --test store mongo::` provides a server.
#![cfg(feature = "mongodb")]

use crate::common::{Cell, HOUR, World, backends, error_kind};
use icecore_store::{
    Ack, BlobDescription, ErrorKind, Flow, Id, JobFilter, NewJob, NewObject, Object, ObjectFilter, State, describe,
};

/// Runs the test on a server, if there is one.
fn with_world(test: impl Fn(&mut World)) {
    for (_, new_database) in backends().into_iter().filter(|(name, _)| *name == "mongodb") {
        test(&mut World::new(new_database()));
    }
}

fn list_objects(world: &mut World) -> Vec<Object> {
    let mut found = Vec::new();
    let mut add = |object| {
        found.push(object);
        Ok(Flow::Continue)
    };
    world.store.objects(0, 100, &ObjectFilter::default(), &mut add).expect("objects");
    found
}

fn job_with_key(key: &str) -> NewJob {
    NewJob { unique_key: Some(key.to_owned()), ..describe::describe_job("mail", b"1".to_vec(), None) }
}

fn bytes_of_size(bytes: usize) -> (Vec<u8>, BlobDescription) {
    let bytes = vec![7; bytes];
    let description = BlobDescription { checksum: describe::compute_checksum(&bytes), ..BlobDescription::default() };
    (bytes, description)
}

#[test]
fn too_large_documents_are_refused_without_affecting_others() {
    with_world(|world| {
        for (size, as_base64, fits) in
            [(15 << 20, false, true), (16 << 20, false, false), (11 << 20, true, true), (13 << 20, true, false)]
        {
            let (bytes, description) = bytes_of_size(size);
            let object = NewObject { bytes, description, as_base64, ..NewObject::default() };
            let small = describe::describe_object(b"1".to_vec(), None);
            let answer = world.store.put(&[small, object.clone()]);
            match fits {
                true => {
                    let id = answer.expect("it fits")[1];
                    assert!(world.store.object(id).expect("asked").expect("there").bytes == object.bytes);
                }
                false => assert_eq!(error_kind(answer), ErrorKind::Input, "{size}"),
            }
        }
        assert_eq!(list_objects(world).len(), 4, "all or none");
        let (bytes, description) = bytes_of_size(16 << 20);
        let large = NewJob::new("mail", bytes.clone(), description);
        assert_eq!(error_kind(world.store.push(&[job_with_key("k"), large])), ErrorKind::Input);
        assert_eq!(world.jobs(&JobFilter::default()), []);
        world.store.push(&[job_with_key("k"), job_with_key("l")]).expect("pushed");
        let leases = world.store.claim("mail", "ann", HOUR, 2).expect("claimed");
        let (id, token) = (leases[0].job.id, &leases[0].token);
        assert_eq!(error_kind(world.store.ack(id, token, Some(&bytes))), ErrorKind::Input);
        let acks = [Ack { id, token: token.clone(), result: Some(bytes) }];
        assert_eq!(error_kind(world.store.ack_many(&acks)), ErrorKind::Input);
        world.store.ack(id, token, Some(b"too much to tell")).expect("it is this worker's still");
    });
}

/// Leaves what a killed program leaves: jobs that arrived, and the record of their batch.
fn insert_batch(world: &World, state: Option<&str>, at: i64) -> [Id; 2] {
    let ids = [Id::new(), Id::new()];
    for (number, id) in ids.iter().enumerate() {
        let id = id.to_string();
        let values = [
            ("id", Cell::Text(&id)),
            ("batch", Cell::Text("b")),
            ("seq", Cell::Int(1_000 + number as i64)),
            ("queue", Cell::Text("mail")),
            ("state", Cell::Text("arriving")),
            ("priority", Cell::Int(0)),
            ("queued_at", Cell::Int(1)),
            ("run_at", Cell::Int(1)),
            ("attempts", Cell::Int(0)),
            ("max_attempts", Cell::Int(20)),
            ("bytes", Cell::Bytes(b"1")),
        ];
        world.insert("icecore_jobs", &values);
    }
    if let Some(state) = state {
        let collection = ("collection", Cell::Text("icecore_jobs"));
        let record = [("id", Cell::Text("b")), collection, ("state", Cell::Text(state)), ("at", Cell::Int(at))];
        world.insert("icecore_batches", &record);
    }
    ids
}

#[test]
fn committed_batches_are_visible_to_all_calls() {
    let looks: [fn(&mut World, [Id; 2]); 4] = [
        |world, _| assert_eq!(world.jobs(&JobFilter::default()).len(), 2),
        |world, ids| assert!(ids.iter().all(|id| world.store.job(*id).expect("asked").is_some())),
        |world, _| assert_eq!(world.store.claim("mail", "ann", HOUR, 9).expect("claimed").len(), 2),
        |world, _| assert_eq!(world.store.queues().expect("queues")[0].counts, [2, 0, 0, 0, 0]),
    ];
    for look in looks {
        with_world(|world| {
            let ids = insert_batch(world, Some("committed"), 1);
            look(world, ids);
            assert_eq!(world.count("icecore_batches"), 0);
            assert!(world.jobs(&JobFilter::default()).iter().all(|job| job.state != State::Dead));
        });
    }
}

#[test]
fn uncommitted_batches_are_invisible() {
    with_world(|world| {
        let now = world.store.now().expect("the time");
        let ids = insert_batch(world, Some("open"), now);
        assert_eq!(world.jobs(&JobFilter::default()), []);
        assert_eq!(world.store.job(ids[0]).expect("asked"), None);
        assert_eq!(world.store.claim("mail", "ann", HOUR, 9).expect("claimed"), []);
        assert_eq!(world.store.queues().expect("queues"), []);
        // Its id exists meanwhile.
        let duplicate = NewJob { id: ids[0], ..job_with_key("k") };
        assert_eq!(error_kind(world.store.push(std::slice::from_ref(&duplicate))), ErrorKind::Busy);
        // Its program has been silent for long: the batch is abandoned.
        world.change("icecore_batches", &[("at", Cell::Int(now - 61_000))], &[]);
        assert!(world.store.push(&[duplicate]).expect("pushed")[0].is_new);
        assert_eq!(world.jobs(&JobFilter::default()).len(), 1);
        assert_eq!(world.count("icecore_jobs"), 1, "the other one is gone as well");
    });
}

#[test]
fn leftovers_of_an_abandoned_batch_do_not_matter() {
    with_world(|world| {
        let ids = insert_batch(world, None, 0);
        assert_eq!(world.jobs(&JobFilter::default()), []);
        let duplicate = NewJob { id: ids[1], ..job_with_key("k") };
        assert!(world.store.push(&[duplicate]).expect("pushed")[0].is_new);
        assert_eq!(world.jobs(&JobFilter::default()).len(), 1);
    });
}
