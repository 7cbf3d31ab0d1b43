//! Compiles the emulated link, which the kernel tier's emulator shares.

fn main() {
    println!("cargo:rerun-if-changed=src/link.c");
    println!("cargo:rerun-if-changed=src/link.h");
    cc::Build::new().file("src/link.c").compile("link");
}
