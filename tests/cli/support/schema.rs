//! The part of JSON Schema that `docs/json/` uses, so that documents can be held against it.
//!
//! A keyword that is not known here is an error and not passed over: a schema must not promise
//! what no test looks at.

use serde_json::{Map, Value};

use super::source;

/// Holds a document against `docs/json/<name>.json`; panics with every difference.
#[track_caller]
pub fn check(name: &str, document: &Value) {
    let schema = read(name);
    let wrong = differences(&schema, document);
    assert!(
        wrong.is_empty(),
        "not as docs/json/{name}.json says:\n{}\n{document:#}",
        wrong.join("\n")
    );
}

/// The schema of this name.
#[track_caller]
pub fn read(name: &str) -> Value {
    let path = source().join("docs/json").join(format!("{name}.json"));
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// What of the document is not as the schema says.
pub fn differences(schema: &Value, document: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    walk(schema, schema, document, "$", &mut wrong);
    wrong
}

fn walk(root: &Value, schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        if schema == &Value::Bool(false) {
            wrong.push(format!("{at}: must not be there"));
        }
        return;
    };
    for (keyword, rule) in keywords {
        let fine = match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let target = rule
                    .as_str()
                    .and_then(|r| root.pointer(r.trim_start_matches('#')));
                match target {
                    Some(target) => walk(root, target, value, at, wrong),
                    None => wrong.push(format!("{at}: {rule} leads nowhere")),
                }
                true
            }
            "type" => match rule {
                Value::Array(any) => any.iter().any(|one| is_type(one, value)),
                one => is_type(one, value),
            },
            "const" => rule == value,
            "enum" => rule.as_array().is_some_and(|all| all.contains(value)),
            "minimum" => match (rule.as_f64(), value.as_f64()) {
                (Some(least), Some(value)) => value >= least,
                _ => true,
            },
            "minLength" => match (rule.as_u64(), value.as_str()) {
                (Some(least), Some(text)) => text.chars().count() as u64 >= least,
                _ => true,
            },
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    walk(root, rule, item, &format!("{at}[{index}]"), wrong);
                }
                true
            }
            "required" => {
                let names = rule
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str);
                for name in names {
                    if value.is_object() && value.get(name).is_none() {
                        wrong.push(format!("{at}: {name} is missing"));
                    }
                }
                true
            }
            "properties" => {
                for (name, rule) in rule.as_object().into_iter().flatten() {
                    if let Some(value) = value.get(name) {
                        walk(root, rule, value, &format!("{at}.{name}"), wrong);
                    }
                }
                true
            }
            "additionalProperties" => {
                for (name, value) in more(keywords, value) {
                    walk(root, rule, value, &format!("{at}.{name}"), wrong);
                }
                true
            }
            "oneOf" | "anyOf" => {
                let fits = rule.as_array().into_iter().flatten().filter(|one| {
                    let mut wrong = Vec::new();
                    walk(root, one, value, at, &mut wrong);
                    wrong.is_empty()
                });
                let fits = fits.count();
                fits == 1 || (fits > 1 && keyword == "anyOf")
            }
            _ => {
                wrong.push(format!(
                    "{at}: the keyword {keyword} is not known to the tests"
                ));
                true
            }
        };
        if !fine {
            wrong.push(format!("{at}: {keyword} {rule} does not hold for {value}"));
        }
    }
}

fn more<'a>(
    keywords: &'a Map<String, Value>,
    value: &'a Value,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let known = keywords.get("properties").and_then(Value::as_object);
    value
        .as_object()
        .into_iter()
        .flatten()
        .filter(move |(name, _)| !known.is_some_and(|known| known.contains_key(*name)))
}

fn is_type(name: &Value, value: &Value) -> bool {
    match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_u64() || value.is_i64(),
        _ => false,
    }
}

#[test]
fn the_checker_sees_what_it_should() {
    let schema = serde_json::json!({
        "type": "object",
        "required": ["a"],
        "properties": { "a": { "enum": [1, 2] }, "b": { "$ref": "#/$defs/text" } },
        "additionalProperties": false,
        "$defs": { "text": { "type": "string", "minLength": 1 } }
    });
    let wrong = |document: Value| differences(&schema, &document).len();
    assert_eq!(wrong(serde_json::json!({ "a": 1, "b": "x" })), 0);
    assert_eq!(wrong(serde_json::json!({ "b": "" })), 2);
    assert_eq!(wrong(serde_json::json!({ "a": 3, "c": 1 })), 2);
    assert_eq!(wrong(serde_json::json!([])), 1);
    let unknown = serde_json::json!({ "patternn": "x" });
    assert_eq!(differences(&unknown, &Value::Null).len(), 1);
}
