// The steps of the C++ test programs. Each prints its line, and the program fails if one of them failed.
#pragma once

#include <netcore.hpp>

#include <cstdlib>
#include <iostream>
#include <string>

inline int failures = 0;

inline void step(const char *name, bool is_right) {
    failures += is_right ? 0 : 1;
    std::cout << (is_right ? "ok " : "failed ") << name << std::endl;
}

// A URL below the base in an environment variable.
inline std::string url_of(const char *path, const char *variable = "NETCORE_PLAIN") {
    const char *base = std::getenv(variable);
    return std::string(base == nullptr ? "" : base) + path;
}

template <class Call> nc_status status_of(Call call) {
    try {
        call();
    } catch (const netcore::error &error) {
        return error.status();
    }
    return NC_OK;
}
