//! The one way to print a single thing, in every format.

use std::io::{self, Write};

use serde::Serialize;
use wagg::diag::Result;

use super::color::Style;
use super::list::{Row, write_fields};
use super::table::{self, Cell};
use super::{Format, Ui, sanitize, text};

/// A value needs so many columns beside its name.
const ROOM: usize = 24;

#[derive(Serialize)]
struct Document<'a, T: Serialize> {
    schema: &'a str,
    #[serde(flatten)]
    value: &'a T,
}

#[derive(Serialize)]
struct Line<'a, T: Serialize> {
    r#type: &'a str,
    schema: &'a str,
    #[serde(flatten)]
    value: &'a T,
}

/// What a person reads of one thing: fields, paragraphs and small tables, in the order they are
/// added. In a pipe each field is one line, its name and its value with a tab between.
#[derive(Debug, Default)]
pub struct Block {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Field(String, Cell),
    Heading(String),
    Text(String),
    Rows {
        columns: &'static [table::Column],
        kind: &'static str,
        rows: Vec<Vec<Cell>>,
    },
}

impl Block {
    /// A name and its value.
    pub fn field(&mut self, name: &str, value: Cell) -> &mut Self {
        self.parts.push(Part::Field(name.to_owned(), value));
        self
    }

    /// A heading with a blank line before it; not in a pipe.
    pub fn heading(&mut self, text: &str) -> &mut Self {
        self.parts.push(Part::Heading(text.to_owned()));
        self
    }

    /// A paragraph; not in a pipe.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.parts.push(Part::Text(text.to_owned()));
        self
    }

    /// A small table; in a pipe its rows, each after the name of its kind.
    pub fn rows<R: Row>(&mut self, rows: impl IntoIterator<Item = R>) -> &mut Self {
        self.parts.push(Part::Rows {
            columns: R::COLUMNS,
            kind: R::TYPE,
            rows: rows.into_iter().map(|row| row.cells()).collect(),
        });
        self
    }

    fn write_table(&self, out: &mut dyn Write, width: Option<u16>, color: bool) -> io::Result<()> {
        let keys = self.parts.iter().filter_map(|part| match part {
            Part::Field(name, _) => Some(text::columns(name)),
            _ => None,
        });
        let keys = keys.max().unwrap_or(0);
        // on a very narrow terminal a value stands below its name
        let below = width.is_some_and(|width| usize::from(width) < keys + 2 + ROOM);
        let indent = if below { 2 } else { keys + 2 };
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Field(name, value) => {
                    let head = Style::Bold.paint(&sanitize::terminal(name), color);
                    write!(out, "{head}")?;
                    let mut pad = indent.saturating_sub(text::columns(name));
                    if below {
                        writeln!(out)?;
                        pad = indent;
                    }
                    for line in text::wrap(&value.shown(), width, indent) {
                        writeln!(out, "{:pad$}{}", "", value.paint(&line, color))?;
                        pad = indent;
                    }
                }
                Part::Heading(text) => {
                    if index > 0 {
                        writeln!(out)?;
                    }
                    writeln!(
                        out,
                        "{}",
                        Style::Bold.paint(&sanitize::terminal(text), color)
                    )?;
                }
                Part::Text(text) => {
                    for line in text::wrap(&sanitize::terminal(text), width, 0) {
                        writeln!(out, "{line}")?;
                    }
                }
                Part::Rows { columns, rows, .. } => {
                    if !rows.is_empty() {
                        out.write_all(table::render(columns, rows, width, color).as_bytes())?;
                    }
                }
            }
        }
        Ok(())
    }

    fn write_plain(&self, out: &mut dyn Write) -> io::Result<()> {
        for part in &self.parts {
            match part {
                Part::Field(name, value) => {
                    writeln!(out, "{}\t{}", sanitize::row(name), value.field())?;
                }
                Part::Heading(_) | Part::Text(_) => {}
                Part::Rows { kind, rows, .. } => {
                    for row in rows {
                        write!(out, "{kind}\t")?;
                        write_fields(out, row)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Ui {
    /// Prints one thing.
    ///
    /// `value` serializes as an object; `schema` is put before its fields. `human` says what a
    /// person reads and is not asked for JSON.
    ///
    /// # Errors
    /// Standard output can not be written to; a closed pipe is no error.
    pub fn object<T: Serialize>(
        &self,
        schema: &str,
        value: &T,
        human: impl FnOnce(&mut Block),
    ) -> Result<()> {
        match self.format {
            Format::Json => self.write(|out| {
                serde_json::to_writer_pretty(&mut *out, &Document { schema, value })?;
                out.write_all(b"\n")
            }),
            Format::Ndjson => self.write(|out| {
                let r#type = schema
                    .trim_start_matches("wagg.")
                    .split(['.', '/'])
                    .next()
                    .unwrap_or(schema);
                let line = Line {
                    r#type,
                    schema,
                    value,
                };
                serde_json::to_writer(&mut *out, &line)?;
                out.write_all(b"\n")
            }),
            Format::Table | Format::Tsv => {
                let mut block = Block::default();
                human(&mut block);
                self.write(|out| match self.format {
                    Format::Table => block.write_table(out, self.width(), self.out.color),
                    _ => block.write_plain(out),
                })
            }
        }
    }

    /// Prints one line of data on a terminal and in a pipe, and `value` as a document otherwise:
    /// what a changing command made or acted on.
    ///
    /// # Errors
    /// Standard output can not be written to; a closed pipe is no error.
    pub fn receipt<T: Serialize>(&self, schema: &str, value: &T, line: &str) -> Result<()> {
        match self.format {
            Format::Json | Format::Ndjson => self.object(schema, value, |_| {}),
            Format::Table | Format::Tsv => {
                self.write(|out| writeln!(out, "{}", sanitize::row(line)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_line_up_and_become_rows_in_a_pipe() {
        let mut block = Block::default();
        block
            .field("worker", Cell::new(7))
            .field("id", Cell::size(2048))
            .heading("more");
        let mut out = Vec::new();
        block.write_table(&mut out, Some(80), false).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "worker  7\nid      2.0 KiB\n\nmore\n"
        );
        let mut out = Vec::new();
        block.write_table(&mut out, Some(20), false).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "worker\n  7\nid\n  2.0 KiB\n\nmore\n"
        );
        let mut out = Vec::new();
        block.write_plain(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "worker\t7\nid\t2048\n");
    }
}
