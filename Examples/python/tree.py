"""Fetches JSON, and reads it as a tree of cJSON with the strict parser of libnetcore_cjson, by ctypes.

usage: tree.py URL. Prints each name, and the text that libnetcore_cjson writes. Response.json() needs no tree.
"""

import ctypes
import sys
from contextlib import contextmanager
from ctypes import POINTER, byref, c_char_p, c_int, c_void_p
from typing import Any, Iterator

import netcore
from netcore import _c

# The functions of cJSON are found through the library that needs them.
lib: Any = ctypes.CDLL("libnetcore_cjson.so.0")
lib.nc_cjson_read.argtypes = [_c.Slice, c_void_p, POINTER(c_void_p), POINTER(_c.Error)]
lib.nc_cjson_write.argtypes = [POINTER(_c.Buf), c_void_p, POINTER(_c.Error)]
lib.cJSON_Delete.argtypes, lib.cJSON_Delete.restype = [c_void_p], None
lib.cJSON_GetArraySize.argtypes = [c_void_p]
lib.cJSON_GetArrayItem.argtypes, lib.cJSON_GetArrayItem.restype = [c_void_p, c_int], c_void_p
lib.cJSON_GetObjectItemCaseSensitive.argtypes = [c_void_p, c_char_p]
lib.cJSON_GetObjectItemCaseSensitive.restype = c_void_p
lib.cJSON_GetStringValue.argtypes, lib.cJSON_GetStringValue.restype = [c_void_p], c_char_p


def check(status: int, error: _c.Error) -> None:
    if status != _c.OK:
        raise ValueError(error.message.decode())


@contextmanager
def tree_of(text: bytes) -> Iterator[c_void_p]:
    tree, error = c_void_p(), _c.Error()
    check(lib.nc_cjson_read(_c.view(text), None, byref(tree), byref(error)), error)
    try:
        yield tree
    finally:
        lib.cJSON_Delete(tree)


def text_of(tree: c_void_p) -> bytes:
    buffer, error = _c.lib.nc_buf_init(1 << 20), _c.Error()
    try:
        check(lib.nc_cjson_write(byref(buffer), tree, byref(error)), error)
        return ctypes.string_at(buffer.data, buffer.length)
    finally:
        _c.lib.nc_buf_deinit(byref(buffer))


def main() -> None:
    response = netcore.fetch(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080/cities").raise_for_status()
    with tree_of(response.content) as tree:
        for index in range(lib.cJSON_GetArraySize(tree)):
            city = lib.cJSON_GetArrayItem(tree, index)
            print(lib.cJSON_GetStringValue(lib.cJSON_GetObjectItemCaseSensitive(city, b"name")).decode())
        print("tree:", text_of(tree).decode())


if __name__ == "__main__":
    main()
