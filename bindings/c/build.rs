//! Sets the soname of the shared library. It changes with the first incompatible version.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor != "apple") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libsimkeep.so.0");
    }
}
