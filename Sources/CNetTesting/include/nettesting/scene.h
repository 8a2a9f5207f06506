/// Trust fixtures: a server with a certificate chain, the client's pins, and the expected result. The library and
/// programs that use it share one table.
///
///     for (size_t i = 0; i < nct_scene_count(); i++) {
///         nct_scene *scene = nct_scene_start(i);
///         … nct_scene_url(scene), nct_scene_ca_pem(scene), nct_scene_pin(scene, 0) …
///         nct_scene_stop(scene);
///     }
#ifndef NETTESTING_SCENE_H
#define NETTESTING_SCENE_H

#include "server.h"

#ifdef __cplusplus
extern "C" {
#endif
NCT_ASSUME_NONNULL_BEGIN

/// A running fixture.
typedef struct nct_scene nct_scene;

/// Returns the number of fixtures.
size_t nct_scene_count(void);

/// Returns a sentence that describes the fixture. Static.
const char *nct_scene_name(size_t index);

/// Returns the expected result: the name of one of the library's status codes, "NC_OK" for 200. Static.
const char *nct_scene_ending(size_t index);

/// Returns true if the client accepts every certificate.
bool nct_scene_accepts_anything(size_t index);

/// Returns true if the client's pins only report.
bool nct_scene_reports_only(size_t index);

/// Creates the certificates and starts the server. Returns NULL if that failed.
nct_scene *NCT_NULLABLE nct_scene_start(size_t index);

/// Stops the server and frees everything. NULL is allowed.
void nct_scene_stop(nct_scene *NCT_NULLABLE scene);

/// Returns the URL to request; its host must be reached at 127.0.0.1. Borrowed.
const char *nct_scene_url(const nct_scene *scene);

/// Returns the host of the URL. Borrowed.
const char *nct_scene_host(const nct_scene *scene);

/// Returns the authorities that the client trusts, as PEM. Borrowed.
const char *nct_scene_ca_pem(const nct_scene *scene);

/// Returns the chain that the server presents, as PEM; empty for a plain one. Borrowed.
const char *nct_scene_chain_pem(const nct_scene *scene);

/// Returns pin `index` of the client, "PATTERN=PIN", or NULL if there are no more. Borrowed.
const char *NCT_NULLABLE nct_scene_pin(const nct_scene *scene, size_t index);

/// Returns the server. Borrowed.
nct_server *nct_scene_server(const nct_scene *scene);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
