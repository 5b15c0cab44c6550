//! Findings as a person reads them: in groups, each with its place, what it means, and a command.

use std::io::{self, Write};

use wagg::diag::{Finding, Result};

use super::color::Style;
use super::{Ui, sanitize, text};

/// Findings under one heading.
#[derive(Debug)]
pub struct Group<'a> {
    /// What they have in common.
    pub heading: &'a str,
    /// In the order in which they are shown.
    pub findings: Vec<&'a Finding>,
}

impl Ui {
    /// Prints groups of findings for a person; empty groups are left out.
    ///
    /// # Errors
    /// Standard output can not be written to; a closed pipe is no error.
    pub fn findings(&self, groups: &[Group<'_>]) -> Result<()> {
        self.write(|out| {
            let mut first = true;
            for group in groups.iter().filter(|group| !group.findings.is_empty()) {
                if !first {
                    writeln!(out)?;
                }
                first = false;
                write_group(out, group, self.width(), self.color())?;
            }
            Ok(())
        })
    }
}

fn write_group(
    out: &mut dyn Write,
    group: &Group<'_>,
    width: Option<u16>,
    color: bool,
) -> io::Result<()> {
    let count = group.findings.len();
    let heading = format!("{} ({count})", group.heading);
    writeln!(out, "{}", Style::Bold.paint(&heading, color))?;
    for (index, finding) in group.findings.iter().enumerate() {
        let severity = format!("{}[{}]", finding.severity, finding.code);
        let severity = Style::of(finding.severity).paint(&severity, color);
        let place = finding.locus.to_string();
        let place = if place.is_empty() { "." } else { &place };
        writeln!(out, "  {severity} {}", sanitize::terminal(place))?;
        for line in text::wrap(&sanitize::terminal(&finding.message), width, 4) {
            writeln!(out, "    {line}")?;
        }
        // Neighbours with the same remedy share it.
        let next = group.findings.get(index + 1);
        if let Some(hint) = &finding.hint
            && next.is_none_or(|next| next.hint.as_ref() != Some(hint))
        {
            let head = Style::Note.paint("hint:", color);
            writeln!(out, "    {head} {}", sanitize::terminal(hint))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wagg::diag::{Code, Locus, Subject};

    #[test]
    fn neighbours_share_a_hint_and_text_is_wrapped() {
        let finding = |path: &str, hint: &str| {
            let message = "five words of a message";
            Finding::new(
                Code::OrphanSession,
                Subject::default(),
                Locus::file(path),
                message,
            )
            .with_hint(hint)
        };
        let all = [finding("a", "x"), finding("b\x1b", "x"), finding("c", "y")];
        let group = Group {
            heading: "Owned by nobody",
            findings: all.iter().collect(),
        };
        let mut out = Vec::new();
        write_group(&mut out, &group, Some(24), false).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "Owned by nobody (3)\n\
             \x20 warning[orphan_session] a\n    five words of a\n    message\n\
             \x20 warning[orphan_session] b\\u{1b}\n    five words of a\n    message\n    hint: x\n\
             \x20 warning[orphan_session] c\n    five words of a\n    message\n    hint: y\n"
        );
    }
}
