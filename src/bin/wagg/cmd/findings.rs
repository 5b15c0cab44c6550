//! How findings are printed, by every command that has some.

use std::io::Write;

use serde::Serialize;
use wagg::diag::{Finding, Result, Severity};

use crate::ui::{Format, ListFlags, Style, Ui, sanitize, text, with_store};

/// Prints findings: on a terminal a few lines each, elsewhere as any listing. Information is
/// listed with -v, and always in JSON. `none` is what is said where there are none.
pub fn show(
    schema: &str,
    findings: &[Finding],
    list: &ListFlags,
    summary: &impl Serialize,
    none: &str,
    ui: &Ui,
) -> Result<()> {
    let data = matches!(ui.format(), Format::Json | Format::Ndjson);
    let shown = findings
        .iter()
        .filter(|f| data || ui.verbose() > 0 || f.severity != Severity::Info);
    if ui.format() == Format::Table && !list.ids && !list.null {
        return blocks(shown, ui);
    }
    ui.list(schema, shown, list, Some(summary), none)
}

/// Makes the hints of findings such as can be pasted.
pub fn paste<'f>(findings: impl IntoIterator<Item = &'f mut Finding>, ui: &Ui) {
    let Some(store) = ui.named_store() else {
        return;
    };
    for hint in findings.into_iter().filter_map(|f| f.hint.as_mut()) {
        *hint = with_store(hint, &store);
    }
}

/// Findings under one heading.
pub struct Group<'a> {
    /// What they have in common.
    pub heading: &'a str,
    /// In the order in which they are shown.
    pub findings: Vec<&'a Finding>,
}

/// Prints groups of findings for a person; empty groups are left out.
pub fn groups(groups: &[Group<'_>], ui: &Ui) -> Result<()> {
    ui.write(|out| {
        let mut first = true;
        for group in groups.iter().filter(|group| !group.findings.is_empty()) {
            if !first {
                writeln!(out)?;
            }
            first = false;
            let heading = format!("{} ({})", group.heading, group.findings.len());
            writeln!(out, "{}", Style::Bold.paint(&heading, ui.color()))?;
            for (index, finding) in group.findings.iter().enumerate() {
                // Neighbours with the same remedy share it.
                let next = group.findings.get(index + 1);
                let hint = next.is_none_or(|next| next.hint != finding.hint);
                block(out, finding, 2, hint, ui)?;
            }
        }
        Ok(())
    })
}

/// One block a finding: what it is and where, what it means, what to do.
fn blocks<'a>(findings: impl Iterator<Item = &'a Finding>, ui: &Ui) -> Result<()> {
    let findings: Vec<&Finding> = findings.collect();
    ui.write(|out| {
        findings
            .into_iter()
            .try_for_each(|finding| block(out, finding, 0, true, ui))
    })
}

fn block(
    out: &mut dyn Write,
    finding: &Finding,
    indent: usize,
    hint: bool,
    ui: &Ui,
) -> std::io::Result<()> {
    let head = format!("{}[{}]", finding.severity, finding.code);
    let head = Style::of(finding.severity).paint(&head, ui.color());
    let place = match finding.locus.to_string() {
        root if root.is_empty() => ".".to_owned(),
        place => place,
    };
    writeln!(out, "{:indent$}{head} {}", "", sanitize::terminal(&place))?;
    let indent = indent + 2;
    let message = sanitize::terminal(&finding.message);
    for line in text::wrap(&message, ui.width(), indent) {
        writeln!(out, "{:indent$}{line}", "")?;
    }
    if let Some(hint) = finding.hint.as_ref().filter(|_| hint) {
        let head = Style::Note.paint("hint:", ui.color());
        let hint = ui.pasted(hint);
        writeln!(out, "{:indent$}{head} {}", "", sanitize::terminal(&hint))?;
    }
    Ok(())
}
