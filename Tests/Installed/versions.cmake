# Checks which version requests of find_package(netcore) an installed version satisfies:
# cmake -P Tests/Installed/versions.cmake
cmake_minimum_required(VERSION 3.25)

set(template ${CMAKE_CURRENT_LIST_DIR}/../../cmake/netcore-config-version.cmake.in)

# Installs only the version file of a library with this version and pointer size, and calls find_package() with the
# remaining arguments.
function(check version bytes wanted)
    string(REGEX MATCH "^[0-9]+" PROJECT_VERSION_MAJOR ${version})
    string(REGEX MATCH "^[0-9]+[.]([0-9]+)" _ ${version})
    set(PROJECT_VERSION_MINOR ${CMAKE_MATCH_1})
    set(PROJECT_VERSION ${version})
    set(place ${CMAKE_CURRENT_BINARY_DIR}/versions/${version}-${bytes})
    set(asking ${CMAKE_SIZEOF_VOID_P})
    set(CMAKE_SIZEOF_VOID_P ${bytes})
    configure_file(${template} ${place}/netcore-config-version.cmake @ONLY)
    set(CMAKE_SIZEOF_VOID_P ${asking})
    file(WRITE ${place}/netcore-config.cmake "")

    find_package(netcore ${ARGN} CONFIG QUIET PATHS ${place} NO_DEFAULT_PATH)
    unset(netcore_DIR CACHE)
    if(NOT netcore_FOUND STREQUAL wanted)
        message(SEND_ERROR "netcore ${version} (${bytes} bytes a pointer): find_package(netcore ${ARGN}) is ${netcore_FOUND}")
    endif()
endfunction()

set(CMAKE_SIZEOF_VOID_P 8)

# A single version: satisfied by versions with the same interface that are not older.
check(0.1.2 8 1)
check(0.1.2 8 1 0.1)
check(0.1.2 8 1 0.1.2)
check(0.1.2 8 0 0.1.3)
check(0.1.2 8 0 0)
check(0.1.2 8 0 0.0.9)
check(0.1.2 8 0 0.2)
check(0.1.2 8 0 1)
check(0.10.0 8 0 0.1)
check(1.4.0 8 1 1)
check(1.4.0 8 1 1.2.7)
check(1.4.0 8 0 1.5)
check(1.4.0 8 0 0.4)
check(1.4.0 8 0 0.1)
check(1.4.0 8 0 2)
check(10.4.0 8 0 1)

# EXACT: satisfied only by that version.
check(0.1.0 8 1 0.1 EXACT)
check(0.1.0 8 1 0.1.0 EXACT)
check(0.1.2 8 0 0.1 EXACT)
check(1.4.0 8 0 1.2 EXACT)

# A range: satisfied by versions within it. CMake's rules decide whether the ends belong to it.
check(0.1.2 8 1 0.1...0.3)
check(0.2.7 8 1 0.1...0.3)
check(0.3.0 8 1 0.1...0.3)
check(0.3.0 8 0 0.1...<0.3)
check(0.3.1 8 0 0.1...0.3)
check(0.0.9 8 0 0.1...0.3)
check(0.1.0 8 1 0.1.0...0.1.0)
check(0.9.9 8 1 0.1...<1)
check(1.0.0 8 0 0.1...<1)
check(1.9.0 8 1 0.1...<2)
check(0.10.0 8 0 0.1...0.3)

# A library for another pointer size satisfies no request.
check(0.1.2 4 0)
check(0.1.2 4 0 0.1)
check(0.1.2 4 0 0.1...0.3)
unset(CMAKE_SIZEOF_VOID_P)
check(0.1.2 4 1 0.1)
