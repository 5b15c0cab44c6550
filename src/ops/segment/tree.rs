//! How the Segments of one Session descend from each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::layout::SegmentId;

/// A Segment's place in the tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// How many Segments stand above it.
    pub depth: u64,
    /// How many were made from it.
    pub children: u64,
    /// Whether it is the last of its siblings.
    pub last: bool,
}

/// Puts Segments in the order of a tree: each before those made from it, siblings in the order of
/// their ids. A source that is not there makes a root; a cycle begins with its lowest id, once.
pub(super) fn order(parents: &BTreeMap<SegmentId, Option<SegmentId>>) -> Vec<(SegmentId, Place)> {
    let mut children: BTreeMap<SegmentId, Vec<SegmentId>> = BTreeMap::new();
    let mut roots = Vec::new();
    for (&id, &parent) in parents {
        match parent.filter(|parent| parents.contains_key(parent)) {
            Some(parent) => children.entry(parent).or_default().push(id),
            None => roots.push(id),
        }
    }
    let mut out = Vec::with_capacity(parents.len());
    let mut seen = BTreeSet::new();
    // What no root leads to is a cycle, or hangs below one.
    for root in roots.into_iter().chain(parents.keys().copied()) {
        let mut todo = vec![(root, 0, true)];
        while let Some((id, depth, last)) = todo.pop() {
            if !seen.insert(id) {
                continue;
            }
            let below = children.get(&id).map_or(&[][..], Vec::as_slice);
            out.push((
                id,
                Place {
                    depth,
                    children: below.len() as u64,
                    last,
                },
            ));
            for (at, &child) in below.iter().enumerate().rev() {
                todo.push((child, depth + 1, at + 1 == below.len()));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u8) -> SegmentId {
        format!("01890000-0000-7000-8000-0000000000{n:02}")
            .parse()
            .unwrap()
    }

    fn ordered(pairs: &[(u8, Option<u8>)]) -> Vec<(u8, u64)> {
        let parents = pairs.iter().map(|(a, b)| (id(*a), b.map(id))).collect();
        order(&parents)
            .into_iter()
            .map(|(one, place)| {
                let n = (0..100).find(|n| id(*n) == one).unwrap();
                (n, place.depth)
            })
            .collect()
    }

    #[test]
    fn every_segment_stands_once_below_its_source() {
        assert_eq!(
            ordered(&[
                (1, None),
                (2, Some(1)),
                (3, Some(5)),
                (4, Some(2)),
                (5, Some(1)),
                (6, None)
            ]),
            [(1, 0), (2, 1), (4, 2), (5, 1), (3, 2), (6, 0)]
        );
        // a source that is not there
        assert_eq!(ordered(&[(2, Some(9)), (3, Some(2))]), [(2, 0), (3, 1)]);
        // cycles, of one too, and what hangs below them
        assert_eq!(
            ordered(&[(1, Some(2)), (2, Some(1)), (3, Some(3)), (4, Some(2))]),
            [(1, 0), (2, 1), (4, 2), (3, 0)]
        );
        assert_eq!(ordered(&[]), []);
    }
}
