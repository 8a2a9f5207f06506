/// Trust fixtures. A fixture is a server with a certificate chain, the client's pins, and the expected result. The
/// tests of the library and of programs that use it share one table of fixtures.
///
///     for (size_t i = 0; i < nct_trust_fixture_count(); i++) {
///         nct_trust_fixture *scene = nct_trust_fixture_start(i);
///         … nct_trust_fixture_url(scene), nct_trust_fixture_ca_pem(scene), nct_trust_fixture_pin(scene, 0) …
///         nct_trust_fixture_stop(scene);
///     }
#ifndef NETTESTING_SCENE_H
#define NETTESTING_SCENE_H

#include "server.h"

#ifdef __cplusplus
extern "C" {
#endif
NCT_ASSUME_NONNULL_BEGIN

/// A running fixture.
typedef struct nct_trust_fixture nct_trust_fixture;

/// Returns the number of fixtures.
size_t nct_trust_fixture_count(void);

/// Returns a sentence that describes the fixture. Static.
const char *nct_trust_fixture_name(size_t index);

/// Returns the expected result: the name of one of the library's status codes, "NC_OK" for 200. Static.
const char *nct_trust_fixture_expectation(size_t index);

/// Returns true if the client accepts every certificate.
bool nct_trust_fixture_accepts_anything(size_t index);

/// Returns true if a pin that does not match is only reported, and does not fail the request.
bool nct_trust_fixture_reports_only(size_t index);

/// Creates the certificates and starts the server. Returns NULL if one of these failed.
nct_trust_fixture *NCT_NULLABLE nct_trust_fixture_start(size_t index);

/// Stops the server and frees everything. NULL is allowed.
void nct_trust_fixture_stop(nct_trust_fixture *NCT_NULLABLE fixture);

/// Returns the URL to request. The client must resolve its host to 127.0.0.1. Borrowed.
const char *nct_trust_fixture_url(const nct_trust_fixture *fixture);

/// Returns the host of the URL. Borrowed.
const char *nct_trust_fixture_host(const nct_trust_fixture *fixture);

/// Returns the authorities that the client trusts, as PEM. Borrowed.
const char *nct_trust_fixture_ca_pem(const nct_trust_fixture *fixture);

/// Returns the chain that the server presents, as PEM; empty for a plain server. Borrowed.
const char *nct_trust_fixture_chain_pem(const nct_trust_fixture *fixture);

/// Returns pin `index` of the client, "PATTERN=PIN", or NULL if there are no more. Borrowed.
const char *NCT_NULLABLE nct_trust_fixture_pin(const nct_trust_fixture *fixture, size_t index);

/// Returns the server. Borrowed.
nct_server *nct_trust_fixture_server(const nct_trust_fixture *fixture);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
