//! Opening of regular files under their own names.
//!
//! The directory may have been prepared by an attacker. So symbolic links are not followed,
//! creating a file fails if the name exists, and opening does not block: opening a pipe would wait
//! for the pipe's other end.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::Access;

/// The default permissions of a new file: none for other users.
pub(super) const PRIVATE_MODE: u32 = 0o600;

/// Whether the last part of a path may be a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkPolicy {
    Refused,
    Followed,
}

/// Opens a regular file. A new file gets the permissions `mode`, regardless of the umask.
///
/// # Errors
///
/// `InvalidData` if the file is not a regular file, `AlreadyExists` if the file to create exists;
/// otherwise the error of the system.
pub(super) fn open(path: &Path, access: Access, links: LinkPolicy, mode: u32) -> io::Result<File> {
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == LinkPolicy::Refused {
        flags |= OFlags::NOFOLLOW;
    }
    let mut options = File::options();
    options.read(true).custom_flags(flags.bits().cast_signed());
    match access {
        Access::Read => {}
        Access::Write => {
            options.write(true);
        }
        Access::Create => {
            options.write(true).create_new(true).mode(mode);
        }
    }
    let file = match options.open(path) {
        Err(e) if e.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            return Err(irregular("a symbolic link"));
        }
        // The file is a device without hardware, or a socket.
        Err(e) if e.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
            return Err(irregular("a socket or a device"));
        }
        Err(e) if e.kind() == ErrorKind::IsADirectory => return Err(irregular("a directory")),
        opened => opened?,
    };
    let kind = file.metadata()?.file_type();
    if !kind.is_file() {
        return Err(irregular(match kind {
            kind if kind.is_dir() => "a directory",
            kind if kind.is_fifo() => "a pipe",
            _ => "a device",
        }));
    }
    if access == Access::Create && mode != PRIVATE_MODE {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    Ok(file)
}

/// The error for something other than a regular file or a directory.
pub(super) fn irregular(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("it is not a regular file but {what}"))
}

/// The permissions of a directory for files with the permissions `mode`: everyone who may read the
/// files may enter the directory.
pub(super) fn directory_mode(mode: u32) -> u32 {
    mode | (mode & 0o444) >> 2
}

/// The permissions of an existing file, for another file to copy; `None` if there is no such file.
pub(super) fn mode_of(path: &Path) -> Option<u32> {
    let found = fs::symlink_metadata(path).ok().filter(|found| found.is_file())?;
    Some(PRIVATE_MODE | found.permissions().mode() & 0o666)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &Path, access: Access) -> String {
        let error = open(path, access, LinkPolicy::Refused, PRIVATE_MODE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}");
        error.to_string()
    }

    #[test]
    fn special_files_are_refused_without_blocking() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "x").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("none"), at("dangling")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        for access in [Access::Read, Access::Write] {
            assert!(refused(&at("link"), access).contains("a symbolic link"));
            assert!(refused(&at("dangling"), access).contains("a symbolic link"));
            assert!(refused(&at("pipe"), access).contains("a pipe"));
            assert!(refused(&at("socket"), access).contains("a socket"));
            assert!(refused(&at("folder"), access).contains("a directory"));
            assert!(refused(Path::new("/dev/null"), access).contains("a device"));
        }
        open(&at("link"), Access::Read, LinkPolicy::Followed, PRIVATE_MODE).unwrap();
    }

    #[test]
    fn existing_path_is_not_created_again() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "x").unwrap();
        std::os::unix::fs::symlink(at("none"), at("dangling")).unwrap();
        for name in ["file", "dangling"] {
            let error =
                open(&at(name), Access::Create, LinkPolicy::Refused, PRIVATE_MODE).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{name}");
        }
        assert_eq!(fs::read(at("file")).unwrap(), b"x");
        assert!(!at("none").exists());
    }

    #[test]
    fn new_files_have_the_requested_permissions() {
        let dir = tempfile::tempdir().unwrap();
        for mode in [0o600, 0o640, 0o664, 0o666] {
            let path = dir.path().join(format!("{mode:o}"));
            open(&path, Access::Create, LinkPolicy::Refused, mode).unwrap();
            assert_eq!(mode_of(&path), Some(mode));
        }
        assert_eq!([0o600, 0o640, 0o664].map(directory_mode), [0o700, 0o750, 0o775]);
    }
}
