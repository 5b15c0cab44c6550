//! Listings whose rows come one by one and are never held: logs.

use std::io::{self, Write};
use std::marker::PhantomData;

use serde::Serialize;
use wagg::diag::Result;

use super::list::{ListFlags, Row, Typed, write_fields, write_summary};
use super::{Format, Ui};

/// Takes the rows of a listing one by one.
pub struct Rows<'a, R> {
    out: &'a mut dyn Write,
    format: Format,
    flags: ListFlags,
    count: u64,
    /// A row as a terminal shows it, line ends included.
    line: &'a dyn Fn(&R) -> String,
    row: PhantomData<R>,
}

impl<R: Row> Rows<'_, R> {
    /// Writes a row.
    ///
    /// # Errors
    /// Standard output can not be written to; also a closed pipe.
    pub fn push(&mut self, row: &R) -> io::Result<()> {
        self.count += 1;
        if self.flags.ids || self.flags.null {
            self.out.write_all(row.id().as_bytes())?;
            let end: &[u8] = if self.flags.null { b"\0" } else { b"\n" };
            return self.out.write_all(end);
        }
        match self.format {
            Format::Table => self.out.write_all((self.line)(row).as_bytes()),
            Format::Tsv => write_fields(self.out, &row.cells()),
            Format::Json => {
                let before: &[u8] = if self.count == 1 { b"\n" } else { b",\n" };
                self.out.write_all(before)?;
                Ok(serde_json::to_writer(&mut *self.out, row)?)
            }
            Format::Ndjson => {
                let typed = Typed {
                    r#type: R::TYPE,
                    value: row,
                };
                serde_json::to_writer(&mut *self.out, &typed)?;
                self.out.write_all(b"\n")
            }
        }
    }

    /// Writes bytes as they are, instead of rows.
    ///
    /// # Errors
    /// As [`Rows::push`].
    pub fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    /// Lets the reader have what was written so far.
    ///
    /// # Errors
    /// As [`Rows::push`].
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Ui {
    /// Prints a listing whose rows `feed` hands over one by one; it returns the summary. `line` is
    /// a row as a terminal shows it.
    ///
    /// # Errors
    /// Standard output can not be written to; a closed pipe is no error.
    pub fn stream<R: Row, S: Serialize>(
        &self,
        schema: &str,
        flags: &ListFlags,
        line: &dyn Fn(&R) -> String,
        feed: impl FnOnce(&mut Rows<'_, R>) -> io::Result<S>,
    ) -> Result<()> {
        self.write(|out| {
            let plain = flags.ids || flags.null;
            if self.format == Format::Json && !plain {
                write!(out, "{{\"schema\":")?;
                serde_json::to_writer(&mut *out, schema)?;
                write!(out, ",\"{}\":[", R::NOUN)?;
            }
            let mut rows = Rows {
                out: &mut *out,
                format: self.format,
                flags: *flags,
                count: 0,
                line,
                row: PhantomData,
            };
            let summary = feed(&mut rows)?;
            let count = rows.count;
            match self.format {
                Format::Json if !plain => {
                    let end: &[u8] = if count == 0 { b"]" } else { b"\n]" };
                    out.write_all(end)?;
                    out.write_all(b",\"summary\":")?;
                    serde_json::to_writer(&mut *out, &summary)?;
                    out.write_all(b"}\n")
                }
                Format::Ndjson if !plain => {
                    write_summary(out, schema, R::NOUN, count, Some(&summary))
                }
                _ => Ok(()),
            }
        })
    }
}
