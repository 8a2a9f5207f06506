/// A second reader of TLS records (RFC 8446, 5; RFC 5246, 6.2), for one direction of a connection.
///
/// OpenSSL delivers the plaintext of a connection only once, and libcurl reads it. The engine needs to know about
/// frames that libcurl does not report. This reader therefore gets the same bytes from the socket and the same keys,
/// and decrypts single bytes on request. It does not authenticate them. OpenSSL does, and closes the connection at a
/// forged record. A result is therefore reliable only for bytes that libcurl has received too.
///
/// It supports AES-GCM and ChaCha20-Poly1305 in TLS 1.2 and 1.3. With another cipher, or after unexpected input,
/// nc_tls_records_is_lost() returns true.
///
/// Keys are wiped when the reader is freed. Confined: one thread at a time.
#ifndef NETCORE_PRIVATE_TLS_RECORDS_H
#define NETCORE_PRIVATE_TLS_RECORDS_H

#include <netcore/bytes.h>

#include <openssl/ssl.h>

typedef struct nc_tls_records nc_tls_records;

/// Called for each record of application data, with the length of its content. Only during this call may
/// nc_tls_records_read() be used.
typedef void (*nc_tls_records_take)(void *ctx, nc_tls_records *records, size_t length);

/// Creates a reader for the bytes that the client sends (`is_client`) or that the server sends. Returns NULL if memory
/// ran out. The caller frees it.
NC_NODISCARD nc_tls_records *nc_tls_records_new(bool is_client, nc_tls_records_take take, void *ctx);
/// Frees a reader and clears its keys. NULL is allowed.
void nc_tls_records_free(nc_tls_records *records);

/// Takes the bytes that were read from or written to the socket. Until the keys are known, up to 256 KiB are stored.
void nc_tls_records_feed(nc_tls_records *records, nc_slice bytes);
/// Called when OpenSSL has processed the header of a record. During a TLS 1.3 handshake the count shows at which record
/// the keys change.
void nc_tls_records_count(nc_tls_records *records);
/// Takes a line of OpenSSL's key log (SSL_CTX_set_keylog_callback). Lines of other secrets are ignored.
void nc_tls_records_take_keys(nc_tls_records *records, const SSL *tls, const char *line);
/// Decrypts `count` bytes of the current record, from offset `at` of its content. The record must contain them.
void nc_tls_records_read(nc_tls_records *records, size_t at, uint8_t *out, size_t count);
/// Returns true if the reader has lost track. It then ignores all further bytes.
bool nc_tls_records_is_lost(const nc_tls_records *records);

#endif
