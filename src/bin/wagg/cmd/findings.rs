//! How findings are printed, by every command that has some.

use serde::Serialize;
use wagg::diag::{Finding, Result, Severity};

use crate::ui::{Format, ListFlags, Style, Ui, sanitize, text};

/// Prints findings: on a terminal a few lines each, elsewhere as any listing. Information is
/// listed with -v, and always in JSON.
pub fn show(
    schema: &str,
    findings: &[Finding],
    list: &ListFlags,
    summary: &impl Serialize,
    ui: &Ui,
) -> Result<()> {
    let data = matches!(ui.format(), Format::Json | Format::Ndjson);
    let shown = findings
        .iter()
        .filter(|f| data || ui.verbose() > 0 || f.severity != Severity::Info);
    if ui.format() == Format::Table && !list.ids && !list.null {
        return blocks(shown, ui);
    }
    ui.list(schema, shown, list, Some(summary), "no findings")
}

/// One block a finding: what it is and where, what it means, what to do.
fn blocks<'a>(findings: impl Iterator<Item = &'a Finding>, ui: &Ui) -> Result<()> {
    const INDENT: usize = 2;
    let findings: Vec<&Finding> = findings.collect();
    ui.write(|out| {
        for finding in findings {
            let head = format!("{}[{}]", finding.severity, finding.code);
            let style = Style::of(finding.severity);
            writeln!(
                out,
                "{} {}",
                style.paint(&head, ui.color()),
                sanitize::terminal(&finding.locus.to_string())
            )?;
            let message = sanitize::terminal(&finding.message);
            for line in text::wrap(&message, ui.width(), INDENT) {
                writeln!(out, "{:INDENT$}{line}", "")?;
            }
            if let Some(hint) = &finding.hint {
                writeln!(out, "{:INDENT$}hint: {}", "", sanitize::terminal(hint))?;
            }
        }
        Ok(())
    })
}
