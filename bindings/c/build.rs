//! Gives the shared library its name for the linker, which changes when what is linked may not go on.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor != "apple") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libsimkeep.so.0");
    }
}
