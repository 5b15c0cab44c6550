//! The one way to print a single thing, in every format.

use std::io::{self, Write};

use serde::Serialize;
use wagg::diag::Result;

use super::color::Style;
use super::list::{Row, write_fields};
use super::table::{self, Cell};
use super::{Format, Ui, sanitize};

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
            Part::Field(name, _) => Some(name.chars().count()),
            _ => None,
        });
        let indent = keys.max().unwrap_or(0) + 2;
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Field(name, value) => {
                    let pad = " ".repeat(indent - name.chars().count());
                    let name = Style::Bold.paint(&sanitize::terminal(name), color);
                    let lines = wrap(&value.shown(), width, indent);
                    write!(out, "{name}{pad}")?;
                    for (index, line) in lines.iter().enumerate() {
                        if index > 0 {
                            write!(out, "{}", " ".repeat(indent))?;
                        }
                        writeln!(out, "{}", value.paint(line, color))?;
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
                    for line in wrap(&sanitize::terminal(text), width, 0) {
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

/// Breaks text at blanks so that it fits `width` less `indent`; a longer word stands alone.
fn wrap(text: &str, width: Option<u16>, indent: usize) -> Vec<String> {
    let room = match width {
        Some(width) => usize::from(width).saturating_sub(indent).max(20),
        None => return vec![text.to_owned()],
    };
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let long = word.chars().count();
        if used > 0 && used + 1 + long > room {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += long;
        }
    }
    lines
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
    fn wrapping_keeps_words_whole() {
        assert_eq!(wrap("a b", None, 4), ["a b"]);
        assert_eq!(
            wrap("one two three four five six", Some(24), 4),
            ["one two three four", "five six"]
        );
        let long = "x".repeat(40);
        assert_eq!(wrap(&format!("a {long}"), Some(24), 0), ["a", &long]);
    }

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
        block.write_plain(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "worker\t7\nid\t2048\n");
    }
}
