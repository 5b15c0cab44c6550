//! Tests of who owns which Session.

use super::*;

fn id(n: u64) -> SessionId {
    format!("01890000-0000-7000-8000-{n:012x}").parse().unwrap()
}

fn source(folder: &str, name: &str, session: Option<u64>) -> Source {
    let says = Says::Points {
        other_name: (name != folder).then(|| name.to_owned()),
        session: session.map(id),
        segment: None,
    };
    Source {
        says,
        ..Source::new(folder.into(), &Document::Missing)
    }
}

fn catalog(ids: &[u64]) -> Catalog {
    let mut catalog = Catalog::default();
    for n in ids {
        catalog.add(WorkerId::Number(*n), Standing::Known);
    }
    catalog
}

fn claim(ownership: &Ownership, n: u64) -> Claim<'_> {
    ownership.claim_of(WorkerId::Number(n))
}

/// C26: a Session that more than one source points at, catalog Worker or not, goes to none.
#[test]
fn c26_a_shared_session_belongs_to_none() {
    let sources = vec![
        source("worker-runtime-1", "worker-runtime-1", Some(1)),
        source("worker-runtime-2", "worker-runtime-2", Some(2)),
        source("worker-runtime-99", "worker-runtime-99", Some(1)),
        source("old agent", "old agent", Some(2)),
    ];
    let ownership = Ownership::judge(&mut catalog(&[1, 2, 3]), sources);
    for n in [1, 2] {
        let Claim::Shared(session, parties) = claim(&ownership, n) else {
            panic!("{n}");
        };
        assert_eq!((session, parties.len()), (id(n), 2));
    }
    assert_eq!(claim(&ownership, 3), Claim::Nothing);
    assert_eq!(ownership.shared().count(), 2);
    let claimants = ownership.claimants(id(1));
    let [first, second] = &*claimants else {
        panic!()
    };
    assert_eq!(
        (first.standing, second.standing),
        (Standing::Known, Standing::Unknown)
    );
}

/// C26: the same Worker in the store and in a legacy root is one owner; another is not.
#[test]
fn c26_a_worker_shares_nothing_with_itself() {
    let sources = || vec![source("worker-runtime-1", "worker-runtime-1", Some(1))];
    let mut catalog = catalog(&[1, 2]);
    let own = Party::Worker(WorkerId::Number(1));
    catalog.claim(id(1), own, "workers/1/metadata.json".into());
    let ownership = Ownership::judge(&mut catalog, sources());
    assert_eq!(claim(&ownership, 1), Claim::Sole(id(1), None));
    assert_eq!(ownership.claimants(id(1))[0].places.len(), 2);
    let own = Party::Worker(WorkerId::Number(1));
    catalog.claim(id(1), own, "workers/1/metadata.json".into());
    let other = Party::Worker(WorkerId::Number(2));
    catalog.claim(id(1), other, "workers/2/session/session.json".into());
    let ownership = Ownership::judge(&mut catalog, sources());
    assert!(matches!(claim(&ownership, 1), Claim::Shared(..)));
}

#[test]
fn a_name_of_somebody_else_and_doubt_stay_what_they_are() {
    let sources = vec![
        source("worker-runtime-1", "worker-runtime-2", Some(1)),
        source("worker-runtime-3", "worker-runtime-3", None),
    ];
    let mut catalog = catalog(&[1, 2, 3]);
    catalog.add(WorkerId::Number(3), Standing::Doubtful);
    catalog.add(WorkerId::Number(3), Standing::Known);
    assert_eq!(catalog.standing(WorkerId::Number(3)), Standing::Doubtful);
    let ownership = Ownership::judge(&mut catalog, sources);
    assert_eq!(claim(&ownership, 1), Claim::OtherName("worker-runtime-2"));
    assert_eq!(claim(&ownership, 3), Claim::NoSession);
}
