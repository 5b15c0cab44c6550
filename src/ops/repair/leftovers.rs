//! What killed processes left: cleared to quarantine, unless its process lives, a run answers, or
//! it may be the only copy of something.

use std::io;
use std::path::Path;

use super::{Item, Options, State, Work, manual};
use crate::diag::{Finding, RepairClass, Result, plural};
use crate::layout::{Leftover, file, leftover};
use crate::ops::change::aside::part_digest;
use crate::record::Source;
use crate::store::fs::{failed, stat_of};
use crate::store::{Dir, EntryKind, Store, lives};

/// How deep folders are compared.
const MAX_DEPTH: u32 = 16;

/// Makes an item of a leftover. `errors` says whether `verify` has an error about a path, `written`
/// whether the plan has what mends or makes it.
pub(super) fn plan(
    store: &Store,
    options: &Options,
    finding: Finding,
    errors: &dyn Fn(&Path) -> bool,
    written: &dyn Fn(&Path) -> bool,
) -> Result<(Item, Option<Work>)> {
    let path = finding.locus.path.clone();
    let look = |e: io::Error| failed("look at", &path, e);
    let parent = path.parent().unwrap_or(Path::new(""));
    let name = path.file_name().unwrap_or_default();
    let dir = match store.dir().dir_at(parent) {
        Ok(dir) => dir,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(gone(finding)),
        Err(e) => return Err(look(e)),
    };
    let Some(stat) = dir.try_stat(name).map_err(look)? else {
        return Ok(gone(finding));
    };
    let text = name.to_string_lossy();
    let kind = leftover(&text);
    let pid = match kind {
        Some(Leftover::Temporary { pid, .. } | Leftover::Staging { pid }) => Some(pid),
        None => None,
    };
    if let Some(pid) = pid.filter(|pid| lives(*pid)) {
        return Ok(left(
            finding,
            &format!("process {pid} lives on this machine and may still be at work with it"),
        ));
    }
    // What wagg itself was filling, or can make anew at any time.
    let index =
        matches!(kind, Some(Leftover::Temporary { target, .. }) if target == "journal.index");
    let ours = parent == Path::new(file::WAGG).join("staging")
        || (parent == Path::new(file::WAGG) && index);
    if !ours {
        let target = match kind {
            Some(Leftover::Temporary { target, .. }) => target,
            _ => file::SESSION_DIR,
        };
        if !written(&dir.path_of(target))
            && let Some(why) = may_be_the_only_copy(&dir, name, target, errors).map_err(look)?
        {
            return Ok(left(finding, &why));
        }
    }
    let (sha256, bytes) = match stat.kind {
        EntryKind::File => (
            Some(part_digest(store.dir(), &path, 0, stat.len)?),
            stat.len,
        ),
        EntryKind::Dir => (None, size(&dir.dir(name).map_err(look)?, 0).map_err(look)?),
        _ => return Ok(left(finding, "it is neither a file nor a folder")),
    };
    let action = format!("move it to quarantine ({})", plural(bytes, "byte", "bytes"));
    let mut item = Item::of(finding, RepairClass::Automatic, action);
    if options.does(RepairClass::Automatic) {
        item.state = State::Planned;
    }
    Ok((
        item,
        Some(Work::Leftover {
            path,
            bytes,
            sha256,
        }),
    ))
}

fn gone(finding: Finding) -> (Item, Option<Work>) {
    let item = Item::of(finding, RepairClass::None, "it is gone by now");
    (item, None)
}

/// A leftover that stays: a person looks at it.
fn left(finding: Finding, why: &str) -> (Item, Option<Work>) {
    let mut item = manual::item(finding, None);
    item.action = format!("nothing is changed: {why}");
    (item, None)
}

/// Why a leftover may hold what is nowhere else, if so.
fn may_be_the_only_copy(
    dir: &Dir,
    name: &std::ffi::OsStr,
    target: &str,
    errors: &dyn Fn(&Path) -> bool,
) -> io::Result<Option<String>> {
    let stat = dir.stat(name)?;
    let empty = match stat.kind {
        EntryKind::Dir => size(&dir.dir(name)?, 0)? == 0,
        _ => stat.len == 0,
    };
    if empty {
        return Ok(None);
    }
    let path = dir.path_of(target);
    let Some(real) = dir.try_stat(target)? else {
        return Ok(Some(format!(
            "{target} is not there, so this may be the only copy; compare with a backup, then rename it or move it away by hand"
        )));
    };
    if real.kind != stat.kind {
        return Ok(Some(format!(
            "{target} is {}, so this may be the only copy",
            real.kind.noun()
        )));
    }
    if stat.kind == EntryKind::Dir {
        return Ok(
            not_inside(&dir.dir(name)?, &dir.dir(target)?, 0)?.map(|only| {
                format!(
                    "it holds {only}, which {target} does not have, so this may be the only copy"
                )
            }),
        );
    }
    Ok(errors(&path).then(|| {
        format!(
            "{target} itself is damaged and this may be a whole version of it; compare the two, then put the right one in place by hand"
        )
    }))
}

/// The first file of a folder that another does not have with the same bytes, or more behind them.
fn not_inside(left: &Dir, real: &Dir, depth: u32) -> io::Result<Option<String>> {
    for entry in left.entries()? {
        let name = entry.name.to_string_lossy().into_owned();
        let there = real.try_stat(&entry.name)?;
        match (entry.kind, there.map(|stat| stat.kind)) {
            (EntryKind::File, kind) => {
                let file = left.file(&entry.name)?;
                if stat_of(&file)?.len == 0 {
                    continue;
                }
                if kind != Some(EntryKind::File) || !is_prefix(&file, &real.file(&entry.name)?)? {
                    return Ok(Some(name));
                }
            }
            (EntryKind::Dir, Some(EntryKind::Dir)) if depth < MAX_DEPTH => {
                let inner =
                    not_inside(&left.dir(&entry.name)?, &real.dir(&entry.name)?, depth + 1)?;
                if let Some(inner) = inner {
                    return Ok(Some(format!("{name}/{inner}")));
                }
            }
            (EntryKind::Dir, _) => {
                if size(&left.dir(&entry.name)?, depth)? > 0 {
                    return Ok(Some(name));
                }
            }
            _ => return Ok(Some(name)),
        }
    }
    Ok(None)
}

fn is_prefix(short: &std::fs::File, long: &std::fs::File) -> io::Result<bool> {
    let (mut a, mut b) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let mut at = 0;
    loop {
        let n = Source::read_at(short, &mut a, at)?;
        if n == 0 {
            return Ok(true);
        }
        let mut got = 0;
        while got < n {
            match Source::read_at(long, &mut b[got..n], at + got as u64)? {
                0 => return Ok(false),
                more => got += more,
            }
        }
        if a[..n] != b[..n] {
            return Ok(false);
        }
        at += n as u64;
    }
}

/// The bytes of all files in a folder; links and the like count as one, so that nothing with them
/// counts as empty.
fn size(dir: &Dir, depth: u32) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in dir.entries()? {
        bytes += match entry.kind {
            EntryKind::File => dir.stat(&entry.name)?.len,
            EntryKind::Dir if depth < MAX_DEPTH => size(&dir.dir(&entry.name)?, depth + 1)?,
            _ => 1,
        };
    }
    Ok(bytes)
}
