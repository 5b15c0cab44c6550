//! Numbers: their grammar, whether a double can hold them, and whether they fit their type.

use super::{Bytes, Sink, Step, Value, Walker};
use crate::diag::Code;
use crate::record::shape::{Slot, Ty};

impl<B: Bytes, S: Sink> Walker<'_, B, S> {
    pub(super) fn typed_number(&mut self, ty: &Ty, slot: Slot, at: u64) -> Step {
        let number = self.number(at)?;
        let whole = number.whole;
        let fits = match ty {
            Ty::Float => Ok(()),
            Ty::U64 | Ty::StrOrU64 | Ty::U32 => {
                if number.negative || !number.integer {
                    Err(Code::WrongType)
                } else if whole.is_none_or(|n| matches!(ty, Ty::U32) && n > u64::from(u32::MAX)) {
                    Err(Code::NumberOutOfRange)
                } else {
                    Ok(())
                }
            }
            _ if !number.integer => Err(Code::WrongType),
            _ => {
                let most = i32::MAX as u64 + u64::from(number.negative);
                if whole.is_none_or(|n| n > most) {
                    Err(Code::NumberOutOfRange)
                } else {
                    Ok(())
                }
            }
        };
        match fits {
            Ok(()) => {
                if let (Some(n), true) = (whole, slot != Slot::None) {
                    self.sink.value(slot, Value::U64(n), at);
                }
            }
            Err(code) => {
                let word = self.word_at(at);
                self.note_value(code, at, format_args!("not {}:{word}", ty.name()));
            }
        }
        Ok(())
    }

    /// Passes over a whole number without a sign whose few digits, and the byte behind them, are
    /// in sight.
    #[inline]
    fn short_number(&mut self) -> Option<u64> {
        let rest = self.bytes.window().get(self.pos..)?;
        let mut whole = 0;
        let mut digits = 0;
        let behind = loop {
            match rest.get(digits)? {
                b @ b'0'..=b'9' if digits < 18 => whole = whole * 10 + u64::from(b - b'0'),
                b => break b,
            }
            digits += 1;
        };
        let zero_leads = digits > 1 && rest[0] == b'0';
        if digits == 0 || zero_leads || matches!(behind, b'0'..=b'9' | b'.' | b'e' | b'E') {
            return None;
        }
        self.pos += digits;
        Some(whole)
    }

    /// Reads a number; the cursor stands on its first byte.
    #[inline]
    pub(super) fn number(&mut self, at: u64) -> Step<Number> {
        match self.short_number() {
            Some(whole) => Ok(Number {
                negative: false,
                integer: true,
                whole: Some(whole),
            }),
            None => self.any_number(at),
        }
    }

    fn any_number(&mut self, at: u64) -> Step<Number> {
        let negative = self.peek() == Some(b'-');
        if negative {
            self.pos += 1;
        }
        let mut whole: Option<u64> = Some(0);
        let mut lead = Lead::default();
        match self.peek() {
            Some(b'0') => {
                self.pos += 1;
                if self.peek().is_some_and(|b| b.is_ascii_digit()) {
                    return Err(self.syntax("a number with a leading zero"));
                }
            }
            Some(b'1'..=b'9') => {
                while let Some(b @ b'0'..=b'9') = self.peek() {
                    let digit = u64::from(b - b'0');
                    whole = whole
                        .and_then(|n| n.checked_mul(10))
                        .and_then(|n| n.checked_add(digit));
                    lead.push(digit);
                    lead.point += 1;
                    self.pos += 1;
                }
            }
            _ => return Err(self.unexpected("a digit")),
        }
        let mut integer = true;
        if self.peek() == Some(b'.') {
            integer = false;
            self.pos += 1;
            let mut any = false;
            while let Some(b @ b'0'..=b'9') = self.peek() {
                any = true;
                if lead.digits == 0 {
                    lead.point -= i64::from(b == b'0');
                }
                lead.push(u64::from(b - b'0'));
                self.pos += 1;
            }
            if !any {
                return Err(self.unexpected("a digit"));
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            integer = false;
            self.pos += 1;
            let sign = self.peek();
            if let Some(b'-' | b'+') = sign {
                self.pos += 1;
            }
            let mut exponent: i64 = 0;
            let mut any = false;
            while let Some(b @ b'0'..=b'9') = self.peek() {
                any = true;
                exponent = exponent
                    .saturating_mul(10)
                    .saturating_add(i64::from(b - b'0'));
                self.pos += 1;
            }
            if !any {
                return Err(self.unexpected("a digit"));
            }
            let exponent = if sign == Some(b'-') {
                -exponent
            } else {
                exponent
            };
            lead.point = lead.point.saturating_add(exponent);
        }
        if lead.is_above_a_double() {
            self.note(
                Code::NumberOutOfRange,
                at,
                "a number that does not fit a double",
            );
        }
        Ok(Number {
            negative,
            integer,
            whole,
        })
    }
}

pub(super) struct Number {
    negative: bool,
    integer: bool,
    /// The digits of a whole number without its sign, if they fit.
    whole: Option<u64>,
}

/// The leading digits of a number and where its decimal point stands among them: enough to tell
/// whether a double can hold it, however long it is and however it came in windows.
#[derive(Default)]
struct Lead {
    /// The first 19 significant digits.
    value: u64,
    /// How many they are.
    digits: u32,
    /// The number is 0.<digits> times ten to this power.
    point: i64,
}

impl Lead {
    #[inline]
    fn push(&mut self, digit: u64) {
        if self.digits < 19 && (self.digits > 0 || digit > 0) {
            self.value = self.value * 10 + digit;
            self.digits += 1;
        }
    }

    #[inline]
    fn is_above_a_double(&self) -> bool {
        // The largest double is 0.17976931348623157e309.
        self.point >= 309 && self.digits > 0 && (self.point > 309 || self.edge())
    }

    #[cold]
    fn edge(&self) -> bool {
        let text = format!("{}e{}", self.value, 309 - i64::from(self.digits));
        !text.parse::<f64>().is_ok_and(f64::is_finite)
    }
}
