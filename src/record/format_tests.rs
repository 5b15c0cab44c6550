//! `docs/format.md` says in words what the tables say: every name of theirs stands in it.

use std::collections::BTreeSet;

use super::documents;
use super::schema::{RECORD, TRACE};
use super::shape::{Shape, Ty};

/// Names of fields, kinds and words, with where they come from.
#[derive(Default)]
struct Names(BTreeSet<(&'static str, String)>);

impl Names {
    fn add(&mut self, name: &'static str, of: &str) {
        self.0.insert((name, of.to_owned()));
    }

    fn shape(&mut self, shape: &'static Shape) {
        for field in shape.fields {
            self.add(field.name, shape.name);
            self.ty(&field.ty, shape.name);
        }
    }

    fn ty(&mut self, ty: &'static Ty, of: &str) {
        match ty {
            Ty::Array(of_these) | Ty::Map(of_these) => self.ty(of_these, of),
            Ty::Object(shape) => self.shape(shape),
            Ty::Tagged(union) => {
                for (kind, shape) in union.variants {
                    self.add(kind, union.name);
                    self.shape(shape);
                }
            }
            Ty::External(external) => {
                for unit in external.units {
                    self.add(unit, external.name);
                }
                for (name, ty) in external.variants {
                    self.add(name, external.name);
                    self.ty(ty, external.name);
                }
            }
            Ty::Enum(words) => {
                for word in *words {
                    self.add(word, of);
                }
            }
            Ty::Any
            | Ty::Str
            | Ty::U64
            | Ty::U32
            | Ty::I32
            | Ty::Float
            | Ty::Bool
            | Ty::Id
            | Ty::Base64
            | Ty::StrOrI32
            | Ty::StrOrU64 => {}
        }
    }
}

#[test]
fn the_page_about_the_format_has_every_name() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/format.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut names = Names::default();
    static SEGMENT: Ty = Ty::Tagged(&RECORD);
    static TRACES: Ty = Ty::Tagged(&TRACE);
    for ty in [
        &SEGMENT,
        &TRACES,
        &documents::RUNTIME_V1,
        &documents::RUNTIME_V3,
        &documents::WORKER_V1,
        &documents::WORKER_V3,
        &documents::METADATA,
        &documents::SESSION,
        &documents::MANIFEST,
        &documents::RETENTION_RECEIPT,
    ] {
        names.ty(ty, "");
    }
    assert!(names.0.len() > 200, "{}", names.0.len());
    let missing: Vec<String> = names
        .0
        .iter()
        .filter(|(name, _)| {
            !page.contains(&format!("`{name}`")) && !page.contains(&format!("`\"{name}\"`"))
        })
        .map(|(name, of)| format!("{name} of {of}"))
        .collect();
    assert!(missing.is_empty(), "docs/format.md lacks {missing:#?}");
}

/// The example of the page is a good Segment.
#[test]
fn the_example_of_the_page_is_good() {
    use super::{Fold, Format, Limits, Scanner};
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/format.md");
    let page = std::fs::read_to_string(path).unwrap();
    let example = page.split("```json\n").nth(1).unwrap();
    let example = example.split("```").next().unwrap().as_bytes();
    let mut fold = Fold::new();
    let scanned = Scanner::new(Limits::default())
        .scan(example, example.len() as u64, Format::Segment, |line| {
            fold.push(line);
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    let (outline, remarks) = fold.finish(&scanned);
    assert_eq!(remarks, []);
    assert_eq!(outline.records, 8);
}
