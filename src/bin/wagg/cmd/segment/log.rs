//! `wagg segment log`

use std::cell::RefCell;
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::time::Duration;

use serde::Serialize;
use wagg::diag::{Code, Error, Exit, Result};
use wagg::ops::read::{SegmentFile, SegmentRef, Time, open_error};
use wagg::ops::resolve::Resolver;
use wagg::ops::segment::log::{Entry, Filter, Reader, Seen};
use wagg::record::RecordKind;
use wagg::store::Store;

use crate::cmd::{numbers, reading, store};
use crate::ui::{Cell, Column, Format, ListFlags, Row, Rows, Style, Ui, text};

/// How often a Segment that is followed is looked at.
const POLL: Duration = Duration::from_millis(200);

/// Print the records of a Segment as a person reads them
///
/// One line a record: its number, time, kind, who speaks, and what is said, cut to the width of
/// the terminal. Lines that are no good record are shown as such and counted. What follows the
/// last newline was never committed and is not shown. With --raw the stored lines come out byte
/// for byte.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg segment log 7/active --limit 20\n  wagg segment log 7/active --kind user_input --kind assistant_item\n  wagg segment log 7/active --follow --raw | jq .kind"
)]
pub struct Args {
    /// The Segment: an id or its first hex digits, 7/active, 7/latest, or a path
    #[arg(value_name = "SEGMENT")]
    segment: String,

    /// Begin at this line, counted from 1
    #[arg(long, value_name = "N", value_parser = numbers::parse_count::<NonZeroU64>, allow_negative_numbers = true)]
    from: Option<NonZeroU64>,

    /// Stop after so many records
    #[arg(long, value_name = "N")]
    limit: Option<u64>,

    /// Only records of this kind; may be given more than once
    #[arg(long, value_name = "K", value_parser = kind())]
    kind: Vec<String>,

    /// Wait for records to come, until interrupted
    #[arg(long)]
    follow: bool,

    /// Print the stored lines, byte for byte
    #[arg(long, conflicts_with_all = ["ids", "null"])]
    raw: bool,

    #[command(flatten)]
    list: ListFlags,
}

fn kind() -> clap::builder::PossibleValuesParser {
    RecordKind::ALL.map(RecordKind::as_str).into()
}

/// Prints the records.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    if args.follow && ui.format() == Format::Json && !args.raw {
        return Err(Error::new(
            Code::Usage,
            "--follow has no end, so it has no one JSON document",
        )
        .hint("use --format ndjson"));
    }
    let store = store::find_to_read(ui)?;
    let segment = Resolver::new(&store).segment(&args.segment)?;
    let filter = Filter {
        from: args.from.map(NonZeroU64::get),
        limit: args.limit,
        kinds: args
            .kind
            .iter()
            .filter_map(|kind| kind.parse().ok())
            .collect(),
    };
    let mut log = Log {
        store: &store,
        segment: &segment,
        ui,
        follow: args.follow,
        reader: Reader::new(filter),
        failed: None,
        interrupted: false,
        summary: Summary::default(),
    };
    if args.follow {
        // From here on SIGINT ends the waiting and not the process.
        ui.progress().start(None);
    }
    if args.raw {
        ui.write(|out| log.feed(&mut Sink::Raw(out)))?;
    } else {
        let shape = Shape::of(ui);
        let line = |entry: &Entry| shape.line(entry);
        let heading = ui.format() == Format::Table && !args.list.ids && !args.list.null;
        ui.stream("wagg.segment.log/1", &args.list, &line, |rows| {
            if heading {
                rows.raw(shape.heading().as_bytes())?;
            }
            log.feed(&mut Sink::Rows(rows))?;
            Ok(log.summary)
        })?;
    }
    log.end()
}

/// What was met beside the records that are shown.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Summary {
    bad_lines: u64,
    uncommitted_bytes: u64,
}

/// Where lines go.
enum Sink<'s, 'a> {
    Raw(&'s mut dyn Write),
    Rows(&'s mut Rows<'a, Entry>),
}

/// Why a pass through the file ended early.
enum Stop {
    /// The file could not be read.
    Read(io::Error),
    /// The answer could not be written.
    Write(io::Error),
}

impl Sink<'_, '_> {
    fn take(&mut self, seen: &Seen<'_>) -> Result<(), Stop> {
        match self {
            Self::Rows(rows) => match seen.entry().map_err(Stop::Read)? {
                Some(entry) => rows.push(&entry).map_err(Stop::Write),
                None => Ok(()),
            },
            Self::Raw(out) => {
                let mut unwritten = None;
                let result = seen.stored(|bytes| {
                    out.write_all(bytes).map_err(|e| {
                        unwritten = Some(e);
                        io::ErrorKind::Other.into()
                    })
                });
                match unwritten {
                    Some(e) => Err(Stop::Write(e)),
                    None => result.map_err(Stop::Read),
                }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Raw(out) => out.flush(),
            Self::Rows(rows) => rows.flush(),
        }
    }
}

struct Log<'a> {
    store: &'a Store,
    segment: &'a SegmentRef,
    ui: &'a Ui,
    follow: bool,
    reader: Reader,
    failed: Option<Error>,
    interrupted: bool,
    summary: Summary,
}

impl Log<'_> {
    /// Shows what is there, and with `--follow` what comes. An error of the Segment is kept for
    /// [`Log::end`], so that what was shown before it is complete.
    fn feed(&mut self, sink: &mut Sink<'_, '_>) -> io::Result<()> {
        let mut file = match self.segment.open(self.store) {
            Ok(file) => file,
            Err(e) => {
                self.failed = Some(e);
                return Ok(());
            }
        };
        loop {
            let mut stop = None;
            let read = self.reader.read(&file, |seen| match sink.take(seen) {
                Ok(()) => ControlFlow::Continue(()),
                Err(e) => {
                    stop = Some(e);
                    ControlFlow::Break(())
                }
            });
            self.summary.bad_lines = self.reader.bad();
            match (stop, read) {
                (Some(Stop::Write(e)), _) => return Err(e),
                (Some(Stop::Read(e)), _) => self.failed = Some(open_error(&file.path, e)),
                (None, Err(e)) => self.failed = Some(e),
                (None, Ok(tail)) => self.summary.uncommitted_bytes = tail,
            }
            sink.flush()?;
            if self.failed.is_some() || !self.follow || self.reader.is_full() {
                return Ok(());
            }
            match self.wait(&file) {
                Some(next) => file = next,
                None => return Ok(()),
            }
        }
    }

    /// Waits until the Segment has grown; none if it is gone or somebody interrupts.
    fn wait(&mut self, last: &SegmentFile) -> Option<SegmentFile> {
        loop {
            if self.ui.progress().interrupted() {
                self.interrupted = true;
                return None;
            }
            std::thread::sleep(POLL);
            let next = match self.segment.open(self.store) {
                Ok(next) => next,
                Err(e) => {
                    self.failed = Some(e);
                    return None;
                }
            };
            let replaced = !next.stat.same_file(&last.stat);
            if next.stat.len < self.reader.offset() {
                self.ui
                    .warn("the Segment lost committed records; it is shown from its beginning");
                self.reader.restart();
                return Some(next);
            }
            if replaced {
                self.ui
                    .status("another file took the Segment's place; going on in it");
            }
            if replaced || next.stat.len != last.stat.len {
                return Some(next);
            }
        }
    }

    fn end(self) -> Result<Exit> {
        if self.follow {
            self.ui.progress().finish();
        }
        if let Some(e) = self.failed {
            return Err(e);
        }
        if self.summary.bad_lines > 0 {
            let lines = text::plural(self.summary.bad_lines, "line is", "lines are");
            self.ui.warn(format!("{lines} no good record"));
            self.ui
                .hint(format!("wagg verify {}", self.segment.worker.id));
        }
        if self.summary.uncommitted_bytes > 0 && !self.follow {
            let bytes = text::plural(self.summary.uncommitted_bytes, "byte", "bytes");
            self.ui.status(format!(
                "{bytes} behind the last newline were never committed"
            ));
        }
        if self.interrupted {
            return Ok(Exit::Interrupted);
        }
        Ok(Exit::Ok)
    }
}

impl Row for Entry {
    const NOUN: &'static str = "records";
    const TYPE: &'static str = "record";
    const COLUMNS: &'static [Column] = &[
        Column::number("line"),
        Column::new("time"),
        Column::new("kind"),
        Column::new("speaker"),
        Column::new("text"),
    ];

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::new(self.line),
            reading::time(self.time),
            Cell::new(kind_of(self)),
            Cell::maybe(self.speaker),
            Cell::new(said(self)),
        ]
    }

    fn id(&self) -> String {
        self.line.to_string()
    }
}

fn kind_of(entry: &Entry) -> &'static str {
    entry.kind.map_or("bad", RecordKind::as_str)
}

/// What is said, or what is wrong with the line.
fn said(entry: &Entry) -> String {
    match entry.code {
        Some(code) => format!("{code}: {}", entry.text),
        None => entry.text.clone(),
    }
}

/// How a line of the log is laid out on a terminal.
struct Shape {
    width: usize,
    color: bool,
    /// The day of the line before; a new one gets a line of its own.
    day: RefCell<String>,
}

impl Shape {
    /// What stands before the text: line, time, kind, speaker.
    const HEAD: usize = 6 + 2 + 8 + 2 + 14 + 2 + 9 + 2;

    fn of(ui: &Ui) -> Self {
        Self {
            // Where nothing is known of the width a line is still no page.
            width: ui.width().map_or(200, usize::from),
            color: ui.color(),
            day: RefCell::default(),
        }
    }

    fn heading(&self) -> String {
        let head = format!(
            "{:>6}  {:<8}  {:<14}  {:<9}  {}",
            "LINE", "TIME", "KIND", "SPEAKER", "TEXT"
        );
        format!("{}\n", Style::Bold.paint(&head, self.color))
    }

    fn line(&self, entry: &Entry) -> String {
        let style = match (entry.kind, entry.speaker) {
            (None, _) => Style::Error,
            (_, Some("user")) => Style::Bold,
            (_, Some(_)) => Style::Plain,
            (_, None) => Style::Dim,
        };
        let mut before = String::new();
        let mut time = "-".to_owned();
        if let Some(Time(at)) = entry.time {
            let local = text::zoned(at);
            let day = local.strftime("%Y-%m-%d").to_string();
            if *self.day.borrow() != day {
                before = Style::Dim.paint(&format!("{:>6}  {day}", ""), self.color);
                before.push('\n');
                *self.day.borrow_mut() = day;
            }
            time = local.strftime("%H:%M:%S").to_string();
        }
        let text = text::one_line(&said(entry));
        let room = self.width.saturating_sub(Self::HEAD).max(20);
        let cut = text::shorten(&text, room);
        let mark = if entry.truncated && !cut.ends_with('…') {
            "…"
        } else {
            ""
        };
        let head = format!(
            "{:>6}  {time:<8}  {:<14}  {:<9}  ",
            entry.line,
            kind_of(entry),
            entry.speaker.unwrap_or("-"),
        );
        let line = style.paint(&format!("{head}{cut}{mark}"), self.color);
        format!("{before}{line}\n")
    }
}
