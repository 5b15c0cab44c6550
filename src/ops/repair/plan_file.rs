//! A plan in a file, so that a person can look at it before that very plan is carried out.
//!
//! The file carries its own digest. It is never obeyed: what it asks for must be what the program
//! itself plans for the store as it is then, to the byte.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Options, Plan, Planned, Work};
use crate::diag::{Code, Error, Result};
use crate::layout::WorkerId;
use crate::ops::change::{Scope, fingerprint};

/// The version of a plan file that this program writes.
const PLAN_SCHEMA: &str = "wagg.repair.plan/1";

/// An item as data: its fields, and what carries it out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The item.
    pub item: Map<String, Value>,
    /// Its place among the works.
    pub work: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Locked {
    /// The Worker whose lock it needs; none for that of the store.
    worker_id: Option<WorkerId>,
    work: Work,
}

/// A plan with the options that it was made with.
#[derive(Debug, Clone)]
pub struct PlanFile {
    /// What was asked for.
    pub options: Options,
    pub(super) entries: Vec<Entry>,
    pub(super) works: Vec<Planned>,
    not_looked_at: u64,
}

#[derive(Serialize, Deserialize)]
struct File {
    schema: String,
    made_at: String,
    wagg_version: String,
    store: String,
    #[serde(default)]
    workers: Vec<WorkerId>,
    #[serde(default)]
    only: Vec<String>,
    allow_lossy: bool,
    max_line: u64,
    not_looked_at: u64,
    works: Vec<Locked>,
    items: Vec<Entry>,
}

fn mismatch(what: impl Into<String>) -> Error {
    Error::new(Code::PlanMismatch, what).hint("make the plan anew: wagg repair --plan-out FILE")
}

impl PlanFile {
    /// A plan as it was just made.
    ///
    /// # Errors
    /// It can not be written as JSON.
    pub fn of(plan: &Plan, options: &Options) -> Result<Self> {
        let entries = plan
            .items
            .iter()
            .map(|item| match serde_json::to_value(item) {
                Ok(Value::Object(map)) => Ok(Entry {
                    item: map,
                    work: item.work,
                }),
                _ => Err(Error::new(
                    Code::Internal,
                    "an item of a plan can not be written",
                )),
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            options: options.clone(),
            entries,
            works: plan.works.clone(),
            not_looked_at: plan.not_looked_at,
        })
    }

    /// The items, as JSON shows them.
    #[must_use]
    pub fn items(&self) -> Vec<Map<String, Value>> {
        self.entries.iter().map(|e| e.item.clone()).collect()
    }

    /// Places that could not be looked at.
    #[must_use]
    pub const fn not_looked_at(&self) -> u64 {
        self.not_looked_at
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// It can not be written as JSON.
    pub fn to_bytes(&self, store: &std::path::Path) -> Result<Vec<u8>> {
        let file = File {
            schema: PLAN_SCHEMA.to_owned(),
            made_at: crate::store::journal::now(),
            wagg_version: env!("CARGO_PKG_VERSION").to_owned(),
            store: store.to_string_lossy().into_owned(),
            workers: self.options.workers.clone(),
            only: self.options.only.iter().map(ToString::to_string).collect(),
            allow_lossy: self.options.allow_lossy,
            max_line: self.options.limits.max_line,
            not_looked_at: self.not_looked_at,
            works: self
                .works
                .iter()
                .map(|planned| Locked {
                    worker_id: match planned.scope {
                        Scope::Worker(id) => Some(id),
                        Scope::Catalog => None,
                    },
                    work: planned.work.clone(),
                })
                .collect(),
            items: self.entries.clone(),
        };
        let unwritable =
            |e| Error::new(Code::Internal, "a plan can not be written as JSON").caused_by(e);
        let mut value = serde_json::to_value(&file).map_err(unwritable)?;
        let digest = fingerprint(PLAN_SCHEMA, &value);
        if let Value::Object(map) = &mut value {
            map.insert("digest".to_owned(), digest.into());
        }
        let mut bytes = serde_json::to_vec_pretty(&value).map_err(unwritable)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// `plan_mismatch`: it is no plan, or is not what it was when it was made.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let no_plan =
            |e: serde_json::Error| mismatch("the file is no plan of wagg repair").caused_by(e);
        let mut value: Value = serde_json::from_slice(bytes).map_err(no_plan)?;
        let digest = value
            .as_object_mut()
            .and_then(|map| map.remove("digest"))
            .and_then(|digest| digest.as_str().map(str::to_owned));
        if digest.as_deref() != Some(&fingerprint(PLAN_SCHEMA, &value)) {
            return Err(mismatch(
                "the plan is not what it was when it was made: its digest does not fit",
            ));
        }
        let file: File = serde_json::from_value(value).map_err(no_plan)?;
        if file.schema != PLAN_SCHEMA {
            return Err(mismatch(format!(
                "{:?} is no plan of this version",
                file.schema
            )));
        }
        let only = file
            .only
            .iter()
            .map(|code| code.parse::<Code>())
            .collect::<std::result::Result<BTreeSet<Code>, _>>()
            .map_err(|e| mismatch(e.to_string()))?;
        let works: Vec<Planned> = file
            .works
            .into_iter()
            .map(|locked| Planned {
                scope: locked.worker_id.map_or(Scope::Catalog, Scope::Worker),
                work: locked.work,
            })
            .collect();
        let mut options = Options {
            workers: file.workers,
            only,
            allow_lossy: file.allow_lossy,
            ..Options::default()
        };
        options.limits.max_line = file.max_line;
        Ok(Self {
            options,
            entries: file.items,
            works,
            not_looked_at: file.not_looked_at,
        })
    }
}
