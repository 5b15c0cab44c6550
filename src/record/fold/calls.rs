//! Which call ids a Segment used: one hash for each.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher};

/// The call ids that were used, as hashes under a seed that nobody can foresee, so that no file
/// can be made whose ids all fall together.
pub(super) struct Calls {
    pub seed: u64,
    pub seen: HashSet<u64>,
}

impl Calls {
    /// None so far, and a seed of its own.
    pub fn new() -> Self {
        Self {
            seed: RandomState::new().hash_one(()),
            seen: HashSet::new(),
        }
    }

    /// The hash of an id. It must be the same in another process that has the seed, which that of
    /// a [`RandomState`] is not.
    pub fn hash(&self, id: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.seed.hash(&mut hasher);
        id.hash(&mut hasher);
        hasher.finish()
    }

    /// Whether the id of this hash was used.
    pub fn contains(&self, key: u64) -> bool {
        self.seen.contains(&key)
    }

    /// Notes the hash of an id; false if it was used.
    pub fn insert(&mut self, key: u64) -> bool {
        self.seen.insert(key)
    }
}
