//! The module of pointers: how what comes from C becomes Rust, and back. All `unsafe` of this library is
//! here, and a test checks that.
//!
//! A pointer gets into this library in one way: as an argument of a function that C calls, or in a
//! structure that such an argument points to. What it must point to, the header says, and whoever calls
//! from C has promised it. That promise is made where no compiler sees it, so the functions here take
//! raw pointers without being `unsafe fn`s themselves; they are for arguments that came from C, and for
//! nothing else. What can be checked is checked: NULL, lengths that no memory has, alignment, UTF-8, and
//! the sizes of structures.
//!
//! A reference from here may be used until the call from C returns.

pub(crate) mod arrow;
pub(crate) mod lend;

use std::ffi::{CStr, OsStr, c_char};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use crate::failure::{Failure, Result};

/// A structure of the header: of integers, floating-point numbers, arrays of them and pointers, without
/// padding, so that any bytes are a value of it, and so that what is added at its end makes it larger.
///
/// # Safety
///
/// It must be such a structure.
pub(crate) unsafe trait Plain: Copy {
    /// The least size that a program may give: that of what must be there.
    const LEAST: usize;
}

/// Declares that a structure is [`Plain`], which it must be, with the last field that must be there.
/// Each module declares its own structures.
macro_rules! plain {
    ($Name:ident, up to $last:ident) => {
        // SAFETY: it has the fields that `Plain` allows. That nothing is between them, the tests have
        // the C compiler say, of the header.
        unsafe impl $crate::abi::Plain for $Name {
            const LEAST: usize = std::mem::offset_of!($Name, $last)
                + $crate::abi::size_of_field(|of: &$Name| &of.$last);
        }
    };
}

pub(crate) use plain;

/// The size of a field.
pub(crate) const fn size_of_field<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// What a pointer points to that must be there.
pub(crate) fn handle<'a, T>(pointer: *const T, name: &'static str) -> Result<&'a T> {
    optional(pointer, name)?.ok_or_else(|| Failure::null(name))
}

/// What a pointer points to that may be NULL.
pub(crate) fn optional<'a, T>(pointer: *const T, name: &'static str) -> Result<Option<&'a T>> {
    if !pointer.is_aligned() {
        return Err(Failure::argument(name, "it points to no such thing"));
    }
    // SAFETY: it is NULL, or the caller got it from this library and has not freed it.
    Ok(unsafe { pointer.as_ref() })
}

/// Bytes that must be there. NULL is no bytes if there are to be none.
pub(crate) fn bytes<'a>(
    pointer: *const c_char,
    len: usize,
    name: &'static str,
) -> Result<&'a [u8]> {
    if len == 0 {
        return Ok(&[]);
    }
    check_length(pointer, len, 1, name)?;
    // SAFETY: it is not NULL, the length is one that memory can have, and the caller promises that so
    // many bytes are there.
    Ok(unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), len) })
}

/// A text. NULL is an error even if its length is 0: a text that matters is somewhere.
pub(crate) fn text<'a>(pointer: *const c_char, len: usize, name: &'static str) -> Result<&'a str> {
    optional_text(pointer, len, name)?.ok_or_else(|| Failure::null(name))
}

/// A text, or NULL.
pub(crate) fn optional_text<'a>(
    pointer: *const c_char,
    len: usize,
    name: &'static str,
) -> Result<Option<&'a str>> {
    if pointer.is_null() {
        return Ok(None);
    }
    let read = std::str::from_utf8(bytes(pointer, len, name)?);
    let what = |at| format!("it must be UTF-8, and is not at byte {at}");
    read.map(Some).map_err(|e| Failure::argument(name, what(e.valid_up_to())))
}

/// A path, which ends with a NUL.
pub(crate) fn path<'a>(pointer: *const c_char, name: &'static str) -> Result<&'a Path> {
    if pointer.is_null() {
        return Err(Failure::null(name));
    }
    // SAFETY: it is not NULL, and the caller promises that a NUL ends it.
    let path = unsafe { CStr::from_ptr(pointer) };
    Ok(Path::new(OsStr::from_bytes(path.to_bytes())))
}

/// Numbers, copied: others may write them meanwhile, and they need not be aligned.
pub(crate) fn numbers<T: Number>(
    pointer: *const T,
    count: usize,
    name: &'static str,
) -> Result<Vec<T>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    check_length(pointer, count, size_of::<T>(), name)?;
    let mut numbers = Vec::new();
    let no_room = |_| Failure::argument(name, "there is no memory for a copy of it");
    numbers.try_reserve_exact(count).map_err(no_room)?;
    // SAFETY: the caller promises that so many numbers are there, and there is room for as many; any
    // bytes are a number.
    unsafe {
        let to: *mut T = numbers.as_mut_ptr();
        ptr::copy_nonoverlapping(pointer.cast::<u8>(), to.cast::<u8>(), count * size_of::<T>());
        numbers.set_len(count);
    }
    Ok(numbers)
}

/// Types of numbers: any bytes are one, and none of them is padding.
pub(crate) trait Number: Copy {}

impl Number for u8 {}
impl Number for u32 {}
impl Number for u64 {}
impl Number for i32 {}
impl Number for i64 {}
impl Number for f64 {}

/// A structure that begins with its size.
pub(crate) fn sized<T: Plain>(pointer: *const T, name: &'static str) -> Result<T> {
    if pointer.is_null() {
        return Err(Failure::null(name));
    }
    // SAFETY: it is not NULL, and the caller promises that a size is there.
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    structure(pointer, size, name)
}

/// A structure of a size that the caller gives: with zeros for what it lacks.
pub(crate) fn structure<T: Plain>(pointer: *const T, size: usize, name: &'static str) -> Result<T> {
    check_size::<T>(size, name)?;
    check_length(pointer, 1, size, name)?;
    let mut value = MaybeUninit::<T>::zeroed();
    let known = size.min(size_of::<T>());
    // SAFETY: the caller promises that `size` bytes are there, and no more of them are copied than there
    // is room for. What is not copied is zero, so all is initialised, and any bytes are a value.
    let value = unsafe {
        let from = pointer.cast::<u8>();
        ptr::copy_nonoverlapping(from, value.as_mut_ptr().cast::<u8>(), known);
        if std::slice::from_raw_parts(from.add(known), size - known).iter().any(|byte| *byte != 0) {
            let what = "it has something in a field that this version of the library does not know";
            return Err(Failure::argument(name, what));
        }
        value.assume_init()
    };
    Ok(value)
}

/// A structure that begins with its size, with defaults for what the caller's version of the header has
/// not.
pub(crate) fn grown<T: Plain>(pointer: *const T, defaults: T, name: &'static str) -> Result<T> {
    let given = sized(pointer, name)?;
    // SAFETY: it is not NULL, as was checked, and the caller promises that a size is there.
    let size = unsafe { pointer.cast::<usize>().read_unaligned() };
    let mut whole = defaults;
    // Both are structures of the header, so this copies fields.
    put_structure(&raw mut whole, size.min(size_of::<T>()), &given, name)?;
    Ok(whole)
}

/// Structures in a row, each of a size that the caller gives.
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
        // Within memory that is there, as was checked.
        let at = pointer.cast::<u8>().wrapping_add(nth * size).cast::<T>();
        structure(at, size, name).map_err(|failure| failure.at(nth))
    };
    (0..count).map(one).collect()
}

/// Checks that a value can be put where the caller wants it, before there is one.
pub(crate) fn check_put<T>(pointer: *mut T, name: &'static str) -> Result<()> {
    if pointer.is_null() { Err(Failure::null(name)) } else { Ok(()) }
}

/// Puts a value where the caller wants it.
pub(crate) fn put<T: Copy>(pointer: *mut T, value: T, name: &'static str) -> Result<()> {
    check_put(pointer, name)?;
    // SAFETY: it is not NULL, and the caller promises that there is room for it.
    unsafe { pointer.write_unaligned(value) };
    Ok(())
}

/// Checks that a structure can be put where the caller wants it, before there is one.
pub(crate) fn room<T: Plain>(pointer: *mut T, size: usize, name: &'static str) -> Result<()> {
    check_size::<T>(size, name)?;
    check_length(pointer, 1, size, name)
}

/// Puts as much of a structure where the caller wants it as the caller knows, and zeros where the
/// caller knows more.
pub(crate) fn put_structure<T: Plain>(
    pointer: *mut T,
    size: usize,
    value: &T,
    name: &'static str,
) -> Result<()> {
    room(pointer, size, name)?;
    let known = size.min(size_of::<T>());
    // SAFETY: the caller promises that there is room for `size` bytes, and no more are written, nor more
    // read than the value has.
    unsafe {
        let to = pointer.cast::<u8>();
        ptr::copy_nonoverlapping(ptr::from_ref(value).cast::<u8>(), to, known);
        to.add(known).write_bytes(0, size - known);
    }
    Ok(())
}

/// Leaves an error for the caller, who wants it unless the pointer is NULL. One that stands there
/// already is the first, and stays.
pub(crate) fn leave(pointer: *mut *mut Failure, failure: Failure) {
    if pointer.is_null() {
        return;
    }
    // SAFETY: it is not NULL, and the caller promises that a pointer is there, NULL or to an error.
    unsafe {
        if pointer.read_unaligned().is_null() {
            pointer.write_unaligned(Box::into_raw(Box::new(failure)));
        }
    }
}

/// Has a function called in each process that is forked from this one, until the library is unloaded.
pub(crate) fn on_fork(in_child: extern "C" fn()) -> std::io::Result<()> {
    // A C function of another declaration, since the one at hand may panic for all that C knows.
    let in_child: unsafe extern "C" fn() = in_child;
    // SAFETY: what is called only adds to an atomic number, which is safe after a fork.
    match unsafe { libc::pthread_atfork(None, None, Some(in_child)) } {
        0 => Ok(()),
        error => Err(std::io::Error::from_raw_os_error(error)),
    }
}

/// A structure of zeros.
pub(crate) fn zeroed<T: Plain>() -> T {
    // SAFETY: any bytes are a value.
    unsafe { std::mem::zeroed() }
}

/// What a test gets of a column, as a program in C would read it.
#[cfg(test)]
pub(crate) fn column<'a, T>(pointer: *const T, count: usize) -> &'a [T] {
    assert!(!pointer.is_null());
    // SAFETY: the tests ask for as many as there are.
    unsafe { std::slice::from_raw_parts(pointer, count) }
}

/// Whether a test got no error.
#[cfg(test)]
pub(crate) fn is_null<T>(pointer: *const T) -> bool {
    pointer.is_null()
}

fn check_size<T: Plain>(size: usize, name: &'static str) -> Result<()> {
    if (T::LEAST..=isize::MAX.unsigned_abs()).contains(&size) {
        return Ok(());
    }
    let what = format!(
        "its size is said to be {size} bytes, and this version of the library knows {} of it, of which \
         {} must be there",
        size_of::<T>(),
        T::LEAST
    );
    Err(Failure::argument(name, what))
}

/// Checks that something is there, and that it can be in memory.
fn check_length<T>(pointer: *const T, count: usize, size: usize, name: &'static str) -> Result<()> {
    if pointer.is_null() {
        return Err(Failure::null(name));
    }
    let bytes = count.checked_mul(size).filter(|bytes| *bytes <= isize::MAX.unsigned_abs());
    let end = bytes.and_then(|bytes| pointer.addr().checked_add(bytes));
    if end.is_none() {
        let what = format!("its length is said to be {count}, which no memory has");
        return Err(Failure::argument(name, what));
    }
    Ok(())
}
