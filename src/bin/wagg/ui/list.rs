//! The one way to print a listing, in every format.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;
use wagg::diag::Result;

use super::table::{self, Cell, Column};
use super::{Format, Ui};

/// What a listing can be reduced to. Every list command takes these.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct ListFlags {
    /// Print ids only, one a line, whatever the format
    ///
    /// An id that many rows in a row have is printed once, but for wagg apply, where each row answers
    /// a line.
    #[arg(long)]
    pub ids: bool,

    /// Print ids only, each followed by a NUL byte, for xargs -0
    #[arg(short = '0', long = "null")]
    pub null: bool,
}

/// One thing of a listing. Serialized, it is the thing's JSON object, without a `type` field.
pub trait Row: Serialize {
    /// What many of them are called, as the JSON field: `workers`.
    const NOUN: &'static str;
    /// What one of them is called, as the `type` of an NDJSON line: `worker`.
    const TYPE: &'static str;
    /// The columns, the same on a terminal and in a pipe.
    const COLUMNS: &'static [Column];
    /// Whether each row answers something that was asked, so that its id is printed even where it
    /// is that of the row before.
    const ANSWERS: bool = false;
    /// One cell a column.
    fn cells(&self) -> Vec<Cell>;
    /// What `--ids` prints: an id that other commands take.
    fn id(&self) -> String;
}

impl<R: Row> Row for &R {
    const NOUN: &'static str = R::NOUN;
    const TYPE: &'static str = R::TYPE;
    const COLUMNS: &'static [Column] = R::COLUMNS;
    const ANSWERS: bool = R::ANSWERS;
    fn cells(&self) -> Vec<Cell> {
        R::cells(self)
    }
    fn id(&self) -> String {
        R::id(self)
    }
}

/// For a listing without a summary.
pub const NO_SUMMARY: Option<&()> = None;

#[derive(Serialize)]
pub(super) struct Typed<'a, T: Serialize> {
    pub r#type: &'a str,
    #[serde(flatten)]
    pub value: T,
}

impl Ui {
    /// Prints a listing.
    ///
    /// `schema` is the name of its JSON document (`wagg.worker.list/1`), `summary` an object that
    /// stands beside the rows in JSON and last in NDJSON, `empty` what stderr is told if there is
    /// no row (`no workers`). Rows are written as they come, save for a table.
    ///
    /// # Errors
    /// Standard output can not be written to; a closed pipe is no error.
    pub fn list<R: Row>(
        &self,
        schema: &str,
        rows: impl IntoIterator<Item = R>,
        flags: &ListFlags,
        summary: Option<impl Serialize>,
        empty: &str,
    ) -> Result<()> {
        let mut count = 0_u64;
        let counted = rows.into_iter().inspect(|_| count += 1);
        self.write(|out| {
            if flags.ids || flags.null {
                let end: &[u8] = if flags.null { b"\0" } else { b"\n" };
                let mut last = None;
                for row in counted {
                    let id = row.id();
                    if !R::ANSWERS && last.as_ref() == Some(&id) {
                        continue;
                    }
                    out.write_all(id.as_bytes())?;
                    out.write_all(end)?;
                    last = Some(id);
                }
                return Ok(());
            }
            match self.format {
                Format::Table => {
                    let cells: Vec<_> = counted.map(|row| row.cells()).collect();
                    if !cells.is_empty() {
                        let text = table::render(R::COLUMNS, &cells, self.width(), self.out.color);
                        out.write_all(text.as_bytes())?;
                    }
                    Ok(())
                }
                Format::Tsv => {
                    for row in counted {
                        write_fields(out, &row.cells())?;
                    }
                    Ok(())
                }
                Format::Json => write_json(out, schema, counted, summary),
                Format::Ndjson => write_ndjson(out, schema, counted, summary),
            }
        })?;
        if count == 0 {
            self.status(empty);
        }
        Ok(())
    }
}

/// One tab-separated line.
pub(super) fn write_fields(out: &mut dyn Write, cells: &[Cell]) -> io::Result<()> {
    for (index, cell) in cells.iter().enumerate() {
        if index > 0 {
            out.write_all(b"\t")?;
        }
        out.write_all(cell.field().as_bytes())?;
    }
    out.write_all(b"\n")
}

/// One document with a row a line.
fn write_json<R: Row>(
    out: &mut dyn Write,
    schema: &str,
    rows: impl Iterator<Item = R>,
    summary: Option<impl Serialize>,
) -> io::Result<()> {
    write!(out, "{{\"schema\":")?;
    serde_json::to_writer(&mut *out, schema)?;
    write!(out, ",\"{}\":[", R::NOUN)?;
    let mut first = true;
    for row in rows {
        out.write_all(if first { b"\n" } else { b",\n" })?;
        first = false;
        serde_json::to_writer(&mut *out, &row)?;
    }
    out.write_all(if first { b"]" } else { b"\n]" })?;
    if let Some(summary) = summary {
        out.write_all(b",\"summary\":")?;
        serde_json::to_writer(&mut *out, &summary)?;
    }
    out.write_all(b"}\n")
}

/// A row a line with its `type`, then the summary: the schema, how many rows there were, and what
/// the caller has to add.
fn write_ndjson<R: Row>(
    out: &mut dyn Write,
    schema: &str,
    rows: impl Iterator<Item = R>,
    summary: Option<impl Serialize>,
) -> io::Result<()> {
    let mut count = 0_u64;
    for value in rows {
        let r#type = R::TYPE;
        serde_json::to_writer(&mut *out, &Typed { r#type, value })?;
        out.write_all(b"\n")?;
        count += 1;
    }
    write_summary(out, schema, R::NOUN, count, summary)
}

/// The last line of NDJSON.
pub(super) fn write_summary(
    out: &mut dyn Write,
    schema: &str,
    noun: &str,
    count: u64,
    summary: Option<impl Serialize>,
) -> io::Result<()> {
    let mut last = serde_json::Map::new();
    last.insert("type".to_owned(), "summary".into());
    last.insert("schema".to_owned(), schema.into());
    last.insert(noun.to_owned(), count.into());
    if let Some(serde_json::Value::Object(more)) = summary.map(serde_json::to_value).transpose()? {
        for (key, value) in more {
            last.entry(key).or_insert(value);
        }
    }
    serde_json::to_writer(&mut *out, &last)?;
    out.write_all(b"\n")
}
