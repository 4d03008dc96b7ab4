//! Jobs that come one after another.

use super::queue::{claim_job, claim_jobs, job_with_key, new_job, push_dead_job, push_job, read_job};
use super::{Behaviour, behaviours};
use crate::common::{Cell, HOUR, World, error_kind};
use icecore_store::{Ack, ErrorKind, Id, NewJob, State};
use std::time::Duration;

pub const ALL: &[Behaviour] = behaviours! {
    a_job_waits_for_its_predecessor
    a_chain_is_pushed_in_one_call
    a_job_waits_while_its_predecessor_fails
    many_jobs_wait_for_one
    many_acks_make_the_waiting_jobs_ready
    a_job_waits_for_a_predecessor_in_another_queue
    a_job_after_a_duplicate_waits_for_the_holder_of_the_key
    jobs_whose_predecessor_is_removed_are_dead
    waiting_jobs_keep_their_delay_and_key
    waiting_jobs_cannot_be_claimed_when_pushed
};

fn job_after(first: Id, payload: &str) -> NewJob {
    NewJob { after: Some(first), ..new_job("mail", payload) }
}

fn finish_next_job(world: &mut World, queue: &str) -> Id {
    let lease = claim_job(world, queue);
    world.store.ack(lease.job.id, &lease.token, None).expect("ack");
    lease.job.id
}

fn a_job_waits_for_its_predecessor(world: &mut World) {
    let first = push_job(world, &new_job("mail", "1"));
    let second = push_job(world, &job_after(first, "2"));
    let waiting = read_job(world, second);
    assert_eq!((waiting.state, waiting.after, waiting.attempts), (State::Waiting, Some(first), 0));
    let status = world.store.queues().expect("queues").remove(0);
    assert_eq!((status.counts, status.delayed), ([1, 0, 0, 0, 1], 0));
    assert_eq!(finish_next_job(world, "mail"), first);
    assert_eq!(read_job(world, second).state, State::Ready);
    assert_eq!(finish_next_job(world, "mail"), second);
    // A job after a finished one has nothing to wait for.
    let third = push_job(world, &job_after(second, "3"));
    assert_eq!((read_job(world, third).state, read_job(world, third).after), (State::Ready, Some(second)));
    assert_eq!(finish_next_job(world, "mail"), third);
    let missing = world.store.push(&[job_after(Id::new(), "4")]);
    assert_eq!(error_kind(missing), ErrorKind::Missing);
    let follower_of_itself = new_job("mail", "5");
    let follower_of_itself = NewJob { after: Some(follower_of_itself.id), ..follower_of_itself };
    assert_eq!(error_kind(world.store.push(&[follower_of_itself])), ErrorKind::Missing);
    let answer = world.store.push(&[new_job("mail", "6"), job_after(Id::new(), "7")]);
    assert_eq!(error_kind(answer), ErrorKind::Missing);
    assert_eq!(world.count("icecore_jobs"), 3, "all or none");
}

fn a_chain_is_pushed_in_one_call(world: &mut World) {
    let mut jobs: Vec<NewJob> = Vec::new();
    for number in 0..5 {
        let before = jobs.last().map(|last| last.id);
        jobs.push(NewJob { after: before, ..new_job("mail", &number.to_string()) });
    }
    let ids: Vec<Id> = world.store.push(&jobs).expect("pushed").iter().map(|pushed| pushed.id).collect();
    for (number, id) in ids.iter().enumerate() {
        let leases = claim_jobs(world, "mail", 10);
        assert_eq!(leases.len(), 1, "one at a time");
        assert_eq!((leases[0].job.id, &*leases[0].job.bytes), (*id, number.to_string().as_bytes()));
        world.store.ack(*id, &leases[0].token, None).expect("ack");
    }
    assert!(claim_jobs(world, "mail", 10).is_empty());
    // Pushing the same jobs again changes nothing.
    let repeated = world.store.push(&jobs).expect("pushed");
    assert!(repeated.iter().zip(&ids).all(|(pushed, id)| pushed.id == *id && !pushed.is_new));
}

fn a_job_waits_while_its_predecessor_fails(world: &mut World) {
    let first = push_job(world, &NewJob { max_attempts: Some(2), ..new_job("mail", "1") });
    let second = push_job(world, &job_after(first, "2"));
    for state in [State::Ready, State::Dead] {
        let lease = claim_job(world, "mail");
        assert_eq!(lease.job.id, first);
        let new_state = world.store.nack(first, &lease.token, "no", Some(Duration::ZERO)).expect("nack");
        assert_eq!((new_state, read_job(world, second).state), (state, State::Waiting));
    }
    assert!(claim_jobs(world, "mail", 10).is_empty());
    // Redriven, and finally done.
    assert_eq!(world.store.redrive("mail", None, "ann").expect("redriven"), 1);
    assert_eq!((finish_next_job(world, "mail"), finish_next_job(world, "mail")), (first, second));
}

fn many_jobs_wait_for_one(world: &mut World) {
    let first = push_job(world, &new_job("mail", "1"));
    let jobs: Vec<NewJob> = (0..700).map(|number| job_after(first, &number.to_string())).collect();
    let (some, others) = jobs.split_at(500);
    world.store.push(some).expect("pushed");
    for job in others {
        push_job(world, job);
    }
    assert!(claim_jobs(world, "mail", 10).len() == 1 && claim_jobs(world, "mail", 10).is_empty());
    let token = world.select("icecore_jobs", &["token"], &[("id", Cell::Text(&first.to_string()))]);
    let token = token[0][0].clone().expect("a token");
    world.store.ack(first, &token, None).expect("ack");
    let claimed: Vec<Id> = claim_jobs(world, "mail", 1_000).iter().map(|lease| lease.job.id).collect();
    assert_eq!(claimed, jobs.iter().map(|job| job.id).collect::<Vec<Id>>());
}

fn many_acks_make_the_waiting_jobs_ready(world: &mut World) {
    let first: Vec<NewJob> = (0..20).map(|number| new_job("mail", &number.to_string())).collect();
    world.store.push(&first).expect("pushed");
    let followers: Vec<NewJob> = first.iter().step_by(2).map(|job| job_after(job.id, "2")).collect();
    world.store.push(&followers).expect("pushed");
    let leases = claim_jobs(world, "mail", 100);
    assert_eq!(leases.len(), 20);
    let mut acks: Vec<Ack> = leases
        .iter()
        .map(|lease| Ack { id: lease.job.id, token: lease.token.clone(), result: Some(b"3".to_vec()) })
        .collect();
    acks[4].token = "no\0token".to_owned();
    acks[5].token = "other".to_owned();
    acks.push(acks[0].clone());
    let results = world.store.ack_many(&acks).expect("acked");
    let wrong: Vec<usize> = (0..results.len()).filter(|index| results[*index].is_err()).collect();
    assert_eq!(wrong, [4, 5, 20], "two wrong tokens, and the second ack of the same job");
    let ready: Vec<Id> = claim_jobs(world, "mail", 100).iter().map(|lease| lease.job.id).collect();
    let expected: Vec<Id> = followers.iter().filter(|job| job.after != Some(acks[4].id)).map(|job| job.id).collect();
    assert_eq!(ready, expected);
    assert_eq!(read_job(world, acks[2].id).result.as_deref(), Some(&b"3"[..]));
}

fn a_job_waits_for_a_predecessor_in_another_queue(world: &mut World) {
    let first = push_job(world, &new_job("mail", "1"));
    let second = push_job(world, &NewJob { after: Some(first), ..new_job("post", "2") });
    assert!(claim_jobs(world, "post", 1).is_empty());
    finish_next_job(world, "mail");
    assert_eq!(finish_next_job(world, "post"), second);
}

fn a_job_after_a_duplicate_waits_for_the_holder_of_the_key(world: &mut World) {
    let holder = push_job(world, &job_with_key("mail", "k"));
    // In one call: the first job is a duplicate of the holder, so the second follows the holder.
    let first = job_with_key("mail", "k");
    let second = job_after(first.id, "2");
    let other = new_job("mail", "3");
    let third = job_after(other.id, "4");
    let pushed = world.store.push(&[first.clone(), second.clone(), other, third.clone()]).expect("pushed");
    assert_eq!((pushed[0].id, pushed[0].is_new, pushed[1].is_new), (holder, false, true));
    assert_eq!(read_job(world, second.id).after, Some(holder));
    // The same with a key that occurs twice in one call.
    let twice = [job_with_key("mail", "l"), job_with_key("mail", "l")];
    let follower = job_after(twice[1].id, "5");
    let pushed = world.store.push(&[twice[0].clone(), twice[1].clone(), follower.clone()]).expect("pushed");
    assert_eq!((pushed[1].id, pushed[1].is_new), (twice[0].id, false));
    assert_eq!(
        (read_job(world, follower.id).after, read_job(world, follower.id).state),
        (Some(twice[0].id), State::Waiting)
    );
    for lease in claim_jobs(world, "mail", 10) {
        world.store.ack(lease.job.id, &lease.token, None).expect("ack");
    }
    let states = [second.id, third.id, follower.id].map(|id| read_job(world, id).state);
    assert_eq!(states, [State::Ready; 3]);
}

fn jobs_whose_predecessor_is_removed_are_dead(world: &mut World) {
    let first = push_dead_job(world, &new_job("mail", "1"));
    let second = push_job(world, &job_after(first, "2"));
    let third = push_job(world, &NewJob { unique_key: Some("k".to_owned()), ..job_after(second, "3") });
    assert_eq!(world.store.remove_ended_jobs(i64::MAX).expect("removed"), 1);
    let orphan = read_job(world, second);
    assert_eq!((orphan.state, orphan.finished_at.is_some()), (State::Dead, true));
    assert!(orphan.error.expect("a reason").contains("was removed"));
    assert_eq!(read_job(world, third).state, State::Waiting);
    assert_eq!(world.store.remove_ended_jobs(i64::MAX).expect("removed"), 1);
    assert_eq!(read_job(world, third).state, State::Dead);
    // Its key is free, and it can still be done.
    assert_ne!(push_job(world, &job_with_key("mail", "k")), third);
    finish_next_job(world, "mail");
    assert_eq!(world.store.redrive("mail", Some(&[third]), "ann").expect("redriven"), 1);
    assert_eq!(finish_next_job(world, "mail"), third);
}

fn waiting_jobs_keep_their_delay_and_key(world: &mut World) {
    let first = push_job(world, &new_job("mail", "1"));
    let second = NewJob { delay: HOUR, unique_key: Some("k".to_owned()), ..job_after(first, "2") };
    push_job(world, &second);
    let pushed = world.store.push(&[job_with_key("mail", "k")]).expect("pushed");
    assert_eq!((pushed[0].id, pushed[0].is_new), (second.id, false));
    let run_at = read_job(world, second.id).run_at;
    finish_next_job(world, "mail");
    let ready = read_job(world, second.id);
    assert_eq!((ready.state, ready.run_at), (State::Ready, run_at));
    assert!(claim_jobs(world, "mail", 1).is_empty());
}

fn waiting_jobs_cannot_be_claimed_when_pushed(world: &mut World) {
    let first = push_job(world, &new_job("mail", "1"));
    let result = world.store.push_and_claim(&job_after(first, "2"), "ann", HOUR);
    assert_eq!(error_kind(result), ErrorKind::Input);
    assert_eq!(world.count("icecore_jobs"), 1);
    // A replay is not part of a chain.
    let second = push_job(world, &job_after(first, "3"));
    let replay_id = world.store.replay(second, "ann").expect("replayed");
    assert_eq!((read_job(world, replay_id).state, read_job(world, replay_id).after), (State::Ready, None));
}
