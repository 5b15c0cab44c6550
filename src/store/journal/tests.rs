//! The journal under crashes, retries, damage and growth.

use std::path::Path;

use serde_json::json;

use super::index::INDEX;
use super::state::TAIL;
use super::*;
use crate::diag::{Code, Result};
use crate::layout::{OperationId, WorkerId};
use crate::store::fs::fault::{Fault, Plan, Step, crash_everywhere};
use crate::store::fs::{Dir, Loss, clear_leftover, create_new_via, make_durable, temp_name};
use crate::store::lock::{Guard, LockRequest, Locks};

const SEVEN: WorkerId = WorkerId::Number(7);

fn make_store(root: &Path) {
    std::fs::create_dir_all(root.join("workers/7")).unwrap();
}

/// Waits: a test that starts a process holds all locks of all tests for the blink of an eye.
fn request() -> LockRequest<'static> {
    LockRequest {
        wait: std::time::Duration::from_secs(20),
        ..LockRequest::now("test")
    }
}

fn intent(request_id: Option<&str>, fingerprint: &str) -> Intent {
    let mut intent = Intent::new("tester", "test make", fingerprint.to_owned()).in_worker(SEVEN);
    intent.request_id = request_id.map(str::to_owned);
    intent.minted = json!({ "made": intent.operation_id });
    intent
}

fn receipt_of(intent: &Intent) -> Receipt {
    Receipt::new(&json!({
        "schema": "wagg.test/1",
        "operation_id": intent.operation_id,
        "number": 12345678901234567890u64,
    }))
    .unwrap()
}

fn made(intent: &Intent) -> String {
    format!("{}.made", intent.operation_id)
}

/// A whole operation in Worker 7, as a command would do it: what it makes is one file.
fn operate(root: &Path, request_id: Option<&str>) -> Result<Receipt> {
    let root = Dir::open_root(root).unwrap();
    let mut locks = Locks::open(&root)?;
    let guard = locks.worker(SEVEN, &request())?;
    let worker = guard.write_at(Path::new("workers/7"))?;
    let journal = Journal::new(&guard, request());
    for intent in journal.unsettled_in(SEVEN)? {
        for left in &intent.leftovers {
            clear_leftover(&worker, left)?;
        }
        if worker.try_stat(made(&intent)).unwrap().is_some() {
            make_durable(&worker, made(&intent))?;
            journal.settle(&intent, Outcome::Done, receipt_of(&intent))?;
        } else {
            journal.clear(&intent)?;
        }
    }
    let mut intent = intent(request_id, "abc");
    let temp = temp_name(made(&intent));
    intent.leftovers = vec![temp.to_str().unwrap().to_owned()];
    match journal.begin(intent, false)? {
        Begin::Replay(replay) => Ok(replay.receipt),
        Begin::Unsettled(intent) => panic!("not settled: {intent:?}"),
        Begin::Fresh(operation) => {
            create_new_via(&worker, made(operation.intent()), temp, b"effect\n")?;
            let receipt = receipt_of(operation.intent());
            operation.finish(Outcome::Done, receipt)
        }
    }
}

/// The effects in a store: finished ones and leftovers.
fn effects(root: &Path) -> (usize, usize) {
    let names: Vec<String> = std::fs::read_dir(root.join("workers/7"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    let left = names.iter().filter(|name| name.starts_with('.')).count();
    (names.len() - left, left)
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// C15, C16: the same request id acts once, whatever was killed when, and gives one receipt.
fn exactly_once(fill: impl Fn(&Path), bound: &[String], before: usize) -> u64 {
    let first = std::cell::RefCell::new(None);
    crash_everywhere(
        |root| {
            make_store(root);
            fill(root);
            root.to_path_buf()
        },
        |root| *first.borrow_mut() = operate(root, Some("r-1")).ok(),
        |root, crashed| {
            let second =
                operate(root, Some("r-1")).unwrap_or_else(|e| panic!("{crashed:?}: {e:?}"));
            let third = operate(root, Some("r-1")).unwrap();
            assert_eq!(second, third, "{crashed:?}");
            if let Some(first) = first.borrow_mut().take() {
                assert_eq!(first, second, "{crashed:?}");
            }
            assert_eq!(effects(root), (before + 1, 0), "{crashed:?}");
            let store = Dir::open_root(root).unwrap();
            assert!(unsettled(&store).unwrap().is_empty(), "{crashed:?}");
            let mut all = operations(&store).unwrap();
            assert!(all.by_ref().all(|o| o.is_ok()), "{crashed:?}");
            assert!(all.damaged().is_empty(), "{crashed:?}");
            for id in bound {
                let known = lookup(&store, &request(), id, "abc", None).unwrap();
                assert!(matches!(known, Lookup::Replay(_)), "{crashed:?}: {id}");
            }
            // Another operation goes on as if nothing had been.
            operate(root, None).unwrap();
            assert_eq!(effects(root), (before + 2, 0), "{crashed:?}");
        },
    )
    .unwrap()
}

/// Says whether the next operation in a copy of this store writes the index.
fn writes_index(store: &Path) -> bool {
    let temp = tempfile::tempdir().unwrap();
    copy_tree(store, temp.path());
    let fault = Fault::new(Plan::Count);
    fault.run(|| operate(temp.path(), None)).unwrap();
    let trail = fault.trail();
    trail
        .iter()
        .any(|(_, path)| path.to_string_lossy().contains(INDEX))
}

#[test]
fn c15_exactly_once_in_a_new_store() {
    assert!(exactly_once(|_| (), &[], 0) > 10);
}

#[test]
fn c15_exactly_once_when_the_index_is_written() {
    let temp = tempfile::tempdir().unwrap();
    make_store(temp.path());
    let journal = temp.path().join(".wagg/journal.jsonl");
    let mut bound: Vec<String> = Vec::new();
    let more = |bound: &mut Vec<String>| {
        let id = format!("before-{}", bound.len());
        operate(temp.path(), Some(&id)).unwrap();
        bound.push(id);
    };
    // To where the next beginning finds too much to read.
    while !std::fs::metadata(&journal).is_ok_and(|m| m.len() > TAIL) {
        more(&mut bound);
    }
    assert!(writes_index(temp.path()));
    exactly_once(|root| copy_tree(temp.path(), root), &bound, bound.len());
    // And again where there is an index already, which is written in place.
    more(&mut bound);
    assert!(temp.path().join(".wagg").join(INDEX).exists());
    while !writes_index(temp.path()) {
        more(&mut bound);
    }
    exactly_once(|root| copy_tree(temp.path(), root), &bound, bound.len());
}

/// C16: whoever settles the intent of a dead process may die as well, anywhere.
#[test]
fn c16_settling_survives_every_crash() {
    let temp = tempfile::tempdir().unwrap();
    make_store(temp.path());
    operate(temp.path(), Some("first")).unwrap();
    operate(temp.path(), None).unwrap();
    // In a copy, as below: the rights of a copy are set anew, which is a step.
    let copy = tempfile::tempdir().unwrap();
    copy_tree(temp.path(), copy.path());
    let count = Fault::new(Plan::Count);
    count.run(|| operate(copy.path(), None)).unwrap();
    let at = |step| {
        let of_worker =
            |(s, path): &(Step, std::path::PathBuf)| *s == step && path.starts_with("workers/7");
        count.trail().iter().position(of_worker).unwrap() as u64 + 1
    };
    // Killed after its temporary file was made, and after its commit point.
    for (step, made) in [(at(Step::Write), 0), (at(Step::SyncDir), 1)] {
        let dead = tempfile::tempdir().unwrap();
        copy_tree(temp.path(), dead.path());
        let fault = Fault::new(Plan::Die(step));
        fault.run(|| operate(dead.path(), None)).unwrap_err();
        assert_eq!(effects(dead.path()), (2 + made, 1 - made));
        let bound = ["first".to_owned()];
        exactly_once(|root| copy_tree(dead.path(), root), &bound, 2 + made);
    }
}

/// C15, C16: a process dies, another goes on from what it left, and then the power goes: what was
/// answered in between stands.
#[test]
fn c15_what_was_settled_survives_a_power_cut() {
    for loss in [
        Loss::All,
        Loss::Data,
        Loss::Zeroed,
        Loss::Reordered,
        Loss::Names,
    ] {
        for at in 1.. {
            let temp = tempfile::tempdir().unwrap();
            let [root, aside] = ["root", "aside"].map(|n| temp.path().join(n));
            std::fs::create_dir(&aside).unwrap();
            make_store(&root);
            let fault = Fault::with_power(Plan::Die(at), &aside).unwrap();
            let first = fault.run(|| operate(&root, Some("r"))).ok();
            let last = fault.trail().last().cloned();
            let died = fault.died();
            fault.go_on(Plan::Count);
            let second = fault.run(|| operate(&root, Some("r"))).unwrap();
            fault.power_off(loss).unwrap();
            let third = Fault::new(Plan::Count)
                .run(|| operate(&root, Some("r")))
                .unwrap();
            assert_eq!(second, third, "{loss:?} {at} {last:?}");
            assert!(first.is_none_or(|first| first == second));
            assert_eq!(effects(&root), (1, 0), "{loss:?} {at} {last:?}");
            if !died {
                break;
            }
        }
    }
}

/// C14: one sync to begin, one to end with a request id, none without.
#[test]
fn c14_the_syncs_of_an_operation() {
    let temp = tempfile::tempdir().unwrap();
    make_store(temp.path());
    operate(temp.path(), None).unwrap();
    let root = Dir::open_root(temp.path()).unwrap();
    let mut locks = Locks::open(&root).unwrap();
    let guard = locks.worker(SEVEN, &request()).unwrap();
    let journal = Journal::new(&guard, request());
    let count = |f: &dyn Fn()| {
        let fault = Fault::new(Plan::Count);
        fault.run(f);
        fault.count(Step::SyncFile) + fault.count(Step::SyncDir) + fault.count(Step::SyncFs)
    };
    for (request_id, syncs) in [(Some("x"), 2), (None, 1)] {
        let done = count(&|| {
            let Begin::Fresh(operation) = journal.begin(intent(request_id, "f"), false).unwrap()
            else {
                panic!("not fresh")
            };
            let receipt = receipt_of(operation.intent());
            operation.finish(Outcome::Done, receipt).unwrap();
        });
        assert_eq!(done, syncs, "{request_id:?}");
    }
    let many = count(&|| {
        let intents = (0..32)
            .map(|n| (intent(Some(&n.to_string()), "f"), false))
            .collect();
        let ended = journal
            .begin_many(intents)
            .unwrap()
            .into_iter()
            .map(|begun| {
                let Ok(Begin::Fresh(operation)) = begun else {
                    panic!("not fresh")
                };
                let receipt = receipt_of(operation.intent());
                (operation, Outcome::Done, receipt)
            });
        journal.finish_many(ended.collect()).unwrap();
    });
    assert_eq!(many, 2);
    let none = count(&|| {
        let nothing = intent(Some("nothing"), "f");
        let receipt = receipt_of(&nothing);
        let known = journal
            .record(nothing, false, Outcome::NoChange, receipt)
            .unwrap();
        assert_eq!(known, Lookup::Unknown);
    });
    assert_eq!(none, 1);
    assert_eq!(operations(&root).unwrap().count(), 1 + 2 + 32 + 1);
}

/// C15: other arguments, or another actor that was named, are refused; what failed is not bound.
#[test]
fn c15_a_request_id_is_bound_to_its_arguments() {
    let temp = tempfile::tempdir().unwrap();
    make_store(temp.path());
    let root = Dir::open_root(temp.path()).unwrap();
    assert_eq!(
        lookup(&root, &request(), "r", "f", None).unwrap(),
        Lookup::Unknown
    );
    assert!(!temp.path().join(".wagg").exists(), "looking makes nothing");
    let mut locks = Locks::open(&root).unwrap();
    let guard = locks.worker(SEVEN, &request()).unwrap();
    let journal = Journal::new(&guard, request());
    let Begin::Fresh(failing) = journal.begin(intent(Some("r"), "f"), false).unwrap() else {
        panic!("not fresh")
    };
    let id = failing.id();
    assert!(matches!(
        lookup(&root, &request(), "r", "other", None).unwrap(),
        Lookup::Unsettled(i) if i.operation_id == id
    ));
    assert!(matches!(
        journal.begin(intent(Some("r"), "f"), false).unwrap(),
        Begin::Unsettled(i) if i.operation_id == id
    ));
    failing.clear().unwrap();
    assert_eq!(
        lookup(&root, &request(), "r", "f", None).unwrap(),
        Lookup::Unknown
    );
    let Begin::Fresh(operation) = journal.begin(intent(Some("r"), "f2"), false).unwrap() else {
        panic!("not fresh")
    };
    let receipt = receipt_of(operation.intent());
    operation.finish(Outcome::Done, receipt.clone()).unwrap();
    for (fingerprint, actor) in [("f", None), ("f2", Some("someone else"))] {
        let error = lookup(&root, &request(), "r", fingerprint, actor).unwrap_err();
        assert_eq!(error.code, Code::RequestMismatch);
    }
    for actor in [None, Some("tester")] {
        let Lookup::Replay(replay) = lookup(&root, &request(), "r", "f2", actor).unwrap() else {
            panic!("not known")
        };
        assert_eq!(replay.receipt.as_json(), receipt.as_json());
    }
    let mut other = intent(Some("r"), "f2");
    other.actor = "someone else".to_owned();
    let error = journal.begin(other.clone(), true).map(drop).unwrap_err();
    assert_eq!(error.code, Code::RequestMismatch);
    assert!(matches!(
        journal.begin(other, false).unwrap(),
        Begin::Replay(_)
    ));
    // Two with one id in one batch: the second waits for the first.
    let twins = vec![
        (intent(Some("t"), "f"), false),
        (intent(Some("t"), "f"), false),
    ];
    let begun = journal.begin_many(twins).unwrap();
    assert!(matches!(
        &begun[..],
        [Ok(Begin::Fresh(_)), Ok(Begin::Unsettled(_))]
    ));
}

/// C14: what a change reads does not grow with the journal, and no request id is forgotten.
#[test]
fn c14_the_cost_does_not_grow() {
    let temp = tempfile::tempdir().unwrap();
    make_store(temp.path());
    let root = Dir::open_root(temp.path()).unwrap();
    let mut locks = Locks::open(&root).unwrap();
    let guard = locks.worker(SEVEN, &request()).unwrap();
    let journal = Journal::new(&guard, request());
    let mut stays = None;
    let mut syncs = 0;
    for batch in 0..60 {
        let fault = Fault::new(Plan::Count);
        fault.run(|| {
            let intents = (0..50)
                .map(|n| (intent(Some(&format!("{batch}-{n}")), "f"), false))
                .collect();
            let mut ended = Vec::new();
            for (n, begun) in journal.begin_many(intents).unwrap().into_iter().enumerate() {
                let Ok(Begin::Fresh(operation)) = begun else {
                    panic!("not fresh")
                };
                if batch == 0 && n == 0 {
                    // Dies without an outcome, and is never settled.
                    stays = Some(operation.id());
                    continue;
                }
                let receipt = receipt_of(operation.intent());
                ended.push((operation, Outcome::Done, receipt));
            }
            journal.finish_many(ended).unwrap();
        });
        syncs = syncs.max(fault.count(Step::SyncFile));
    }
    assert!(syncs <= 4, "{syncs}");
    // 3,000 operations later, what is read is one tail.
    let (file, state) = super::lookup::read_state(guard.wagg()).unwrap().unwrap();
    assert!(state.tail() < 60_000, "{}", state.tail());
    assert!(file.metadata().unwrap().len() > 1_500_000);
    let open = journal.unsettled_in(SEVEN).unwrap();
    assert_eq!(
        open.iter().map(|i| i.operation_id).collect::<Vec<_>>(),
        [stays.unwrap()]
    );
    let known = |what: &str, step: usize| {
        for batch in (0..60).step_by(step) {
            for n in [0, 49] {
                let id = format!("{batch}-{n}");
                let found = lookup(&root, &request(), &id, "f", None).unwrap();
                let stays = (batch, n) == (0, 0);
                let fits = match found {
                    Lookup::Replay(_) => !stays,
                    Lookup::Unsettled(_) => stays,
                    Lookup::Unknown => false,
                };
                assert!(fits, "{what}: {id}");
            }
        }
        assert_eq!(
            lookup(&root, &request(), "61-0", "f", None).unwrap(),
            Lookup::Unknown
        );
    };
    known("with its index", 1);
    // The index is no authority: damaged anywhere, cut, of another journal, or gone.
    let path = temp.path().join(".wagg").join(INDEX);
    let sound = std::fs::read(&path).unwrap();
    for at in (0..sound.len()).step_by(4096) {
        let mut bad = sound.clone();
        bad[at + 30] ^= 1;
        std::fs::write(&path, &bad).unwrap();
        if at < 3 * 4096 {
            known("with a bad page", 29);
        }
    }
    std::fs::write(&path, &sound[..sound.len() / 2]).unwrap();
    known("with half of its index", 29);
    std::fs::write(&path, b"").unwrap();
    known("with an empty index", 29);
    std::fs::remove_file(&path).unwrap();
    known("without its index", 29);
    let Begin::Fresh(operation) = journal.begin(intent(None, "f"), false).unwrap() else {
        panic!("not fresh")
    };
    operation.clear().unwrap();
    assert!(path.exists(), "made again");
    known("with a new index", 29);
}

/// The newest come first, with their outcomes, through blocks of any size.
#[test]
fn operations_are_read_from_the_end() {
    let temp = tempfile::tempdir().unwrap();
    make_store(temp.path());
    let root = Dir::open_root(temp.path()).unwrap();
    assert_eq!(operations(&root).unwrap().count(), 0);
    let mut locks = Locks::open(&root).unwrap();
    let guard = locks.worker(SEVEN, &request()).unwrap();
    let journal = Journal::new(&guard, request());
    let mut ids = Vec::new();
    for n in 0..40usize {
        let mut intent = intent(None, "f");
        intent.args = json!("x".repeat(n * 5000));
        let Begin::Fresh(operation) = journal.begin(intent, false).unwrap() else {
            panic!("not fresh")
        };
        ids.push(operation.id());
        if n % 3 == 0 {
            let receipt = receipt_of(operation.intent());
            operation.finish(Outcome::Done, receipt).unwrap();
        }
    }
    ids.reverse();
    let read: Vec<Operation> = operations(&root).unwrap().map(|o| o.unwrap()).collect();
    assert_eq!(
        read.iter()
            .map(|o| o.intent.operation_id)
            .collect::<Vec<_>>(),
        ids
    );
    assert_eq!(read.iter().filter(|o| o.ending.is_some()).count(), 14);
    assert_eq!(unsettled(&root).unwrap().len(), 26);
    let one = find_operation(&root, ids[39]).unwrap().unwrap();
    assert_eq!(one.ending.unwrap().outcome, Outcome::Done);
    assert!(
        find_operation(&root, OperationId::mint())
            .unwrap()
            .is_none()
    );
}

/// A torn tail is put aside, and a damaged line hides no other.
#[test]
fn c4_a_torn_journal_goes_on() {
    let temp = tempfile::tempdir().unwrap();
    make_store(temp.path());
    operate(temp.path(), Some("a")).unwrap();
    let path = temp.path().join(".wagg/journal.jsonl");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"x\n{\"type\":\"intent\",\"operation");
    std::fs::write(&path, &bytes).unwrap();
    operate(temp.path(), Some("b")).unwrap();
    let root = Dir::open_root(temp.path()).unwrap();
    let mut all = operations(&root).unwrap();
    assert_eq!(all.by_ref().count(), 2);
    assert_eq!(all.damaged().len(), 1);
    let kept = crate::store::quarantined(&root).unwrap();
    let items = crate::store::quarantined_items(&root, kept[0])
        .unwrap()
        .unwrap();
    let bytes = crate::store::quarantined_bytes(&root, kept[0], &items[0])
        .unwrap()
        .unwrap();
    assert_eq!(bytes, b"{\"type\":\"intent\",\"operation");
    assert_eq!(effects(temp.path()), (2, 0));
}

/// C15: what is pruned is forgotten, what is not stays, and what is unsettled always does.
#[test]
fn c15_prune_says_what_it_forgets() {
    let temp = tempfile::tempdir().unwrap();
    make_store(temp.path());
    let root = Dir::open_root(temp.path()).unwrap();
    for n in 0..40 {
        operate(temp.path(), Some(&n.to_string())).unwrap();
    }
    let mut locks = Locks::open(&root).unwrap();
    let guard = locks.worker(SEVEN, &request()).unwrap();
    let journal = Journal::new(&guard, request());
    drop(journal.begin(intent(Some("open"), "abc"), false).unwrap());
    let old = |ending: &Ending| {
        ending
            .request_id
            .as_ref()
            .is_some_and(|r| r.parse().is_ok_and(|n: u32| n < 30))
    };
    // What a prune left that was killed is cleared by the next.
    let torn = temp.path().join(".wagg").join(temp_name("journal.jsonl"));
    std::fs::write(&torn, b"x").unwrap();
    let gone = journal.prunable(old).unwrap();
    assert_eq!(gone.len(), 30);
    journal.prune(&gone, None).unwrap();
    assert!(!torn.exists());
    assert_eq!(journal.prunable(old).unwrap(), []);
    let ask = |id: &str| lookup(&root, &request(), id, "abc", None).unwrap();
    assert_eq!(ask("29"), Lookup::Unknown);
    assert!(matches!(ask("30"), Lookup::Replay(_)));
    assert!(matches!(ask("open"), Lookup::Unsettled(_)));
    assert_eq!(operations(&root).unwrap().count(), 11);
}

/// A journal of a later version is not written.
#[test]
fn a_later_journal_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    make_store(temp.path());
    operate(temp.path(), None).unwrap();
    let path = temp.path().join(".wagg/journal.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        text.replace("\"schema_version\":1", "\"schema_version\":2"),
    )
    .unwrap();
    assert_eq!(
        operate(temp.path(), None).unwrap_err().code,
        Code::UnsupportedSchemaVersion
    );
}

/// Every failure of a disk leaves a state from which the next try goes on, and none acts twice.
#[test]
fn c9_c15_failures_at_every_step() {
    const ERRORS: [rustix::io::Errno; 2] = [rustix::io::Errno::NOSPC, rustix::io::Errno::IO];
    for errno in ERRORS {
        for at in 1.. {
            let temp = tempfile::tempdir().unwrap();
            make_store(temp.path());
            let fault = Fault::new(Plan::Fail(at, errno.raw_os_error()));
            let first = fault.run(|| operate(temp.path(), Some("r")));
            let second = operate(temp.path(), Some("r"))
                .unwrap_or_else(|e| panic!("{:?}: {e:?}", fault.trail().last()));
            assert_eq!(
                effects(temp.path()),
                (1, 0),
                "{at}: {:?}",
                fault.trail().last()
            );
            if let Ok(first) = first {
                assert_eq!(first, second);
            }
            if (fault.trail().len() as u64) < at {
                break;
            }
        }
    }
}
