# What `cmake --install` puts in place: libraries, headers, a pkg-config file and a CMake package. All of them find their
# prefix from their own place, so that `cmake --install --prefix` and moving the tree keep them right.
include(CMakePackageConfigHelpers)

install(TARGETS netcore_shared EXPORT netcore-shared)
install(TARGETS netcore_static EXPORT netcore-static)
install(FILES include/netcore.h bindings/cpp/netcore.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${netcore_headers} bindings/cpp/netcore/client.hpp bindings/cpp/netcore/netcore.hpp
    bindings/cpp/netcore/websocket.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/netcore)

if(NETCORE_CJSON)
    install(TARGETS netcore_cjson_shared EXPORT netcore-cjson-shared)
    install(TARGETS netcore_cjson_static EXPORT netcore-cjson-static)
    install(FILES Sources/CNetCJSON/include/netcore/cjson.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/netcore)
endif()

if(NETCORE_REDIS)
    install(TARGETS netcore_redis_shared EXPORT netcore-redis-shared)
    install(TARGETS netcore_redis_static EXPORT netcore-redis-static)
    install(FILES Sources/CNetRedis/include/netcore/redis.h Sources/CNetRedis/include/netcore/redis_subscription.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/netcore)
endif()

# --- CMake ---

set(netcore_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/netcore)
# Two files, so that who links the shared library needs no development files of what is underneath.
foreach(kind IN ITEMS shared static)
    install(EXPORT netcore-${kind} NAMESPACE netcore:: DESTINATION ${netcore_cmake_dir})
    if(NETCORE_CJSON)
        install(EXPORT netcore-cjson-${kind} NAMESPACE netcore:: DESTINATION ${netcore_cmake_dir})
    endif()
    if(NETCORE_REDIS)
        install(EXPORT netcore-redis-${kind} NAMESPACE netcore:: DESTINATION ${netcore_cmake_dir})
    endif()
endforeach()
configure_package_config_file(cmake/netcore-config.cmake.in netcore-config.cmake INSTALL_DESTINATION ${netcore_cmake_dir})
# Not one of CMake's own: they refuse every range that goes beyond one interface, though its caller says to know several.
configure_file(cmake/netcore-config-version.cmake.in netcore-config-version.cmake @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/netcore-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/netcore-config-version.cmake
    DESTINATION ${netcore_cmake_dir})

# --- pkg-config ---

if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(netcore_pc_prefix "${CMAKE_INSTALL_PREFIX}")
    set(netcore_pc_libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
    set(netcore_pc_includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
    file(RELATIVE_PATH netcore_pc_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
    string(REGEX REPLACE "/$" "" netcore_pc_up "${netcore_pc_up}")
    set(netcore_pc_prefix "\${pcfiledir}/${netcore_pc_up}")
    set(netcore_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(netcore_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()

# `pkg-config --static` names all that libcurl itself was made from, also where the system has no development files of it
# (Debian's libcurl4-openssl-dev only suggests them) and no such link can succeed. There libnetcore.a goes with libcurl.so.
# libidn2 does the same: it names libunistring, whose development files libidn2-dev does not depend on.
include(CheckCSourceCompiles)
set(netcore_pc_requires "openssl >= ${netcore_openssl_floor}, zlib")
set(netcore_pc_libs "-pthread -ldl")
if(APPLE)
    string(APPEND netcore_pc_libs " -liconv")
endif()
foreach(library IN ITEMS libpsl libidn2 libcurl)
    string(TOUPPER ${library} LIBRARY)
    pkg_check_modules(${LIBRARY} QUIET ${library})
    set(CMAKE_REQUIRED_LIBRARIES ${${LIBRARY}_STATIC_LDFLAGS})
    check_c_source_compiles("int main(void) { return 0; }" NETCORE_${LIBRARY}_LINKS_STATICALLY)
    unset(CMAKE_REQUIRED_LIBRARIES)
    string(REPLACE lib "" name ${library})
    if(${LIBRARY}_FOUND AND NETCORE_${LIBRARY}_LINKS_STATICALLY)
        string(PREPEND netcore_pc_requires "${library} >= ${netcore_${name}_floor}, ")
    else()
        string(PREPEND netcore_pc_libs "-l${name} ")
    endif()
endforeach()

file(CONFIGURE OUTPUT netcore.pc @ONLY CONTENT [[
prefix=@netcore_pc_prefix@
libdir=@netcore_pc_libdir@
includedir=@netcore_pc_includedir@

Name: netcore
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Requires.private: @netcore_pc_requires@
Libs: -L${libdir} -lnetcore
Libs.private: @netcore_pc_libs@
Cflags: -I${includedir}
]])
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/netcore.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(NETCORE_CJSON)
    file(CONFIGURE OUTPUT netcore_cjson.pc @ONLY CONTENT [[
prefix=@netcore_pc_prefix@
libdir=@netcore_pc_libdir@
includedir=@netcore_pc_includedir@

Name: netcore_cjson
Description: JSON of libnetcore as trees of cJSON
Version: @PROJECT_VERSION@
Requires: netcore = @PROJECT_VERSION@, libcjson >= 1.7.14
Libs: -L${libdir} -lnetcore_cjson
Libs.private: -lm
Cflags: -I${includedir}
]])
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/netcore_cjson.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

if(NETCORE_REDIS)
    file(CONFIGURE OUTPUT netcore_redis.pc @ONLY CONTENT [[
prefix=@netcore_pc_prefix@
libdir=@netcore_pc_libdir@
includedir=@netcore_pc_includedir@

Name: netcore_redis
Description: A client of Redis and Valkey on libnetcore
Version: @PROJECT_VERSION@
Requires: netcore = @PROJECT_VERSION@
Requires.private: hiredis >= 0.14, openssl >= @netcore_openssl_floor@
Libs: -L${libdir} -lnetcore_redis
Libs.private: -pthread
Cflags: -I${includedir}
]])
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/netcore_redis.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
