//! A compact form for what is kept in a disposable file: numbers of variable length, texts with
//! their length before them. Whoever reads it takes nothing for granted: every step can fail, and
//! nothing is reserved that the bytes themselves do not carry.

/// Bytes that are being put together.
#[derive(Debug, Default)]
pub(crate) struct Pack(Vec<u8>);

impl Pack {
    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// What was put together so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// What was put together.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Seven bits a byte, the lowest first.
    pub fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    /// One byte.
    pub fn flag(&mut self, on: bool) {
        self.0.push(u8::from(on));
    }

    /// A flag, and what it announces.
    pub fn maybe<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            put(self, value);
        }
    }

    /// A number that may be missing.
    pub fn maybe_number(&mut self, n: Option<u64>) {
        self.maybe(n, Self::number);
    }

    /// Bytes whose number the reader knows.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Bytes with their number before them.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.raw(bytes);
    }

    /// A text, as its bytes.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }
}

/// Bytes that are being taken apart. Each step gives none where the bytes do not fit.
#[derive(Debug)]
pub(crate) struct Unpack<'a>(&'a [u8]);

impl<'a> Unpack<'a> {
    /// These bytes, from their start.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// What was not taken yet.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// See [`Pack::number`].
    pub fn number(&mut self) -> Option<u64> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let part = u64::from(byte & 0x7f);
            if (part << shift) >> shift != part {
                return None;
            }
            n |= part << shift;
            if byte & 0x80 == 0 {
                return Some(n);
            }
        }
        None
    }

    /// A number that fits an index.
    pub fn index(&mut self) -> Option<usize> {
        self.number()?.try_into().ok()
    }

    /// See [`Pack::flag`].
    pub fn flag(&mut self) -> Option<bool> {
        match self.raw(1)? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }

    /// See [`Pack::maybe`]. The outer none is one of reading.
    pub fn maybe<T>(&mut self, take: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        Some(if self.flag()? {
            Some(take(self)?)
        } else {
            None
        })
    }

    /// See [`Pack::maybe_number`].
    pub fn maybe_number(&mut self) -> Option<Option<u64>> {
        self.maybe(Self::number)
    }

    /// So many bytes.
    pub fn raw(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    /// See [`Pack::bytes`].
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let n = self.index()?;
        self.raw(n)
    }

    /// See [`Pack::text`].
    pub fn text(&mut self) -> Option<String> {
        std::str::from_utf8(self.bytes()?).ok().map(str::to_owned)
    }

    /// As many as a number says, each taken by `take`.
    pub fn list<T>(&mut self, mut take: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let n = self.index()?;
        // Each takes a byte at least.
        let mut all = Vec::with_capacity(n.min(self.0.len()).min(1024));
        for _ in 0..n {
            all.push(take(self)?);
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again_and_no_cut_does() {
        let mut pack = Pack::default();
        let numbers = [0, 1, 127, 128, 300, 1 << 35, u64::MAX];
        pack.number(numbers.len() as u64);
        numbers.iter().for_each(|n| pack.number(*n));
        pack.flag(true);
        pack.maybe_number(None);
        pack.maybe_number(Some(7));
        pack.text("é☂");
        pack.bytes(&[0, 255]);
        let bytes = pack.into_bytes();
        let read = |bytes: &[u8]| {
            let mut from = Unpack::new(bytes);
            let all = (
                from.list(Unpack::number)?,
                from.flag()?,
                from.maybe_number()?,
                from.maybe_number()?,
                from.text()?,
                from.bytes()?.to_vec(),
            );
            from.rest().is_empty().then_some(all)
        };
        let all = read(&bytes).unwrap();
        assert_eq!(all.0, numbers);
        assert_eq!((all.1, all.2, all.3), (true, None, Some(7)));
        assert_eq!((all.4.as_str(), all.5), ("é☂", vec![0, 255]));
        for cut in 0..bytes.len() {
            assert!(read(&bytes[..cut]).is_none(), "cut at {cut}");
        }
        // no number of more than 64 bits, and no list that the bytes can not hold
        assert_eq!(Unpack::new(&[0xff; 10]).number(), None);
        let mut huge = Pack::default();
        huge.number(u64::MAX);
        assert!(
            Unpack::new(&huge.into_bytes())
                .list(Unpack::number)
                .is_none()
        );
    }
}
