//! README and docs say what the program does: their examples are run, their tables are its own.
//! `UPDATE_DOCS=1` writes the answers and the tables anew.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use wagg::diag::Exit;

use crate::support::{Output, TestEnv, source};

fn page(name: &str) -> String {
    std::fs::read_to_string(source().join(name)).unwrap()
}

fn is_update() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// Two tests may write the same page anew.
static PAGES: Mutex<()> = Mutex::new(());

/// Runs a command line as a person would who stands where the demo's folder is. On a terminal the
/// answer is a table; where it is piped, redirected or asked for otherwise it is not.
fn run(env: &TestEnv, line: &str) -> String {
    let dir = std::path::Path::new(env!("CARGO_BIN_EXE_wagg"))
        .parent()
        .unwrap();
    let path = std::env::join_paths(
        [dir.to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("( {line}\n) 2>&1")])
        .current_dir(env.dir())
        .env_clear()
        .env("PATH", path)
        .env("HOME", env.dir())
        .env("TZ", "UTC");
    if !line.contains(['|', '>']) && !line.contains("--format") {
        command.env("WAGG_FORMAT", "table");
    }
    Output::of(command).stdout().to_owned()
}

/// Breaks an answer into lines that fit a page, as a terminal of 100 columns would.
fn fitted(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let prose = line.starts_with("  ") && !line.trim_start().starts_with("hint:");
        let mut used = 0;
        for word in line.trim_start().split(' ') {
            if used == 0 {
                out.push_str(&line[..indent]);
                used = indent;
            } else if prose && used + 1 + word.len() > 100 {
                out.push('\n');
                out.push_str(&line[..indent]);
                used = indent;
            } else {
                out.push(' ');
                used += 1;
            }
            out.push_str(word);
            used += word.len();
        }
        out.push('\n');
    }
    out
}

/// The page with every `console` block as it is when its commands are run one after the other.
fn with_answers(text: &str) -> (String, usize) {
    let env = TestEnv::new();
    let _ = env.wagg(["demo", "playground"]).status(0);
    let (mut out, mut count, mut inside) = (String::new(), 0, false);
    for line in text.split_inclusive('\n') {
        match (inside, line.trim_end()) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    count += 1;
                    out.push_str(&format!("$ {command}\n"));
                    out.push_str(&fitted(&run(&env, command)));
                }
                continue; // an old answer
            }
            (false, _) => {}
        }
        out.push_str(line);
    }
    (out, count)
}

#[test]
fn examples_are_what_the_program_answers() {
    let _alone = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, least) in [
        ("README.md", 5),
        ("docs/verify.md", 5),
        ("docs/repair.md", 8),
    ] {
        let text = page(name);
        let (answered, count) = with_answers(&text);
        assert!(count >= least, "{name}: {count} commands");
        if is_update() {
            std::fs::write(source().join(name), answered).unwrap();
            continue;
        }
        for (there, answer) in text.lines().zip(answered.lines()) {
            assert_eq!(
                there, answer,
                "{name} is not what the program prints; run the tests with UPDATE_DOCS=1"
            );
        }
        assert_eq!(text.lines().count(), answered.lines().count(), "{name}");
    }
}

/// A fresh machine with Rust needs two commands, and these are they.
#[test]
fn the_readme_names_the_two_commands_of_the_set_up() {
    let text = page("README.md");
    let blocks: Vec<&str> = text.split("```sh\n").skip(1).collect();
    let commands: Vec<&str> = blocks
        .iter()
        .flat_map(|block| block.split("```").next().unwrap().lines())
        .collect();
    assert_eq!(
        commands,
        ["cargo run --locked -- demo", "cargo test --locked"]
    );
}

/// Puts lines between two marks of a page.
fn between(text: &str, mark: &str, lines: &str) -> String {
    let (open, close) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let (before, rest) = text.split_once(&open).unwrap();
    let (_, after) = rest.split_once(&close).unwrap();
    format!("{before}{open}{lines}{close}{after}")
}

#[test]
fn the_tables_of_the_readme_are_those_of_the_program() {
    let _alone = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let env = TestEnv::new();
    let text = page("README.md");
    let mut commands = "| command | does |\n| --- | --- |\n".to_owned();
    for command in leaves(&env) {
        let mut args: Vec<&str> = command.split(' ').collect();
        args.push("-h");
        let out = env.wagg(args).ok();
        let (about, usage) = help(out.stdout());
        let usage = usage.replace('|', "\\|");
        commands.push_str(&format!("| `{usage}` | {about} |\n"));
    }
    let mut statuses = "| status | meaning |\n| --- | --- |\n".to_owned();
    for exit in Exit::ALL {
        statuses.push_str(&format!("| {} | {} |\n", exit.status(), exit.meaning()));
    }
    let wanted = between(&text, "commands", &commands);
    let wanted = between(&wanted, "statuses", &statuses);
    if is_update() {
        std::fs::write(source().join("README.md"), wanted).unwrap();
        return;
    }
    assert!(
        text == wanted,
        "README.md has other tables than the program; run the tests with UPDATE_DOCS=1\n{wanted}"
    );
}

/// The commands that do something themselves, in the order of their names.
fn leaves(env: &TestEnv) -> Vec<String> {
    let _ = env.wagg(["man", "pages"]).status(0);
    let pages: BTreeSet<String> = std::fs::read_dir(env.path("pages"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| {
            let name = name.strip_suffix(".1")?.strip_prefix("wagg-")?;
            Some(name.to_owned())
        })
        .collect();
    let mut leaves: Vec<String> = pages
        .iter()
        .map(|page| page.replace('-', " "))
        // one that only holds others asks for one of them
        .filter(|command| {
            let out = env.wagg(command.split(' ').chain(["-h"])).ok();
            !help(out.stdout()).1.ends_with("<COMMAND>")
        })
        .collect();
    leaves.sort();
    assert!(leaves.len() > 5, "{leaves:?}");
    leaves
}

/// What a command does, and how it is called, from its short help.
fn help(text: &str) -> (String, String) {
    let mut paragraphs = text.split("\n\n");
    let about = paragraphs.next().unwrap().replace('\n', " ");
    let usage = paragraphs
        .find_map(|p| p.trim_start().strip_prefix("Usage: "))
        .unwrap();
    // where a command also holds others, the second line is theirs
    let usage = usage.split("\n       wagg ").next().unwrap();
    let words = usage.split_whitespace().filter(|word| *word != "[OPTIONS]");
    (about, words.collect::<Vec<_>>().join(" "))
}

#[test]
fn the_readme_leads_to_every_page_of_the_docs() {
    let text = page("README.md");
    for entry in std::fs::read_dir(source().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(text.contains(&format!("(docs/{name})")), "docs/{name}");
    }
}

#[test]
fn links_lead_somewhere() {
    for name in [
        "README.md",
        "docs/verify.md",
        "docs/repair.md",
        "docs/migration.md",
        "docs/format.md",
        "CHANGELOG.md",
    ] {
        let text = page(name);
        let dir = source().join(name);
        let dir = dir.parent().unwrap();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split(')').next().unwrap();
            if target.contains("://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() {
                source().join(name)
            } else {
                dir.join(file)
            };
            assert!(path.exists(), "{name}: {target}");
            if !anchor.is_empty() {
                let there = std::fs::read_to_string(&path).unwrap();
                let found = there
                    .lines()
                    .filter_map(|line| line.strip_prefix('#'))
                    .any(|heading| slug(heading) == anchor);
                assert!(found, "{name}: {target}");
            }
        }
    }
}

/// How a heading is called in a link.
fn slug(heading: &str) -> String {
    heading
        .trim_start_matches('#')
        .trim()
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-')
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}
