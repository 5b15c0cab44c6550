//! `worker peer add` and `worker peer remove`: whom a Worker may talk to. A peer grants nothing
//! (C30), and may live elsewhere.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::metadata::{self, NamedIn};
use crate::diag::{Code, Error, Result};
use crate::layout::WorkerName;
use crate::ops::change::{Answer, Change, Liveness, Planned, Scope, View};
use crate::ops::resolve::Resolver;
use crate::store::Store;

/// What becomes of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// It is on the list.
    Add,
    /// It is not.
    Remove,
}

/// Puts a peer on a Worker's list, or takes it off.
#[derive(Debug)]
pub struct PeerChange {
    /// What is wished for.
    pub wish: Wish,
    /// Who.
    pub named: Named,
}

/// The Worker, and the peer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// What names the Worker.
    pub worker: String,
    /// What names the peer: a reference to a Worker of the store, or `name:` and any name.
    pub peer: String,
}

const PEERS: &str = "peers";

impl Change for PeerChange {
    fn command(&self) -> &'static str {
        match self.wish {
            Wish::Add => "worker peer add",
            Wish::Remove => "worker peer remove",
        }
    }

    fn arguments(&self) -> Value {
        json!({ "worker": self.named.worker, "peer": self.named.peer })
    }

    fn scope(&self, store: &Store) -> Result<Scope> {
        Scope::of(&Resolver::new(store).worker(&self.named.worker)?)
    }

    fn liveness(&self, scope: Scope) -> Liveness {
        scope.liveness()
    }

    fn plan(&self, view: &View<'_>, scope: Scope) -> Result<Planned> {
        let id = scope.worker()?;
        view.worker(id)?;
        let metadata = view.metadata(id)?;
        let names: Vec<&str> = metadata
            .iter()
            .flat_map(|(_, document)| &document.peers)
            .map(|peer| peer.worker_name.as_str())
            .collect();
        let (name, there) = match metadata::named_in(view.store(), &self.named.peer, &names)? {
            NamedIn::List(name) => (name, true),
            NamedIn::Elsewhere(name) => (name, false),
        };
        let mut answer = Answer::of(id, id.to_string());
        answer.field("peer", &name);
        if there == (self.wish == Wish::Add) {
            return Ok(Planned::Nothing(answer));
        }
        if self.wish == Wish::Add && name == WorkerName::of(id).as_str() {
            return Err(Error::new(
                Code::Usage,
                format!("Worker {id} can not be a peer of itself"),
            )
            .hint(format!("wagg worker show {id}")));
        }
        if self.wish == Wish::Add && name.chars().any(char::is_control) {
            return Err(Error::new(
                Code::UnsafeName,
                format!("{name:?} can not be the name of a peer: it holds a control character"),
            )
            .hint("name a Worker, or name:NAME for one that lives elsewhere"));
        }
        if self.wish == Wish::Add
            && let Err(e) = name.parse::<WorkerName>()
        {
            return Err(Error::new(
                Code::UnsafeName,
                format!("{name:?} can not be the name of a peer: {e}"),
            )
            .hint("name a Worker, or name:NAME for one that lives elsewhere"));
        }
        match &metadata {
            Some((bytes, _)) => metadata::replace(id, bytes, answer, |map| match self.wish {
                Wish::Add => add(map, &name),
                Wish::Remove => remove(map, &name),
            }),
            None => metadata::make(id, answer, |map| add(map, &name)),
        }
    }
}

fn name_of(peer: &Value) -> &str {
    peer.get("worker_name")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Adds a peer where it belongs: a Runtime keeps them sorted by name.
fn add(map: &mut Map<String, Value>, name: &str) {
    let mut peers = match map.get(PEERS) {
        Some(Value::Array(all)) => all.clone(),
        _ => Vec::new(),
    };
    peers.push(json!({ "worker_name": name }));
    peers.sort_by(|a, b| name_of(a).cmp(name_of(b)));
    map.insert(PEERS.to_owned(), Value::Array(peers));
}

fn remove(map: &mut Map<String, Value>, name: &str) {
    if let Some(Value::Array(peers)) = map.get_mut(PEERS) {
        peers.retain(|peer| name_of(peer) != name);
        if peers.is_empty() {
            map.shift_remove(PEERS);
        }
    }
}
