//! Tables in the Arrow C data interface:
//! <https://arrow.apache.org/docs/format/CDataInterface.html>.

mod borrow;
mod export;

use std::ffi::{c_char, c_void};

pub(crate) use borrow::{BorrowedColumn, BorrowedTable};
pub(crate) use export::{AlignedBuffer, ExportedColumn, export_table};

/// The type of a column or a table.
/// cbindgen:no-export
#[derive(Debug)]
#[repr(C)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// The data of a column or a table.
/// cbindgen:no-export
#[derive(Debug)]
#[repr(C)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}
