/// The C++ layer over netcore.h.
#ifndef NETCORE_HPP
#define NETCORE_HPP

#include <netcore/client.hpp>
#include <netcore/netcore.hpp>
#include <netcore/websocket.hpp>

#endif
