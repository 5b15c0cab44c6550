//! What is generated and committed is what the program prints. `UPDATE_DOCS=1` writes it anew.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use wagg::diag::Code;

use crate::support::{TestEnv, files_below, schema, source};

/// Compares a folder (or writes it anew) with what it should hold, file names and bytes.
#[track_caller]
fn compare(dir: &str, wanted: &BTreeMap<String, Vec<u8>>) {
    let dir = source().join(dir);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(&dir).unwrap();
        for path in files_below(&dir, "") {
            std::fs::remove_file(path).unwrap();
        }
        for (name, bytes) in wanted {
            std::fs::write(dir.join(name), bytes).unwrap();
        }
        return;
    }
    let there = contents(&dir);
    let names = |map: &BTreeMap<String, Vec<u8>>| map.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(
        names(&there),
        names(wanted),
        "{} does not hold what it should; run the tests with UPDATE_DOCS=1",
        dir.display()
    );
    for (name, bytes) in wanted {
        assert!(
            there.get(name) == Some(bytes),
            "{}/{name} is not what the program prints; run the tests with UPDATE_DOCS=1",
            dir.display()
        );
    }
}

fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    if !dir.exists() {
        return BTreeMap::new();
    }
    let read = |path: std::path::PathBuf| {
        let name = path.strip_prefix(dir).unwrap().display().to_string();
        (name, std::fs::read(path).unwrap())
    };
    files_below(dir, "").into_iter().map(read).collect()
}

#[test]
fn man_holds_a_page_for_each_command() {
    let env = TestEnv::new();
    let out = env.wagg(["man", "pages"]).status(0);
    assert!(out.stderr.contains("written to pages"), "{out}");
    let pages = contents(&env.path("pages"));
    let first = env.wagg(["man"]).ok();
    assert_eq!(pages.get("wagg.1").unwrap(), first.bytes());
    for (name, page) in &pages {
        let page = String::from_utf8(page.clone()).unwrap();
        for section in ["NAME", "SYNOPSIS", "EXIT STATUS", "ENVIRONMENT", "FILES"] {
            let quoted = format!(".SH \"{section}\"");
            assert!(
                page.contains(&format!(".SH {section}\n")) || page.contains(&quoted),
                "{name} has no {section}"
            );
        }
    }
    compare("man", &pages);
}

#[test]
fn completions_hold_a_script_for_each_shell() {
    let env = TestEnv::new();
    let scripts = [
        ("bash", "wagg.bash"),
        ("zsh", "_wagg"),
        ("fish", "wagg.fish"),
        ("elvish", "wagg.elv"),
        ("powershell", "_wagg.ps1"),
    ];
    let wanted = scripts
        .map(|(shell, name)| {
            let out = env.wagg(["completions", shell]).ok();
            (name.to_owned(), out.bytes().to_owned())
        })
        .into();
    compare("completions", &wanted);
}

#[test]
fn the_page_of_codes_is_that_of_the_table() {
    let env = TestEnv::new();
    let page = env.wagg(["explain", "--markdown"]).ok();
    let path = source().join("docs/codes.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, page.bytes()).unwrap();
        return;
    }
    let there = std::fs::read_to_string(&path).unwrap();
    assert!(
        there == page.stdout(),
        "docs/codes.md is not what the program prints; run the tests with UPDATE_DOCS=1"
    );
    for code in Code::ALL {
        assert!(
            there.contains(&format!("\n## {code}\n")),
            "{code} has no section"
        );
    }
}

/// Every `"wagg.….…/1"` in the source is described in `docs/json/`, and nothing else is.
#[test]
fn every_json_document_has_a_schema() {
    let mut named = BTreeSet::new();
    for file in files_below(&source().join("src/bin"), ".rs") {
        let code = std::fs::read_to_string(file).unwrap();
        for (at, _) in code.match_indices("\"wagg.") {
            let text: String = code[at + 1..].chars().take_while(|c| *c != '"').collect();
            if let Some((name, "1")) = text.split_once('/') {
                named.insert(name.trim_start_matches("wagg.").to_owned());
            }
        }
    }
    named.insert("error".to_owned());
    let there: BTreeSet<String> = files_below(&source().join("docs/json"), ".json")
        .iter()
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(there, named, "docs/json/ against the names in src/bin/");
    for name in there {
        let schema = schema::read(&name);
        assert!(schema["$schema"].is_string(), "{name}");
        assert!(schema["description"].is_string(), "{name}");
    }
}

/// The commands that texts send a person to.
const COMMANDS: [&str; 20] = [
    "init",
    "worker",
    "show",
    "segment",
    "run",
    "migrate",
    "verify",
    "orphans",
    "repair",
    "report",
    "quarantine",
    "apply",
    "op",
    "lock",
    "export",
    "import",
    "demo",
    "explain",
    "completions",
    "man",
];

/// What may follow the program's name in a sentence.
const VERBS: [&str; 9] = [
    "came", "does", "itself", "keeps", "leaves", "never", "prints", "was", "will",
];

#[test]
fn remedies_name_commands_that_there_are() {
    for code in Code::ALL {
        let text = code.explain();
        for part in [text.cause, text.example, text.remedy] {
            for (at, found) in part.match_indices("wagg ") {
                let rest = part[at + found.len()..].chars();
                let word: String = rest.take_while(char::is_ascii_lowercase).collect();
                assert!(
                    word.is_empty()
                        || COMMANDS.contains(&word.as_str())
                        || VERBS.contains(&word.as_str()),
                    "{code}: wagg {word}"
                );
            }
        }
    }
}
