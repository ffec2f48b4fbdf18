//! Exports tables to another library, which owns and releases them.
//!
//! An exported structure owns the memory that it points to, through a box in `private_data`, and
//! its `release` frees it.

use std::ffi::{CString, c_void};
use std::ptr;

use super::{ArrowArray, ArrowSchema};
use crate::abi::{PodNumber, check_put};
use crate::failure::Result;

/// The flag of a column that may have nulls.
const NULLABLE: i64 = 2;

/// The memory of a column, aligned to eight bytes.
#[derive(Debug)]
pub(crate) struct AlignedBuffer(Vec<u64>);

impl AlignedBuffer {
    /// Copies numbers.
    pub(crate) fn of<T: PodNumber>(numbers: &[T]) -> AlignedBuffer {
        let mut words = vec![0_u64; size_of_val(numbers).div_ceil(size_of::<u64>())];
        // SAFETY: `words` has at least as many bytes as `numbers`, whose bytes have no padding.
        unsafe {
            let (from, to) = (numbers.as_ptr().cast::<u8>(), words.as_mut_ptr().cast::<u8>());
            ptr::copy_nonoverlapping(from, to, size_of_val(numbers));
        }
        AlignedBuffer(words)
    }

    /// Packs each value into one bit, the first value into the lowest bit.
    pub(crate) fn bits(bits: &[bool]) -> AlignedBuffer {
        let byte =
            |bits: &[bool]| bits.iter().rev().fold(0_u8, |byte, bit| byte << 1 | u8::from(*bit));
        AlignedBuffer::of(&bits.chunks(8).map(byte).collect::<Vec<_>>())
    }
}

/// A column to export.
#[derive(Debug)]
pub(crate) struct ExportedColumn {
    pub(crate) name: &'static str,
    /// The type of the column, in the notation of the interface.
    pub(crate) format: &'static str,
    pub(crate) len: usize,
    /// Whether each value is present; `None` if all values are present.
    pub(crate) valid: Option<Vec<bool>>,
    /// The buffers of the column after the validity bitmap.
    pub(crate) buffers: Vec<AlignedBuffer>,
    /// The texts to which the numbers of the column are indexes.
    pub(crate) dictionary: Option<Box<ExportedColumn>>,
    /// The columns of a table.
    pub(crate) children: Vec<ExportedColumn>,
}

/// The memory that a schema points to.
struct SchemaParts {
    _format: CString,
    _name: CString,
    children: Vec<*mut ArrowSchema>,
    dictionary: *mut ArrowSchema,
}

/// The memory that an array points to.
struct ArrayParts {
    _buffers: Vec<Option<AlignedBuffer>>,
    pointers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
    dictionary: *mut ArrowArray,
}

impl ExportedColumn {
    fn schema(&self) -> ArrowSchema {
        let text = |text: &str| CString::new(text).unwrap_or_default();
        let (format, name) = (text(self.format), text(self.name));
        let boxed = |column: &ExportedColumn| Box::into_raw(Box::new(column.schema()));
        let mut children: Vec<_> = self.children.iter().map(boxed).collect();
        let dictionary = self.dictionary.as_deref().map_or(ptr::null_mut(), boxed);
        ArrowSchema {
            format: format.as_ptr(),
            name: name.as_ptr(),
            metadata: ptr::null(),
            flags: if self.valid.is_some() { NULLABLE } else { 0 },
            n_children: length(children.len()),
            children: children.as_mut_ptr(),
            dictionary,
            release: Some(release_schema),
            private_data: Box::into_raw(Box::new(SchemaParts {
                _format: format,
                _name: name,
                children,
                dictionary,
            }))
            .cast(),
        }
    }

    fn array(self) -> ArrowArray {
        let absent = |valid: &Vec<bool>| valid.iter().filter(|valid| !**valid).count();
        let null_count = self.valid.as_ref().map_or(0, absent);
        let valid = self.valid.as_deref().map(AlignedBuffer::bits);
        let buffers: Vec<Option<AlignedBuffer>> =
            std::iter::once(valid).chain(self.buffers.into_iter().map(Some)).collect();
        let start = |buffer: &Option<AlignedBuffer>| {
            buffer.as_ref().map_or(ptr::null(), |buffer| buffer.0.as_ptr().cast())
        };
        let mut pointers: Vec<*const c_void> = buffers.iter().map(start).collect();
        let boxed = |column: ExportedColumn| Box::into_raw(Box::new(column.array()));
        let mut children: Vec<_> = self.children.into_iter().map(boxed).collect();
        let dictionary = self.dictionary.map_or(ptr::null_mut(), |column| boxed(*column));
        ArrowArray {
            length: length(self.len),
            null_count: length(null_count),
            offset: 0,
            n_buffers: length(pointers.len()),
            n_children: length(children.len()),
            buffers: pointers.as_mut_ptr(),
            children: children.as_mut_ptr(),
            dictionary,
            release: Some(release_array),
            private_data: Box::into_raw(Box::new(ArrayParts {
                _buffers: buffers,
                pointers,
                children,
                dictionary,
            }))
            .cast(),
        }
    }
}

/// Converts a length to the type of the interface. No allocation is longer.
fn length(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

/// Exports a table by writing its type and its data to the caller's pointers.
pub(crate) fn export_table(
    table: ExportedColumn,
    schema: *mut ArrowSchema,
    array: *mut ArrowArray,
) -> Result<()> {
    check_put(schema, "schema")?;
    check_put(array, "array")?;
    // SAFETY: neither pointer is NULL, and the caller guarantees memory for both structures. The
    // memory may be uninitialized, so its old content is not dropped.
    unsafe {
        schema.write_unaligned(table.schema());
        array.write_unaligned(table.array());
    }
    Ok(())
}

/// Releases an exported schema.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the caller passes the exported structure, or a copy that replaced it; the replaced
    // structure is not released. `ExportedColumn::schema` boxed the parts. Children that were moved out
    // have no `release`.
    unsafe {
        let parts = Box::from_raw((*schema).private_data.cast::<SchemaParts>());
        for child in parts.children.iter().chain([&parts.dictionary]).filter(|of| !of.is_null()) {
            if let Some(release) = (**child).release {
                release(*child);
            }
            drop(Box::from_raw(*child));
        }
        (*schema).release = None;
    }
}

/// Releases an exported array.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as in `release_schema`, with parts that `ExportedColumn::array` boxed.
    unsafe {
        let parts = Box::from_raw((*array).private_data.cast::<ArrayParts>());
        debug_assert_eq!(parts.pointers.as_ptr().cast_mut(), (*array).buffers);
        for child in parts.children.iter().chain([&parts.dictionary]).filter(|of| !of.is_null()) {
            if let Some(release) = (**child).release {
                release(*child);
            }
            drop(Box::from_raw(*child));
        }
        (*array).release = None;
    }
}
