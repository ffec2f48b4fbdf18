//! Converts pointers from C to Rust and back. All `unsafe` code of this library is in this module
//! and its submodules; a test checks this rule.
//!
//! A pointer enters this library in one way: as an argument of a function that C calls, or in a
//! structure that such an argument points to. The header specifies the target of the pointer, and
//! the caller guarantees a valid target. No compiler can see this guarantee, so the functions of
//! this module take raw pointers without being `unsafe fn`s themselves. Use these functions for
//! arguments from C only. The functions check everything that can be checked: NULL, impossible
//! lengths, alignment, UTF-8, and the sizes of structures.
//!
//! A reference from this module is valid until the call from C returns.

pub(crate) mod arrow;
pub(crate) mod owning_ref;

use std::ffi::{CStr, OsStr, c_char};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use crate::failure::{Failure, Result};

/// A structure of the header: integers, floating-point numbers, arrays of them and pointers,
/// without padding. So any bytes are a valid value, and a new field at the end makes the structure
/// larger.
///
/// # Safety
///
/// The type must be a structure without padding whose fields are integers, floating-point numbers,
/// arrays of them, and pointers.
pub(crate) unsafe trait Plain: Copy {
    /// The smallest size that a program may pass, which includes all mandatory fields.
    const LEAST: usize;
}

/// Declares a structure to be [`Plain`], with its last mandatory field. Each module declares its
/// own structures.
macro_rules! plain {
    ($Name:ident, up to $last:ident) => {
        // SAFETY: the structure has only fields that `Plain` allows. A test compiles the header
        // with `-Wpadded`, which proves that there is no padding between the fields.
        unsafe impl $crate::abi::Plain for $Name {
            const LEAST: usize = std::mem::offset_of!($Name, $last)
                + $crate::abi::size_of_field(|of: &$Name| &of.$last);
        }
    };
}

pub(crate) use plain;

/// Returns the size of a field.
pub(crate) const fn size_of_field<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// Returns the target of a pointer that must not be NULL.
pub(crate) fn handle<'a, T>(pointer: *const T, name: &'static str) -> Result<&'a T> {
    optional(pointer, name)?.ok_or_else(|| Failure::null(name))
}

/// Returns the target of a pointer that may be NULL.
pub(crate) fn optional<'a, T>(pointer: *const T, name: &'static str) -> Result<Option<&'a T>> {
    if !pointer.is_aligned() {
        return Err(Failure::argument(name, "it does not point to an object of this type"));
    }
    // SAFETY: the pointer is NULL, or the caller got it from this library and has not freed it.
    Ok(unsafe { pointer.as_ref() })
}

/// Returns bytes of the caller. NULL is allowed if the length is 0.
pub(crate) fn bytes<'a>(
    pointer: *const c_char,
    len: usize,
    name: &'static str,
) -> Result<&'a [u8]> {
    if len == 0 {
        return Ok(&[]);
    }
    check_length(pointer, len, 1, name)?;
    // SAFETY: the pointer is not NULL, memory can have this length, and the caller guarantees that the
    // bytes are there.
    Ok(unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), len) })
}

/// Returns a text of the caller. NULL is an error even for length 0, since an empty text also has
/// an address.
pub(crate) fn text<'a>(pointer: *const c_char, len: usize, name: &'static str) -> Result<&'a str> {
    optional_text(pointer, len, name)?.ok_or_else(|| Failure::null(name))
}

/// Returns a text of the caller, or `None` for NULL.
pub(crate) fn optional_text<'a>(
    pointer: *const c_char,
    len: usize,
    name: &'static str,
) -> Result<Option<&'a str>> {
    if pointer.is_null() {
        return Ok(None);
    }
    let read = std::str::from_utf8(bytes(pointer, len, name)?);
    let what = |at| format!("it must be UTF-8; byte {at} is invalid");
    read.map(Some).map_err(|e| Failure::argument(name, what(e.valid_up_to())))
}

/// Returns a path that ends with a NUL.
pub(crate) fn path<'a>(pointer: *const c_char, name: &'static str) -> Result<&'a Path> {
    if pointer.is_null() {
        return Err(Failure::null(name));
    }
    // SAFETY: the pointer is not NULL, and the caller guarantees that a NUL ends the path.
    let path = unsafe { CStr::from_ptr(pointer) };
    Ok(Path::new(OsStr::from_bytes(path.to_bytes())))
}

/// Copies numbers of the caller. Other threads may write the numbers concurrently, and the pointer
/// may be unaligned.
pub(crate) fn numbers<T: PodNumber>(
    pointer: *const T,
    count: usize,
    name: &'static str,
) -> Result<Vec<T>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    check_length(pointer, count, size_of::<T>(), name)?;
    let mut numbers = Vec::new();
    let no_memory = |_| Failure::argument(name, "there is not enough memory to copy it");
    numbers.try_reserve_exact(count).map_err(no_memory)?;
    // SAFETY: the caller guarantees this many numbers, and the buffer has space for them; any bytes
    // are a valid number.
    unsafe {
        let to: *mut T = numbers.as_mut_ptr();
        ptr::copy_nonoverlapping(pointer.cast::<u8>(), to.cast::<u8>(), count * size_of::<T>());
        numbers.set_len(count);
    }
    Ok(numbers)
}

/// A number type without padding, of which any bytes are a valid value.
pub(crate) trait PodNumber: Copy {}

impl PodNumber for u8 {}
impl PodNumber for u32 {}
impl PodNumber for u64 {}
impl PodNumber for i32 {}
impl PodNumber for i64 {}
impl PodNumber for f64 {}

/// Reads a structure that begins with its size.
pub(crate) fn sized<T: Plain>(pointer: *const T, name: &'static str) -> Result<T> {
    if pointer.is_null() {
        return Err(Failure::null(name));
    }
    // SAFETY: the pointer is not NULL, and the caller guarantees that the structure begins with a
    // size.
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    structure(pointer, size, name)
}

/// Reads a structure of the caller's size; missing fields are zero.
pub(crate) fn structure<T: Plain>(pointer: *const T, size: usize, name: &'static str) -> Result<T> {
    check_size::<T>(size, name)?;
    check_length(pointer, 1, size, name)?;
    let mut value = MaybeUninit::<T>::zeroed();
    let known = size.min(size_of::<T>());
    // SAFETY: the caller guarantees `size` bytes, and no more bytes are copied than the value has.
    // The remaining bytes are zero, so all bytes are initialised, and any bytes are a valid value.
    let value = unsafe {
        let from = pointer.cast::<u8>();
        ptr::copy_nonoverlapping(from, value.as_mut_ptr().cast::<u8>(), known);
        if std::slice::from_raw_parts(from.add(known), size - known).iter().any(|byte| *byte != 0) {
            let what = "a field that this version of the library does not know is not zero";
            return Err(Failure::argument(name, what));
        }
        value.assume_init()
    };
    Ok(value)
}

/// Reads a structure that begins with its size, with defaults for fields that the caller's header
/// lacks.
pub(crate) fn read_versioned_struct<T: Plain>(
    pointer: *const T,
    defaults: T,
    name: &'static str,
) -> Result<T> {
    let given = sized(pointer, name)?;
    // SAFETY: the pointer was checked to be not NULL, and the caller guarantees that the structure
    // begins with a size.
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    let mut whole = defaults;
    // Both values are structures of the header, so the call copies fields.
    put_structure(&raw mut whole, size.min(size_of::<T>()), &given, name)?;
    Ok(whole)
}

/// Reads an array of structures, each of the caller's size.
pub(crate) fn structures<T: Plain>(
    pointer: *const T,
    count: usize,
    size: usize,
    name: &'static str,
) -> Result<Vec<T>> {
    check_size::<T>(size, name)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    check_length(pointer, count, size, name)?;
    let one = |nth: usize| {
        // The address is within the array, whose length was checked.
        let at = pointer.cast::<u8>().wrapping_add(nth * size).cast::<T>();
        structure(at, size, name).map_err(|failure| failure.at(nth))
    };
    (0..count).map(one).collect()
}

/// Checks that a value can be written to the caller's pointer, before the value is computed.
pub(crate) fn check_put<T>(pointer: *mut T, name: &'static str) -> Result<()> {
    if pointer.is_null() { Err(Failure::null(name)) } else { Ok(()) }
}

/// Writes a value to the caller's pointer.
pub(crate) fn put<T: Copy>(pointer: *mut T, value: T, name: &'static str) -> Result<()> {
    check_put(pointer, name)?;
    // SAFETY: the pointer is not NULL, and the caller guarantees that it points to memory for a `T`.
    unsafe { pointer.write_unaligned(value) };
    Ok(())
}

/// Checks that a structure can be written to the caller's pointer, before the structure is
/// computed.
pub(crate) fn check_put_structure<T: Plain>(
    pointer: *mut T,
    size: usize,
    name: &'static str,
) -> Result<()> {
    check_size::<T>(size, name)?;
    check_length(pointer, 1, size, name)
}

/// Writes the part of a structure that the caller's header has, and zeros for fields that this
/// library does not have.
pub(crate) fn put_structure<T: Plain>(
    pointer: *mut T,
    size: usize,
    value: &T,
    name: &'static str,
) -> Result<()> {
    check_put_structure(pointer, size, name)?;
    let known = size.min(size_of::<T>());
    // SAFETY: the caller guarantees memory for `size` bytes. The code writes `size` bytes, and
    // reads at most the bytes of `value`.
    unsafe {
        let to = pointer.cast::<u8>();
        ptr::copy_nonoverlapping(ptr::from_ref(value).cast::<u8>(), to, known);
        to.add(known).write_bytes(0, size - known);
    }
    Ok(())
}

/// Stores an error for the caller, unless the pointer is NULL. An earlier error is kept.
pub(crate) fn leave(pointer: *mut *mut Failure, failure: Failure) {
    if pointer.is_null() {
        return;
    }
    // SAFETY: `pointer` is not NULL, and the caller guarantees that it points to a pointer that is
    // NULL or points to an error.
    unsafe {
        if pointer.read_unaligned().is_null() {
            pointer.write_unaligned(Box::into_raw(Box::new(failure)));
        }
    }
}

/// Registers a function to be called in each process that is forked from this process, until the
/// library is unloaded.
pub(crate) fn on_fork(in_child: extern "C" fn()) -> std::io::Result<()> {
    // The libc declaration has a different type, since any function of C may panic.
    let in_child: unsafe extern "C" fn() = in_child;
    // SAFETY: the function only increments an atomic number, which is safe after a fork.
    match unsafe { libc::pthread_atfork(None, None, Some(in_child)) } {
        0 => Ok(()),
        error => Err(std::io::Error::from_raw_os_error(error)),
    }
}

/// Returns a structure of zeros.
pub(crate) fn zeroed<T: Plain>() -> T {
    // SAFETY: any bytes are a valid value.
    unsafe { std::mem::zeroed() }
}

/// Reads a column in a test, like a program in C.
#[cfg(test)]
pub(crate) fn column<'a, T>(pointer: *const T, count: usize) -> &'a [T] {
    assert!(!pointer.is_null());
    // SAFETY: the tests request at most the number of elements of the column.
    unsafe { std::slice::from_raw_parts(pointer, count) }
}

/// Whether a test received no error.
#[cfg(test)]
pub(crate) fn is_null<T>(pointer: *const T) -> bool {
    pointer.is_null()
}

fn check_size<T: Plain>(size: usize, name: &'static str) -> Result<()> {
    if (T::LEAST..=isize::MAX.unsigned_abs()).contains(&size) {
        return Ok(());
    }
    let what = format!(
        "its size is {size} bytes; this version of the library expects {}, and at least {}",
        size_of::<T>(),
        T::LEAST
    );
    Err(Failure::argument(name, what))
}

/// Checks that an array is not NULL and fits into memory.
fn check_length<T>(pointer: *const T, count: usize, size: usize, name: &'static str) -> Result<()> {
    if pointer.is_null() {
        return Err(Failure::null(name));
    }
    let bytes = count.checked_mul(size).filter(|bytes| *bytes <= isize::MAX.unsigned_abs());
    let end = bytes.and_then(|bytes| pointer.addr().checked_add(bytes));
    if end.is_none() {
        let what = format!("its length of {count} exceeds the address space");
        return Err(Failure::argument(name, what));
    }
    Ok(())
}
