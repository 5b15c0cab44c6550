//! Rows as people see them: a table, or one block a row where the terminal is too narrow.

use std::borrow::Cow;

use comfy_table::{
    Attribute, Cell as TableCell, CellAlignment, Color, ColumnConstraint, ContentArrangement,
    Table, Width, presets,
};
use jiff::Timestamp;
use wagg::diag::Severity;

use super::color::Style;
use super::{sanitize, text};

/// No cell is shown with more characters than this.
const CELL_CHARS: usize = 1000;
/// A column of text is not squeezed below this many columns of the terminal.
const TEXT_FLOOR: u16 = 16;
/// Between two columns.
const GAP: u16 = 2;

/// One column of a listing.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    name: &'static str,
    right: bool,
    wraps: bool,
    marks: bool,
    /// Where there is too little room the column with the highest rank goes first; zero stays.
    spare: u8,
}

impl Column {
    /// Something short that is never broken over lines: an id, a word, a time.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            right: false,
            wraps: false,
            marks: false,
            spare: 0,
        }
    }

    /// A number or a size: to the right, never broken.
    pub const fn number(name: &'static str) -> Self {
        Self {
            right: true,
            ..Self::new(name)
        }
    }

    /// Text that may be broken over lines where the terminal is narrow: a message, a path, a name.
    pub const fn text(name: &'static str) -> Self {
        Self {
            wraps: true,
            ..Self::new(name)
        }
    }

    /// A star or nothing. Where each row is a block of its own, the name and what scripts get.
    pub const fn mark(name: &'static str) -> Self {
        Self {
            marks: true,
            ..Self::new(name)
        }
    }

    /// The same, left out where the terminal is too narrow, before all columns of a lower rank.
    pub const fn spare(self, rank: u8) -> Self {
        Self {
            spare: rank,
            ..self
        }
    }

    fn heading(&self) -> String {
        if self.marks {
            "*".to_owned()
        } else {
            self.name.to_uppercase().replace('_', " ")
        }
    }
}

/// One cell: what a person sees, what a script gets in a pipe, and how it looks.
#[derive(Debug, Clone)]
pub struct Cell {
    human: String,
    plain: Option<String>,
    style: Style,
}

impl Cell {
    /// The same text for both.
    pub fn new(text: impl ToString) -> Self {
        Self {
            human: text.to_string(),
            plain: None,
            style: Style::Plain,
        }
    }

    /// One text for people, another for scripts.
    pub fn two(human: impl ToString, plain: impl ToString) -> Self {
        Self {
            plain: Some(plain.to_string()),
            ..Self::new(human)
        }
    }

    /// Nothing: `-`, so that `while read` and `awk` do not lose the column.
    pub fn none() -> Self {
        Self::new("-").style(Style::Dim)
    }

    /// The text if there is one.
    pub fn maybe(text: Option<impl ToString>) -> Self {
        text.map_or_else(Self::none, Self::new)
    }

    /// A size: human-readable for people, bytes for scripts.
    pub fn size(bytes: u64) -> Self {
        Self::two(text::size(bytes), bytes)
    }

    /// A time: local for people, RFC 3339 in UTC for scripts.
    pub fn time(time: Timestamp) -> Self {
        Self::two(text::local(time), text::rfc3339(time))
    }

    /// A severity, in its colour.
    pub fn severity(severity: Severity) -> Self {
        Self::new(severity).style(Style::of(severity))
    }

    /// Yes or no.
    pub fn yes_no(value: bool) -> Self {
        Self::new(if value { "yes" } else { "no" })
    }

    /// The same in this style.
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// What a person sees, safe for a terminal.
    pub fn shown(&self) -> String {
        let text = if self.human.is_empty() {
            "-"
        } else {
            &self.human
        };
        match text.char_indices().nth(CELL_CHARS) {
            Some((end, _)) => format!("{}…", sanitize::terminal(&text[..end])),
            None => sanitize::terminal(text).into_owned(),
        }
    }

    /// A part of what a person sees, in the cell's style.
    pub fn paint(&self, shown: &str, color: bool) -> String {
        self.style.paint(shown, color)
    }

    /// What a script gets: one field of a tab-separated row.
    pub fn field(&self) -> Cow<'_, str> {
        match self.plain.as_deref().unwrap_or(&self.human) {
            "" => Cow::Borrowed("-"),
            text => sanitize::row(text),
        }
    }
}

/// The rows as a table that fits `width`, without the columns that can be spared if it must, or as
/// blocks if that is not enough.
pub fn render(columns: &[Column], rows: &[Vec<Cell>], width: Option<u16>, color: bool) -> String {
    let widths: Vec<u16> = content_widths(columns, rows);
    let Some(width) = width else {
        let all: Vec<usize> = (0..columns.len()).collect();
        return lines(columns, rows, &all, &widths, None, color);
    };
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    while least(columns, &widths, &kept) > width {
        let last = kept
            .iter()
            .enumerate()
            .max_by_key(|(_, column)| columns[**column].spare)
            .filter(|(_, column)| columns[**column].spare > 0)
            .map(|(place, _)| place);
        match last {
            Some(place) => drop(kept.remove(place)),
            None => return blocks(columns, rows, width, color),
        }
    }
    lines(columns, rows, &kept, &widths, Some(width), color)
}

/// How wide each column is when no cell of it is broken.
fn content_widths(columns: &[Column], rows: &[Vec<Cell>]) -> Vec<u16> {
    let of = |text: &str| u16::try_from(text::columns(text)).unwrap_or(u16::MAX);
    columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let cells = rows.iter().filter_map(|row| row.get(index));
            let widest = cells.map(|cell| of(&cell.shown())).max().unwrap_or(0);
            widest.max(of(&column.heading()))
        })
        .collect()
}

/// How narrow a table of these columns can be.
fn least(columns: &[Column], widths: &[u16], kept: &[usize]) -> u16 {
    kept.iter().fold(gaps(kept.len()), |sum, &index| {
        let content = widths[index];
        sum.saturating_add(if columns[index].wraps {
            content.min(TEXT_FLOOR)
        } else {
            content
        })
    })
}

fn gaps(columns: usize) -> u16 {
    GAP * u16::try_from(columns.saturating_sub(1)).unwrap_or(u16::MAX / GAP)
}

/// One line a row, or more where text is broken.
fn lines(
    columns: &[Column],
    rows: &[Vec<Cell>],
    kept: &[usize],
    widths: &[u16],
    width: Option<u16>,
    color: bool,
) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(kept.iter().map(|&index| {
            let cell = TableCell::new(columns[index].heading());
            if color {
                cell.add_attribute(Attribute::Bold)
            } else {
                cell
            }
        }));
    if color {
        table.enforce_styling();
        // blanks at the end of a line are cut off, which styled ones would not be
        table.style_text_only();
    } else {
        table.force_no_tty();
    }
    for row in rows {
        table.add_row(kept.iter().filter_map(|&index| row.get(index)).map(styled));
    }
    let full = kept.iter().fold(gaps(kept.len()), |sum, &index| {
        sum.saturating_add(widths[index])
    });
    if let Some(width) = width.filter(|width| full > *width) {
        // the last column has no gap behind it, but the table counts one
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width.saturating_add(GAP));
    }
    for (place, &index) in kept.iter().enumerate() {
        let Some(of_table) = table.column_mut(place) else {
            continue;
        };
        of_table.set_padding((0, GAP));
        if columns[index].right {
            of_table.set_cell_alignment(CellAlignment::Right);
        }
        of_table.set_constraint(if columns[index].wraps {
            let floor = widths[index].min(TEXT_FLOOR).saturating_add(GAP);
            ColumnConstraint::LowerBoundary(Width::Fixed(floor))
        } else {
            ColumnConstraint::ContentWidth
        });
    }
    let mut out = String::new();
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn styled(cell: &Cell) -> TableCell {
    let out = TableCell::new(cell.shown());
    match cell.style {
        Style::Plain => out,
        Style::Bold => out.add_attribute(Attribute::Bold),
        Style::Dim => out.add_attribute(Attribute::Dim),
        Style::Error => out.fg(Color::DarkRed).add_attribute(Attribute::Bold),
        Style::Warning => out.fg(Color::DarkYellow).add_attribute(Attribute::Bold),
        Style::Good => out.fg(Color::DarkGreen),
        Style::Note => out.fg(Color::DarkCyan),
    }
}

/// One block a row, `name: value` a line, for a terminal too narrow for the table.
fn blocks(columns: &[Column], rows: &[Vec<Cell>], width: u16, color: bool) -> String {
    let mut out = String::new();
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        for (column, cell) in columns.iter().zip(row) {
            let name = column.name.replace('_', " ");
            let shown = if column.marks {
                cell.field().into_owned()
            } else {
                cell.shown()
            };
            let whole = format!("{name}: {shown}");
            for (index, line) in text::wrap(&whole, Some(width), 2).iter().enumerate() {
                match line.strip_prefix(&format!("{name}:")) {
                    Some(rest) if index == 0 => {
                        out.push_str(&Style::Bold.paint(&format!("{name}:"), color));
                        out.push_str(&cell.paint(rest, color));
                    }
                    _ => {
                        out.push_str("  ");
                        out.push_str(&cell.paint(line, color));
                    }
                }
                out.push('\n');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 3] = [
        Column::new("worker"),
        Column::number("size"),
        Column::text("message"),
    ];

    fn rows() -> Vec<Vec<Cell>> {
        vec![
            vec![
                Cell::new("7"),
                Cell::size(1536),
                Cell::new("the quick brown fox jumps over the lazy dog and back again"),
            ],
            vec![Cell::new("12"), Cell::size(3), Cell::new("")],
        ]
    }

    #[test]
    fn wide_enough_means_one_line_a_row_and_no_trailing_blanks() {
        let text = render(&COLUMNS, &rows(), Some(120), false);
        assert_eq!(
            text,
            "WORKER     SIZE  MESSAGE\n\
             7       1.5 KiB  the quick brown fox jumps over the lazy dog and back again\n\
             12          3 B  -\n"
        );
    }

    #[test]
    fn a_narrower_terminal_breaks_text_and_nothing_else() {
        let text = render(&COLUMNS, &rows(), Some(40), false);
        assert!(
            text.lines().all(|line| line.chars().count() <= 40),
            "{text}"
        );
        assert!(text.contains("7       1.5 KiB  the quick brown"), "{text}");
    }

    #[test]
    fn a_very_narrow_one_gets_blocks() {
        let text = render(&COLUMNS, &rows(), Some(20), false);
        assert!(
            text.starts_with("worker: 7\nsize: 1.5 KiB\nmessage: the quick\n  brown fox jumps\n"),
            "{text}"
        );
        assert!(text.contains("\n\nworker: 12\n"), "{text}");
    }

    #[test]
    fn before_that_what_can_be_spared_goes_by_rank() {
        let columns = [
            Column::mark("active"),
            Column::new("worker"),
            Column::number("size").spare(2),
            Column::new("last").spare(1),
        ];
        let rows = [vec![
            Cell::two("*", "yes"),
            Cell::new("1234567890"),
            Cell::size(3),
            Cell::new("yesterday"),
        ]];
        let at = |width| render(&columns, &rows, Some(width), false);
        assert_eq!(
            at(30),
            "*  WORKER      SIZE  LAST\n*  1234567890   3 B  yesterday\n"
        );
        assert_eq!(at(29), "*  WORKER      LAST\n*  1234567890  yesterday\n");
        assert_eq!(at(20), "*  WORKER\n*  1234567890\n");
        assert_eq!(
            at(12),
            "active:\n  yes\nworker:\n  1234567890\nsize: 3 B\nlast:\n  yesterday\n"
        );
    }

    #[test]
    fn colour_adds_escapes_and_moves_nothing() {
        let rows = vec![vec![
            Cell::severity(Severity::Error),
            Cell::size(1),
            Cell::none(),
        ]];
        let colored = render(&COLUMNS, &rows, Some(80), true);
        assert!(colored.contains("\x1b["));
        let mut plain = String::new();
        let mut rest = colored.as_str();
        while let Some(start) = rest.find("\x1b[") {
            plain.push_str(&rest[..start]);
            let end = rest[start..].find('m').unwrap();
            rest = &rest[start + end + 1..];
        }
        plain.push_str(rest);
        let plain: Vec<_> = plain.lines().map(str::trim_end).collect();
        let without = render(&COLUMNS, &rows, Some(80), false);
        assert_eq!(plain, without.lines().collect::<Vec<_>>());
    }

    #[test]
    fn a_script_gets_bytes_and_one_field_a_cell() {
        assert_eq!(Cell::size(1536).field(), "1536");
        assert_eq!(Cell::new("a\tb").field(), "a\\tb");
        assert_eq!(Cell::new("").field(), "-");
        assert_eq!(Cell::none().field(), "-");
        assert_eq!(Cell::new("a\u{202e}b").shown(), "a\\u{202e}b");
    }
}
