//! What a text calls a command is one: each `wagg X Y` in the source, the pages and the help is in
//! this program, and so are the flags behind it.

use std::collections::BTreeMap;

use crate::support::{TestEnv, files_below, source};

/// Words that stand behind the program's name in a sentence.
const PROSE: &[&str] = &[
    "brings",
    "came",
    "certificate",
    "changed",
    "changes",
    "commands",
    "does",
    "inside",
    "is",
    "itself",
    "keeps",
    "leaves",
    "made",
    "manual",
    "help",
    "never",
    "or",
    "prints",
    "reads",
    "was",
    "will",
];
/// Commands that are nothing without one of their own.
const GROUPS: &[&str] = &[
    "lock",
    "op",
    "quarantine",
    "report",
    "run",
    "segment",
    "worker",
    "worker-peer",
];

/// Flags that are there and that no page has.
const HIDDEN: &[(&str, &str)] = &[("explain", "markdown")];

/// The page of each command, by its words with hyphens between them.
fn pages(env: &TestEnv) -> BTreeMap<String, String> {
    let _ = env.wagg(["man", "pages"]).status(0);
    files_below(&env.path("pages"), ".1")
        .into_iter()
        .filter_map(|path| {
            let name = path
                .file_stem()?
                .to_str()?
                .strip_prefix("wagg-")?
                .to_owned();
            Some((name, std::fs::read_to_string(path).unwrap()))
        })
        .collect()
}

/// What is wrong with what stands behind one `wagg `.
fn fault(rest: &str, pages: &BTreeMap<String, String>) -> Option<String> {
    let end = rest.find(['\n', '\\', '"', '`', '|', ';', ':', '(', ')', '{']);
    let words: Vec<&str> = rest[..end.unwrap_or(rest.len())].split(' ').collect();
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    let bare = |word: &str| word.trim_end_matches(['.', ',', '\'']).to_owned();
    let mut command = bare(words.first()?);
    if !is_word(&command) || command.starts_with('-') {
        return None;
    }
    if !pages.contains_key(&command) {
        return (!PROSE.contains(&&*command)).then(|| format!("wagg {command}"));
    }
    let mut used = 1;
    while GROUPS.contains(&&*command) {
        match words.get(used).map(|word| bare(word)) {
            Some(word) if is_word(&word) && !word.starts_with('-') => {
                command = format!("{command}-{word}");
            }
            _ => break,
        }
        used += 1;
    }
    let Some(page) = pages.get(&command) else {
        return Some(format!("wagg {}", command.replace('-', " ")));
    };
    for word in &words[used..] {
        // Behind a comma or a full stop another sentence may begin.
        if let Some(flag) = word.strip_prefix("--") {
            let name: String = flag
                .chars()
                .take_while(|c| c.is_ascii_lowercase() || *c == '-')
                .collect();
            let escaped = format!("\\-\\-{}", name.replace('-', "\\-"));
            let hidden = HIDDEN.contains(&(&*command, &*name));
            if !name.is_empty() && !hidden && !page.contains(&escaped) {
                return Some(format!("wagg {} --{name}", command.replace('-', " ")));
            }
        }
        if word.ends_with([',', '.']) {
            break;
        }
    }
    None
}

#[test]
fn every_command_that_a_text_names_is_there() {
    let env = TestEnv::new();
    let pages = pages(&env);
    for (text, wanted) in [
        ("export 7", Some("wagg export")),
        ("op undo latest", None),
        ("op redo latest", Some("wagg op redo")),
        ("worker peer drop 7", Some("wagg worker peer drop")),
        ("repair 7 --as-new", Some("wagg repair --as-new")),
        ("repair 7 --allow-lossy --apply", None),
        ("keeps what it takes", None),
    ] {
        assert_eq!(fault(text, &pages).as_deref(), wanted, "{text}");
    }
    let mut files = files_below(&source().join("src"), ".rs");
    files.extend(files_below(&source().join("docs"), ".md"));
    files.push(source().join("README.md"));
    let mut faults = Vec::new();
    for file in files {
        if file.to_string_lossy().ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        for (at, _) in text.match_indices("wagg ") {
            if text[..at].ends_with(|c: char| c.is_alphanumeric() || "/.-_".contains(c)) {
                continue;
            }
            if let Some(what) = fault(&text[at + 5..], &pages) {
                faults.push(format!("{}: {what}", file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A remedy is about the Worker at hand: it has names in capitals, which a plan fills in, and never
/// the number of an example.
#[test]
fn no_remedy_names_the_worker_of_an_example() {
    let env = TestEnv::new();
    let all = env.wagg(["explain", "--all", "--format=json"]).ok().json();
    let codes = all["codes"].as_array().unwrap();
    assert!(codes.len() > 50);
    for code in codes {
        let remedy = code["remedy"].as_str().unwrap();
        for (at, _) in remedy.match_indices("wagg ") {
            let command = remedy[at..].split([',', '.', ';', ':']).next().unwrap();
            let digit = command
                .split(' ')
                .any(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()));
            assert!(!digit, "{}: {command}", code["code"]);
        }
    }
}
