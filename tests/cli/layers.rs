//! The order of the modules, and that every test file is a part of a test.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::{files_below, source};

/// Each imports only from those before it.
const ORDER: [&str; 5] = ["layout", "diag", "record", "store", "ops"];

/// The names that stand behind `crate::` in code, comments aside.
fn imports(code: &str) -> BTreeSet<String> {
    let code: String = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let mut names = BTreeSet::new();
    for (_, rest) in code
        .match_indices("crate::")
        .map(|(at, m)| code.split_at(at + m.len()))
    {
        let Some(group) = rest.strip_prefix('{') else {
            names.insert(ident(rest));
            continue;
        };
        // use crate::{diag::Code, store::{self, Root}};
        let mut depth = 0;
        let mut part = String::new();
        for c in group.chars() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    names.insert(ident(part.trim()));
                    part.clear();
                    continue;
                }
                _ => {}
            }
            part.push(c);
        }
        names.insert(ident(part.trim()));
    }
    names
}

fn ident(text: &str) -> String {
    text.chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}

#[test]
fn no_module_imports_from_one_to_its_right() {
    let mut wrong = Vec::new();
    for (rank, layer) in ORDER.iter().enumerate() {
        let dir = source().join("src").join(layer);
        if !dir.exists() {
            continue;
        }
        for file in files_below(&dir, ".rs") {
            for name in imports(&std::fs::read_to_string(&file).unwrap()) {
                if ORDER[rank + 1..].contains(&name.as_str()) {
                    wrong.push(format!("{} imports {name}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_library_has_no_other_modules() {
    let mut known: Vec<&str> = ORDER.to_vec();
    known.extend(["bin", "lib.rs"]);
    for entry in std::fs::read_dir(source().join("src")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            known.contains(&name.as_str()),
            "src/{name} has no place in the order"
        );
    }
}

#[test]
fn imports_are_found_in_every_form() {
    let code = "use crate::{diag::Code, store::{self, Root}, ops};\n\
                /// [`crate::nothing`]\n\
                fn f() -> crate::layout::Paths {}";
    let names: Vec<String> = imports(code).into_iter().collect();
    assert_eq!(names, ["diag", "layout", "ops", "store"]);
}

/// `mod a;` in `main.rs`, `mod.rs` or the file beside a folder declares `a.rs` or `a/mod.rs`.
#[test]
fn every_test_file_is_declared() {
    let tests = source().join("tests");
    for entry in std::fs::read_dir(&tests).unwrap() {
        let path = entry.unwrap().path();
        assert!(
            path.is_dir(),
            "{} would be a second test binary: make it a module of tests/cli",
            path.display()
        );
    }
    let root = tests.join("cli");
    for file in files_below(&root, ".rs") {
        if file == root.join("main.rs") {
            continue;
        }
        let is_mod = file.file_name().is_some_and(|name| name == "mod.rs");
        let (name, dir) = match (is_mod, file.parent()) {
            (true, Some(dir)) => (dir.file_name().unwrap(), dir.parent().unwrap()),
            (false, Some(dir)) => (file.file_stem().unwrap(), dir),
            (_, None) => continue,
        };
        let name = name.to_str().unwrap();
        assert!(
            declares(dir, name),
            "nobody declares {} with mod {name};",
            file.display()
        );
    }
}

fn declares(dir: &Path, name: &str) -> bool {
    [
        dir.join("main.rs"),
        dir.join("mod.rs"),
        dir.with_extension("rs"),
    ]
    .iter()
    .filter_map(|parent| std::fs::read_to_string(parent).ok())
    .any(|code| {
        code.lines().any(|line| {
            let line = line
                .trim_start_matches("pub ")
                .trim_start_matches("pub(crate) ");
            line == format!("mod {name};")
        })
    })
}

/// Each variable of ours that is named in the source is one that the manual lists.
#[test]
fn every_environment_variable_is_documented() {
    let listed = std::fs::read_to_string(source().join("src/bin/wagg/env.rs")).unwrap();
    for file in files_below(&source().join("src"), ".rs") {
        if file.to_string_lossy().ends_with("_tests.rs") {
            continue; // what a test asks for is no business of the manual's
        }
        let code = std::fs::read_to_string(&file).unwrap();
        for (at, _) in code.match_indices("\"WAGG_") {
            let name: String = code[at + 1..].chars().take_while(|c| *c != '"').collect();
            assert!(
                listed.contains(&format!("\"{name}\"")),
                "{} reads {name}, which src/bin/wagg/env.rs does not have",
                file.display()
            );
        }
    }
}
