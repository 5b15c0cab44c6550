//! One bit for each byte of a block where a reader of a string has to look: its closing quote, an
//! escape that is not plain, a control character.
//!
//! The bits are made for a whole block at once, sixteen bytes at a time and without a branch for
//! each escape, so that passing over a string is a search for the next set bit. A plain escape of
//! two bytes sets none. Whether a byte is escaped follows from the backslashes before it, wherever
//! strings begin: outside of strings a backslash is a fault of its own.

use wide::u8x16;

const WORD: usize = 64;

/// The bits of a block.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    words: Vec<u64>,
    /// The block ends in a backslash that begins an escape.
    open: bool,
    control_free: bool,
}

impl Marks {
    /// Takes a block that begins outside of an escape.
    pub(crate) fn start(&mut self, block: &[u8]) {
        self.open = false;
        self.next(block);
    }

    /// Takes the block that follows the last one in the same line.
    pub(crate) fn next(&mut self, block: &[u8]) {
        self.control_free = true;
        self.words.clear();
        self.words.resize(block.len().div_ceil(WORD), 0);
        let mut open = u64::from(self.open);
        let (parts, rest) = block.as_chunks();
        for (i, part) in parts.iter().enumerate() {
            open = self.part(i, part, open) >> (WORD - 1);
        }
        if !rest.is_empty() {
            let mut part = [b' '; WORD];
            part[..rest.len()].copy_from_slice(rest);
            open = self.part(parts.len(), &part, open) >> (rest.len() - 1) & 1;
        }
        self.open = open == 1;
        // What a backslash at the very end begins is not in sight: somebody has to look.
        if let (true, Some(last)) = (self.open, self.words.last_mut()) {
            *last |= 1 << ((block.len() - 1) % WORD);
        }
    }

    /// Sets a word. `open` is 1 if its first byte is escaped. Gives the backslashes that begin an
    /// escape.
    #[inline(always)]
    fn part(&mut self, index: usize, part: &[u8; WORD], open: u64) -> u64 {
        let lanes = Lanes::of(part);
        let quotes = lanes.equal(b'"');
        let slashes = lanes.equal(b'\\');
        let controls = if lanes.any_control() {
            let controls = lanes.controls();
            self.control_free &= controls == lanes.equal(b'\n');
            controls
        } else {
            0
        };
        if slashes | open == 0 {
            self.words[index] |= quotes | controls;
            return 0;
        }
        // Backslashes escape each other from the start of a run on: subtracting carries through
        // each run, and the odd bits tell its even places from its odd ones.
        const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
        let may_begin = slashes & !open;
        let series = (may_begin << 1 | ODD).wrapping_sub(may_begin) ^ ODD;
        let escaped = series ^ (slashes | open);
        self.words[index] |= quotes & !escaped | controls;
        let rare = escaped & !(quotes | slashes | lanes.equal(b'n'));
        if rare != 0 {
            self.rare_escapes(index, part, rare);
        }
        series & slashes
    }

    /// Marks the backslash before each of these escaped bytes where they are no plain escape.
    fn rare_escapes(&mut self, index: usize, part: &[u8; WORD], mut escaped: u64) {
        while escaped != 0 {
            let at = escaped.trailing_zeros() as usize;
            escaped &= escaped - 1;
            if !matches!(part[at], b't' | b'r' | b'/' | b'b' | b'f') {
                // One that ended the block before this one is marked there.
                if let Some(slash) = (index * WORD + at).checked_sub(1) {
                    self.words[slash / WORD] |= 1 << (slash % WORD);
                }
            }
        }
    }

    /// Whether no control character but newlines stands in the block.
    pub(crate) fn control_free(&self) -> bool {
        self.control_free
    }

    /// The first marked byte from `from` on, as an offset into the block.
    #[inline]
    pub(crate) fn stop(&self, from: usize) -> Option<usize> {
        let mut word = from / WORD;
        let mut found = self.words.get(word)? & (!0 << (from % WORD));
        while found == 0 {
            word += 1;
            found = *self.words.get(word)?;
        }
        Some(word * WORD + found.trailing_zeros() as usize)
    }
}

/// 64 bytes.
struct Lanes([u8x16; 4]);

impl Lanes {
    #[inline(always)]
    fn of(part: &[u8; WORD]) -> Self {
        let (lanes, _) = part.as_chunks::<16>();
        Self([
            u8x16::new(lanes[0]),
            u8x16::new(lanes[1]),
            u8x16::new(lanes[2]),
            u8x16::new(lanes[3]),
        ])
    }

    /// The bytes that are this one.
    #[inline(always)]
    fn equal(&self, byte: u8) -> u64 {
        let byte = u8x16::splat(byte);
        let [a, b, c, d] = &self.0;
        bits(
            a.cmp_eq(byte),
            b.cmp_eq(byte),
            c.cmp_eq(byte),
            d.cmp_eq(byte),
        )
    }

    #[inline(always)]
    fn any_control(&self) -> bool {
        let [a, b, c, d] = self.0;
        control(a.min(b).min(c.min(d))).move_mask() != 0
    }

    #[inline(always)]
    fn controls(&self) -> u64 {
        let [a, b, c, d] = self.0;
        bits(control(a), control(b), control(c), control(d))
    }
}

#[inline(always)]
fn control(lanes: u8x16) -> u8x16 {
    lanes.min(u8x16::splat(0x1f)).cmp_eq(lanes)
}

/// One bit for each lane. Written out: through the closures of an array it is only fast where all
/// of them are inlined.
#[inline(always)]
fn bits(a: u8x16, b: u8x16, c: u8x16, d: u8x16) -> u64 {
    let bits = |lanes: u8x16| u64::from(lanes.move_mask().cast_unsigned());
    bits(a) | bits(b) << 16 | bits(c) << 32 | bits(d) << 48
}

#[cfg(test)]
#[path = "marks_tests.rs"]
mod tests;
