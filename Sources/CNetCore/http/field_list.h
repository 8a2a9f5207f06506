/// Reads lists in the values of fields. Members are separated by commas outside of quotes (RFC 9110, 5.6.1). Pure.
#ifndef NETCORE_PRIVATE_FIELD_LIST_H
#define NETCORE_PRIVATE_FIELD_LIST_H

#include <netcore/header.h>

/// The fields of a request or a response.
typedef struct nc_fields {
    const nc_header *at;
    size_t count;
} nc_fields;

/// Takes the next member, without blanks around it, from `rest`. Empty members are skipped. Returns false at the end.
bool nc_list_next(nc_slice *member, nc_slice *rest);

/// Returns the first field with this name; NULL without one.
const nc_header *nc_fields_find(nc_fields fields, const char *name);
/// Returns true if there is a field with this name.
bool nc_fields_has(nc_fields fields, const char *name);

/// Visits the members of all fields with one name.
typedef struct nc_members {
    nc_fields fields;
    const char *name;
    size_t next;
    nc_slice rest;
} nc_members;

nc_members nc_members_of(nc_fields fields, const char *name);
/// Takes the next member. Returns false at the end.
bool nc_members_next(nc_slice *member, nc_members *members);
/// Returns true if a member equals `text`, without case.
bool nc_members_contain(nc_fields fields, const char *name, nc_slice text);

#endif
