//! Properties of pages that have no visit yet. They are kept in a scratch file until the
//! end of the input, since the first visit may come later. Memory does not grow with their number.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Seek, Write};

use simkeep::{Entry, Property, PropertyEntry, Time};

use crate::exit::VerbError;

const WEIGHT: u8 = 0;
const CLASS: u8 = 1;

/// The properties of pages without visits, in order.
#[derive(Default)]
pub(super) struct UnvisitedProperties {
    /// The scratch file, which has no name. It is created with the first property.
    file: Option<BufWriter<File>>,
}

impl UnvisitedProperties {
    /// Adds a property of a page.
    pub(super) fn add(&mut self, url: &str, given: &PropertyEntry) -> Result<(), VerbError> {
        self.write(url, given).map_err(|e| failed(&e))
    }

    fn write(&mut self, url: &str, given: &PropertyEntry) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(BufWriter::new(tempfile::tempfile()?)),
        };
        let (kind, bits) = match given.property {
            Property::Weight(weight) => (WEIGHT, weight.get().to_bits()),
            Property::Class(class) => (CLASS, class),
            // They describe content that was seen at their time, and nobody saw it.
            Property::ETag(_) | Property::Target(_) => return Ok(()),
        };
        let len = u32::try_from(url.len()).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
        file.write_all(&len.to_le_bytes())?;
        file.write_all(url.as_bytes())?;
        file.write_all(&given.time.as_ms().to_le_bytes())?;
        file.write_all(&[kind])?;
        file.write_all(&bits.to_le_bytes())
    }

    /// Returns an iterator over all properties.
    pub(super) fn read(self) -> Result<UnvisitedReader, VerbError> {
        let Some(file) = self.file else { return Ok(UnvisitedReader(None)) };
        let file = file.into_inner().map_err(|e| failed(e.error()))?;
        (&file).rewind().map_err(|e| failed(&e))?;
        Ok(UnvisitedReader(Some(BufReader::new(file))))
    }
}

/// Reads the properties, in order.
pub(super) struct UnvisitedReader(Option<BufReader<File>>);

impl UnvisitedReader {
    /// Returns the next property.
    pub(super) fn next(&mut self) -> Result<Option<(String, Entry)>, VerbError> {
        let Some(file) = &mut self.0 else { return Ok(None) };
        read(file).map_err(|e| failed(&e))
    }
}

fn read(file: &mut BufReader<File>) -> io::Result<Option<(String, Entry)>> {
    let mut len = [0; 4];
    match file.read_exact(&mut len) {
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut url = Vec::new();
    file.take(u32::from_le_bytes(len).into()).read_to_end(&mut url)?;
    let (mut time, mut kind, mut bits) = ([0; 8], [0], [0; 4]);
    file.read_exact(&mut time)?;
    file.read_exact(&mut kind)?;
    file.read_exact(&mut bits)?;
    let bits = u32::from_le_bytes(bits);
    let property = if kind == [WEIGHT] {
        Property::Weight(f64::from(f32::from_bits(bits)).into())
    } else {
        Property::Class(bits)
    };
    let url = String::from_utf8(url).map_err(|_| io::Error::from(ErrorKind::InvalidData))?;
    Ok(Some((
        url,
        Entry::Property(PropertyEntry {
            time: Time::from_ms_unchecked(i64::from_le_bytes(time)),
            property,
        }),
    )))
}

fn failed(error: &io::Error) -> VerbError {
    let folder = std::env::temp_dir();
    VerbError::Other(format!("cannot use a scratch file in {}: {error}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_return_in_order() {
        let given = |time, property| PropertyEntry { time, property };
        let all = [
            ("http://ä/", given(Time::from_ms_unchecked(-5), Property::Weight(1e-45.into()))),
            ("x", given(Time::from_ms_unchecked(i64::MAX), Property::Class(u32::MAX))),
            ("http://b/", given(Time::from_ms_unchecked(0), Property::Weight(2.5.into()))),
        ];
        let mut unvisited = UnvisitedProperties::default();
        all.iter().for_each(|(url, given)| unvisited.add(url, given).ok().unwrap());
        let mut kept = unvisited.read().ok().unwrap();
        let mut next = || kept.next().ok().unwrap();
        for (url, given) in all {
            let (found, entry) = next().unwrap();
            assert_eq!((found.as_str(), entry), (url, Entry::Property(given)));
        }
        assert!(next().is_none());
        assert!(UnvisitedProperties::default().read().ok().unwrap().next().ok().unwrap().is_none());
    }
}
