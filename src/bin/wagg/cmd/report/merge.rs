//! `wagg report merge`

use std::path::{Path, PathBuf};

use wagg::diag::{Exit, Result};
use wagg::ops::verify::{PartReport, merge};

use crate::cmd::output::Outputs;
use crate::cmd::verify::Of;
use crate::cmd::{findings, input, verify};
use crate::ui::{ListFlags, Ui, with_store};

/// Put the reports of all parts of a store together
///
/// Takes the JSON reports of wagg verify --partition 1/N to N/N and prints the answer that verify
/// gives without --partition: their findings, and what only all Workers together tell, which no
/// part can judge. The store itself is not looked at. The exit status is that of verify; it is 3 if
/// the files are not the reports of all parts of one look, each once.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  wagg report merge part-*.json\n  wagg report merge part-*.json --strict --report junit=wagg.xml"
)]
pub struct Args {
    /// The JSON reports of all parts, in any order
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Let warnings fail too
    #[arg(long)]
    strict: bool,

    /// The earlier JSON report that the parts were given with --baseline
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Write the whole report to a file too: junit=FILE, sarif=FILE or json=FILE
    #[arg(long, value_name = "KIND=FILE")]
    report: Vec<crate::report::Target>,

    #[command(flatten)]
    list: ListFlags,
}

/// Carries the command out.
pub fn run(args: Args, ui: &Ui) -> Result<Exit> {
    let named: Vec<Option<&Path>> = args
        .files
        .iter()
        .chain(&args.baseline)
        .map(|path| Some(path.as_path()))
        .collect();
    input::one_stdin(&named)?;
    let mut outputs = Outputs::default().not(args.files.iter().chain(&args.baseline));
    let reports = crate::report::open(&args.report, &mut outputs)?;
    let parts = args
        .files
        .iter()
        .map(|path| {
            let bytes = input::bytes(path, input::MAX_INPUT)?;
            PartReport::read(path, &bytes)
        })
        .collect::<Result<Vec<PartReport>>>()?;
    let store = parts.iter().find_map(PartReport::named_store);
    let store = store.map(str::to_owned);
    let known = verify::known(args.baseline.as_deref())?;
    let mut report = merge(parts, known)?;
    // What only the whole tells names the store as the parts do.
    if let Some(store) = &store {
        for hint in report.findings.iter_mut().filter_map(|f| f.hint.as_mut()) {
            *hint = with_store(hint, store);
        }
    }
    findings::paste(&mut report.findings, ui);
    for target in &reports {
        target.write(&report)?;
    }
    verify::show(&report, &args.list, &Of::Store(store), ui)?;
    Ok(verify::exit(&report, args.strict))
}
