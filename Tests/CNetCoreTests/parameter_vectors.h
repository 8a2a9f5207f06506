/// Files of Tests/Vectors as trees of parameters, which both suites read.
///
///     nc_params file = parameter_vectors("query.json");
///     nc_params_item root = nc_params_root(&file);
#ifndef NETCORE_TEST_PARAMETER_VECTORS_H
#define NETCORE_TEST_PARAMETER_VECTORS_H

#include "harness.h"

#include <netcore/query.h>

/// Reads a file of Tests/Vectors; fails the case when it cannot. Give it up with nc_params_deinit().
nc_params parameter_vectors(const char *name);

/// Finds a field of an object; false when there is none of this name.
bool parameter_field(const nc_params_item *object, const char *name, nc_params_item *out);

/// Copies one value of a tree to a tree of its own; containers of the root that `sets` (an array of names, or NULL)
/// names become sets.
nc_params parameter_copy(const nc_params_item *item, const nc_params_item *sets);

/// What a vector's "options" say; those of NULL are the defaults. Fails the case for what it does not know.
nc_query_options parameter_options(const nc_params_item *options);

#endif
