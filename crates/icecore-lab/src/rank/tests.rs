//! What users see of a ranking.

use super::*;
use crate::model::{MemoryStep, Sample};
use crate::stats::count_multiplications;
use crate::stats::synthetic::{SimulatedMachine, make_entry, make_point};
use Operation::{Read, Write};
use fastrand::Rng;

/// Returns an entry that writes and reads in this number of nanoseconds.
fn make_competitor(id: &str, write: f64, read: f64, size: u64) -> Entry {
    let mut random = Rng::with_seed(id.bytes().map(u64::from).sum());
    let machine = SimulatedMachine { process: 0.01, noise: 0.02, ..SimulatedMachine::default() };
    let mut timed = |ns| machine.sample_program(&mut random, ns);
    make_entry(id, size, vec![(Write, timed(write)), (Read, timed(read))])
}

fn parse_weights(text: &str) -> Weights {
    text.parse().unwrap()
}

fn rank_entries(entries: Vec<Entry>, weigh: &str) -> Ranking {
    rank_competitors(&make_point(1.0, entries), &parse_weights(weigh))
}

fn list_places(ranking: &Ranking) -> Vec<(String, &str)> {
    ranking.places.iter().map(|place| (place.label(), place.id.as_str())).collect()
}

fn labelled_id(label: &str, id: &'static str) -> (String, &'static str) {
    (label.to_owned(), id)
}

fn with_wrong_output(mut entry: Entry, differs: bool) -> Entry {
    let differences = vec!["numbers came back as text, first at $[0]".to_owned()];
    entry.fidelity = match differs {
        true => Fidelity::Differs { differences },
        false => Fidelity::Alike { differences },
    };
    entry
}

/// Returns a fast writer, a fast reader, and a small one.
fn three_competitors() -> Vec<Entry> {
    vec![
        make_competitor("writer", 100.0, 1000.0, 5000),
        make_competitor("reader", 1000.0, 100.0, 4000),
        make_competitor("small", 1000.0, 900.0, 1000),
    ]
}

#[test]
fn weights_decide_the_order() {
    assert_eq!(list_places(&rank_entries(three_competitors(), "write:100,read:1"))[0], labelled_id("1", "writer"));
    assert_eq!(list_places(&rank_entries(three_competitors(), "write:1,read:100"))[0], labelled_id("1", "reader"));
    assert_eq!(
        list_places(&rank_entries(three_competitors(), "size:8")),
        [labelled_id("1", "small"), labelled_id("2", "reader"), labelled_id("3", "writer")]
    );
    assert_eq!(list_places(&rank_entries(three_competitors(), "write:1,read:1,size:8"))[0], labelled_id("1", "small"));
}

#[test]
fn a_cost_is_the_weighted_sum_of_its_parts() {
    let found = rank_entries(three_competitors(), "write:2,read:10,size:0.5");
    let reader = found.places.iter().find(|place| place.id == "reader").unwrap();
    let expected = 2.0 * 1000.0 + 10.0 * 100.0 + 0.5 * 4000.0;
    assert!((reader.cost.estimate / expected - 1.0).abs() < 0.02, "{reader:?}");
    assert!(reader.cost.low < expected && expected < reader.cost.high && reader.cost.high < expected * 1.05);
    let shares: Vec<f64> = reader.parts.iter().map(|part| (part.share * 10.0).round() / 10.0).collect();
    assert_eq!(shares, [0.4, 0.2, 0.4]);
    assert!((reader.parts.iter().map(|part| part.share).sum::<f64>() - 1.0).abs() < 1e-9);
}

#[test]
fn ratios_to_the_first_cover_the_true_ratio() {
    let found = rank_entries(three_competitors(), "read:1");
    assert_eq!(found.places[0].times, None);
    let times = found.places[1].times.unwrap();
    assert!(times.low < 9.0 && 9.0 < times.high && times.high / times.low < 1.2, "{times:?}");
}

#[test]
fn indistinguishable_competitors_share_a_rank() {
    let entries = vec![
        make_competitor("a", 100.0, 100.0, 1),
        make_competitor("b", 100.0, 101.0, 1),
        make_competitor("c", 300.0, 300.0, 1),
        make_competitor("d", 302.0, 300.0, 1),
        make_competitor("e", 900.0, 900.0, 1),
    ];
    let found = rank_entries(entries, "write:1,read:1");
    let labels: Vec<String> = found.places.iter().map(RankedCompetitor::label).collect();
    assert_eq!(labels, ["1=", "1=", "3=", "3=", "5"]);
    assert_eq!(found.alone[0].first.len(), 2);
}

#[test]
fn differences_below_that_of_the_twin_are_ties() {
    let entries = |twin: f64| {
        let (base, mut twin) =
            (make_competitor("base", 100.0, 100.0, 1), make_competitor("twin", 100.0 * twin, 100.0, 1));
        twin.role = Role::Twin;
        twin.cells[0].against = crate::stats::compare_samples(&twin.cells[0].samples, &base.cells[0].samples, 0.01);
        vec![base, twin, make_competitor("other", 110.0, 110.0, 1)]
    };
    assert_eq!(
        list_places(&rank_entries(entries(1.0), "write:1")),
        [labelled_id("1", "base"), labelled_id("2", "other")]
    );
    assert_eq!(
        list_places(&rank_entries(entries(1.2), "write:1")),
        [labelled_id("1=", "base"), labelled_id("1=", "other")]
    );
    assert_eq!(list_places(&rank_entries(entries(1.2), "read:1"))[1], labelled_id("2", "other"));
}

#[test]
fn sizes_are_tied_only_if_they_are_equal() {
    let sizes = |a, b| vec![make_competitor("a", 1.0, 1.0, a), make_competitor("b", 1.0, 1.0, b)];
    assert_eq!(list_places(&rank_entries(sizes(1001, 1000), "size:1")), [labelled_id("1", "b"), labelled_id("2", "a")]);
    assert_eq!(
        list_places(&rank_entries(sizes(1000, 1000), "size:1")),
        [labelled_id("1=", "a"), labelled_id("1=", "b")]
    );
}

#[test]
fn wrong_competitors_rank_below_right_ones() {
    let entries = vec![
        with_wrong_output(make_competitor("quick but wrong", 1.0, 1.0, 1), true),
        with_wrong_output(make_competitor("quick and alike", 2.0, 2.0, 1), false),
        Entry { fidelity: Fidelity::Unchecked, ..make_competitor("quick, unchecked", 1.5, 1.5, 1) },
        make_competitor("slow and right", 900.0, 900.0, 90),
        make_competitor("slower and right", 1900.0, 1900.0, 90),
    ];
    for weigh in ["read:1", "write:1,read:5,size:3", "size:1"] {
        let found = rank_entries(entries.clone(), weigh);
        let names: Vec<&str> = found.places.iter().map(|place| place.id.as_str()).collect();
        assert_eq!(names[2..], ["quick and alike", "quick, unchecked", "quick but wrong"], "{weigh}");
        assert!(found.places[4].times.unwrap().high < 1.0);
        assert!(found.alone.iter().all(|alone| alone.first[0] == "slow and right"));
    }
    let text = explain_ranking(&rank_entries(entries, "read:1")).join("\n");
    assert!(text.starts_with("Of the correct ones, slow and right costs least"), "{text}");
    assert!(
        text.contains(
            "quick but wrong gives back something else (numbers came back as text, first at $[0]), so it ranks below \
             those that give back the same, though it costs less."
        ),
        "{text}"
    );
}

#[test]
fn equal_costs_of_right_and_wrong_do_not_share_a_rank() {
    let entries =
        vec![with_wrong_output(make_competitor("a", 100.0, 100.0, 1), true), make_competitor("b", 100.0, 100.0, 1)];
    assert_eq!(list_places(&rank_entries(entries, "write:1")), [labelled_id("1", "b"), labelled_id("2", "a")]);
}

#[test]
fn only_competitors_are_ranked() {
    let mut entries = three_competitors();
    for (entry, role) in entries.iter_mut().zip([Role::Floor, Role::Engine, Role::Twin]) {
        entry.role = role;
    }
    let found = rank_entries(entries, "read:1");
    assert!(found.places.is_empty() && found.unranked.is_empty());
    assert_eq!(explain_ranking(&found), ["No competitor could be ranked."]);
}

#[test]
fn unranked_competitors_name_the_missing_part() {
    let mut entries = three_competitors();
    entries[0].cells.remove(1);
    entries[1].size = None;
    let found = rank_entries(entries.clone(), "read:1,size:1");
    assert_eq!(list_places(&found), [labelled_id("1", "small")]);
    let reasons: Vec<&str> = found.unranked.iter().map(|entry| entry.why.as_str()).collect();
    assert_eq!(reasons, ["reading was not timed", "it wrote no bytes that could be counted"]);
    assert!(explain_ranking(&found).contains(&"writer is not ranked: reading was not timed.".to_owned()));
    assert_eq!(rank_entries(entries, "memory:1").unranked[0].why, "its memory was not measured");
}

#[test]
fn operations_without_common_turns_are_not_added() {
    let sample = |round, ns| vec![Sample { round, turn: 0, ns }];
    let lonely = make_entry("lonely", 1, vec![(Write, sample(0, 1.0)), (Read, sample(1, 1.0))]);
    let found = rank_entries(vec![lonely], "write:1,read:1");
    assert_eq!(found.unranked[0].why, "its operations were not timed in the same turns");
}

#[test]
fn invalid_samples_do_not_affect_a_ranking() {
    let mut entries = three_competitors();
    for ns in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        entries[0].cells[0].samples.push(Sample { round: 9, turn: 9, ns });
    }
    entries[1].cells[1].samples.iter_mut().for_each(|sample| sample.ns = f64::NAN);
    let found = rank_entries(entries, "write:1,read:1");
    assert_eq!(list_places(&found), [labelled_id("1", "writer"), labelled_id("2", "small")]);
    assert!(found.places.iter().all(|place| place.cost.high.is_finite() && place.cost.low > 0.0));
}

#[test]
fn memory_is_counted_from_the_start_to_the_peak() {
    let step = |step: &str, resident, peak| MemoryStep { step: step.to_owned(), resident, peak };
    let mut entries = vec![make_competitor("a", 1.0, 1.0, 1), make_competitor("b", 1.0, 1.0, 1)];
    entries[0].memory = vec![step("start", 100, 100), step("data", 300, 900), step("read", 400, 500)];
    entries[1].memory = vec![step("start", 600, 600), step("data", 700, 1000)];
    let found = rank_entries(entries, "memory:2");
    assert_eq!(list_places(&found), [labelled_id("1", "b"), labelled_id("2", "a")]);
    assert_eq!(found.places[1].cost, crate::stats::exact_interval(1600.0));
    assert_eq!(found.places[1].times, Some(crate::stats::exact_interval(2.0)));
}

#[test]
fn explanations_name_the_first_and_the_deciding_parts() {
    let sentences = explain_ranking(&rank_entries(three_competitors(), "write:1,read:100,size:0.1"));
    assert!(sentences[0].starts_with("reader costs least: 11."), "{sentences:#?}");
    assert!(sentences[0].contains(" µs a use; the next, small, costs 8."), "{sentences:#?}");
    assert_eq!(
        sentences[1],
        "Of what reader costs, writing is 9 %, reading is 88 % and size is 4 %. What decides against small is \
         reading."
    );
    assert_eq!(sentences[2], "reader would also be the first for reading alone.");
    assert_eq!(sentences[3], "For writing alone, the first would be writer.");
    assert_eq!(sentences[4], "For the size alone, the first would be small.");
    assert_eq!(sentences.len(), 5);
}

#[test]
fn explanations_name_parts_that_cost_less_but_not_enough() {
    let sentences = explain_ranking(&rank_entries(three_competitors(), "write:1,read:10,size:0.5"));
    assert!(
        sentences[1].contains("What decides against small is reading; it costs less for size, which"),
        "{sentences:#?}"
    );
}

#[test]
fn explanations_mention_ties() {
    let entries = vec![
        make_competitor("a", 100.0, 100.0, 1),
        make_competitor("b", 100.0, 100.0, 1),
        make_competitor("c", 300.0, 300.0, 1),
        make_competitor("d", 300.0, 300.0, 1),
    ];
    let sentences = explain_ranking(&rank_entries(entries, "read:1"));
    assert!(
        sentences[0].contains(" cost least, about ")
            && sentences[0].contains("a use, and can't be distinguished; the next,")
    );
    assert!(sentences.iter().any(|sentence| sentence.ends_with(" are tied on rank 3.")), "{sentences:#?}");
}

#[test]
fn work_grows_linearly_with_the_number_of_competitors() {
    let work = |count: u32| {
        let mut random = Rng::with_seed(7);
        let machine =
            SimulatedMachine { rounds: 3, turns: 2, process: 0.01, noise: 0.02, ..SimulatedMachine::default() };
        let mut timed = |ns| machine.sample_program(&mut random, ns);
        // Neighbors have no significant difference, so they share ranks.
        let one =
            |n| make_entry(&format!("c{n}"), 10, vec![(Write, timed(100.0 + f64::from(n))), (Read, timed(100.0))]);
        let entries = (0..count).map(one).collect();
        count_multiplications(|| {
            assert_eq!(rank_entries(entries, "write:1,read:1,size:1").places.len(), count as usize)
        })
    };
    let all = [5, 10, 20, 40, 80].map(work);
    assert!(all[0] > 0);
    assert!(all.windows(2).all(|pair| pair[1] < pair[0] * 5 / 2), "{all:?}");
}
