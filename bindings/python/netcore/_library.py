"""Finds and loads the shared library."""

import ctypes
import ctypes.util
import os
import subprocess
import sys
from typing import Iterator

# Before version 1.0 each minor version has its own structs.
VERSION = "0.1"

_NAME = "libnetcore.dylib" if sys.platform == "darwin" else "libnetcore.so.0"

_HELP = """libnetcore, which this package calls, is not installed, or was not found.

Install it in one of these ways (docs/languages/c.md of NetKit has the details):
  - from a clone of NetKit:  cmake -S . -B build/core -DBUILD_TESTING=OFF && cmake --build build/core
                             sudo cmake --install build/core && sudo ldconfig
  - as Debian packages:      script/package --no-nk && sudo apt install ./build/package/out/libnetcore*.deb

If it is installed in another prefix, set one of these variables:
  - PKG_CONFIG_PATH=PREFIX/lib/pkgconfig
  - LD_LIBRARY_PATH=PREFIX/lib
  - NETCORE_LIBRARY=PREFIX/lib/libnetcore.so"""


class LibraryNotFoundError(ImportError):
    """libnetcore is not installed, or cannot be loaded. The message lists the ways to install it."""


def _from_pkg_config() -> Iterator[str]:
    command = [os.environ.get("PKG_CONFIG", "pkg-config"), "--variable=libdir", "netcore"]
    try:
        answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except OSError:  # it is not installed
        return
    directory = os.fsdecode(answer.stdout).strip()
    if answer.returncode == 0 and directory:
        yield os.path.join(directory, _NAME)


def _candidates() -> Iterator[str]:
    """Yields paths and names of the library, the most specific first. Later ones are only computed if needed."""
    yield from _from_pkg_config()
    yield _NAME  # the loader's own path
    found = ctypes.util.find_library("netcore")
    if found is not None:
        yield found
    yield os.path.join(sys.prefix, "lib", _NAME)
    yield os.path.join("/usr/local/lib", _NAME)


def _load() -> ctypes.CDLL:
    wanted = os.environ.get("NETCORE_LIBRARY")
    failures = []
    for path in [wanted] if wanted else _candidates():
        try:
            # CDLL releases the interpreter's lock during each call, and acquires it for each callback.
            return ctypes.CDLL(path)
        except OSError as failure:
            failures.append(str(failure))
    if wanted:
        raise LibraryNotFoundError(f"cannot load NETCORE_LIBRARY={wanted}: {failures[0]}\n\n{_HELP}")
    raise LibraryNotFoundError(f"{_HELP}\n\nTried: " + "; ".join(failures))


def load() -> ctypes.CDLL:
    """Returns the library. Raises LibraryNotFoundError if it is missing or has another version."""
    library = _load()
    try:
        version_of = library.nc_version
    except AttributeError:
        raise LibraryNotFoundError(f"{library._name} is not libnetcore: it has no function nc_version") from None
    version_of.restype, version_of.argtypes = ctypes.c_char_p, []
    version: bytes = version_of()
    text = version.decode()
    if text.split(".")[:2] != VERSION.split("."):
        raise LibraryNotFoundError(f"{library._name} is libnetcore {text}, but this package needs {VERSION}.x")
    return library
