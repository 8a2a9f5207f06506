//! Finds libnetcore with the program pkg-config, or in the directory NETCORE_LIB_DIR.

use std::env;
use std::process::{exit, Command};

const HELP: &str = "libnetcore was not found. Install it (docs/languages/c.md of NetKit), or set one of these variables:
  - PKG_CONFIG_PATH=PREFIX/lib/pkgconfig
  - NETCORE_LIB_DIR=PREFIX/lib";

fn fail(reason: &str) -> ! {
    eprintln!("{reason}\n\n{HELP}");
    exit(1)
}

/// Returns the output of pkg-config.
fn pkg_config(arguments: &[&str]) -> String {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    match Command::new(&program).args(arguments).output() {
        Err(failure) => fail(&format!("cannot run {program}: {failure}")),
        Ok(output) if !output.status.success() => fail(String::from_utf8_lossy(&output.stderr).trim()),
        Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_string(),
    }
}

fn main() {
    for name in ["PKG_CONFIG", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "PKG_CONFIG_SYSROOT_DIR", "NETCORE_LIB_DIR"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    if let Ok(directory) = env::var("NETCORE_LIB_DIR") {
        println!("cargo:rustc-link-search=native={directory}");
        println!("cargo:rustc-link-lib=netcore");
        println!("cargo:libdir={directory}");
        return;
    }
    // Before version 1.0 each minor version has its own structs.
    pkg_config(&["--print-errors", "--exists", "netcore >= 0.1", "netcore < 0.2"]);
    for word in pkg_config(&["--libs", "netcore"]).split_whitespace() {
        if let Some(directory) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={directory}");
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={library}");
        }
    }
    // DEP_NETCORE_LIBDIR in the build scripts of dependents, for an rpath.
    println!("cargo:libdir={}", pkg_config(&["--variable=libdir", "netcore"]));
}
