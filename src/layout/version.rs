//! The schema versions that exist, and what this program does with each.

/// The version of `session.json` and of `migrations/worker-aggregate-v1.json`.
pub const SESSION_SCHEMA: u64 = 1;
/// The version of `migrations/worker-aggregate-v1.json`.
pub const MANIFEST_SCHEMA: u64 = 1;

/// The version of a store, as `runtime.json` and `worker.json` state it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CatalogVersion {
    /// Integer Worker ids. Read and written.
    V1,
    /// UUIDv7 Worker ids, retention archives. Read, never written.
    V3,
    /// Anything else: read as far as it goes, reported, never written.
    Other(u64),
}

impl CatalogVersion {
    /// The version of this number.
    #[must_use]
    pub const fn from_number(n: u64) -> Self {
        match n {
            1 => Self::V1,
            3 => Self::V3,
            n => Self::Other(n),
        }
    }

    /// The number as the documents write it.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            Self::V1 => 1,
            Self::V3 => 3,
            Self::Other(n) => n,
        }
    }

    /// Whether this program changes stores of this version.
    #[must_use]
    pub const fn is_writable(self) -> bool {
        matches!(self, Self::V1)
    }

    /// Whether this program knows the documents of this version.
    #[must_use]
    pub const fn is_known(self) -> bool {
        matches!(self, Self::V1 | Self::V3)
    }
}
