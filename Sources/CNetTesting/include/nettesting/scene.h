/// Scenes of trust: a server with some chain, what its client pins, and how the
/// meeting must end. One table for the library and for programs over it.
///
///     for (size_t i = 0; i < nct_scene_count(); i++) {
///         nct_scene *scene = nct_scene_start(i);
///         … nct_scene_url(scene), nct_scene_ca_pem(scene), nct_scene_pin(scene,
///         0) …
///         nct_scene_stop(scene);
///     }
#ifndef NETTESTING_SCENE_H
#define NETTESTING_SCENE_H

#include "server.h"

#ifdef __cplusplus
extern "C" {
#endif
NCT_ASSUME_NONNULL_BEGIN

/// A scene that is set.
typedef struct nct_scene nct_scene;

/// How many there are.
size_t nct_scene_count(void);

/// What happens in it: a sentence. Static.
const char *nct_scene_name(size_t index);

/// How it must end: the library's name of a status, "NC_OK" for 200. Static.
const char *nct_scene_ending(size_t index);

/// True when the client accepts whatever it is shown.
bool nct_scene_accepts_anything(size_t index);

/// True when the client's pins only report.
bool nct_scene_reports_only(size_t index);

/// Makes the certificates and starts the server; NULL when that failed.
nct_scene *NCT_NULLABLE nct_scene_start(size_t index);

/// Stops the server and frees all. NULL is harmless.
void nct_scene_stop(nct_scene *NCT_NULLABLE scene);

/// What to ask for; its host is to be reached at 127.0.0.1. Borrowed.
const char *nct_scene_url(const nct_scene *scene);

/// The host in it. Borrowed.
const char *nct_scene_host(const nct_scene *scene);

/// The authorities that the client trusts, PEM. Borrowed.
const char *nct_scene_ca_pem(const nct_scene *scene);

/// The chain that the server shows, PEM; empty for a plain one. Borrowed.
const char *nct_scene_chain_pem(const nct_scene *scene);

/// Pin `index` of the client, "PATTERN=PIN"; NULL when there are no more.
/// Borrowed.
const char *NCT_NULLABLE nct_scene_pin(const nct_scene *scene, size_t index);

/// The server. Borrowed.
nct_server *nct_scene_server(const nct_scene *scene);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
