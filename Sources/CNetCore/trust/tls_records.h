/// The records of one direction of a TLS connection, read beside OpenSSL (RFC 8446, 5; RFC 5246, 6.2).
///
/// OpenSSL gives the plaintext of a connection to one reader only, and that reader is libcurl. To know what else the
/// connection brings, this reader gets the same bytes from the socket and the same keys, and decrypts the few bytes
/// that its user asks for. It does not authenticate them: OpenSSL does, and ends the connection where a record is
/// forged. So the result is evidence only for bytes that libcurl has received as well.
///
/// It supports AES-GCM and ChaCha20-Poly1305 of TLS 1.2 and 1.3. With any other cipher, and after unexpected input, it
/// reports that it has lost track.
///
/// The keys are cleared when the reader is freed. Confined to one thread at a time.
#ifndef NETCORE_PRIVATE_TLS_RECORDS_H
#define NETCORE_PRIVATE_TLS_RECORDS_H

#include <netcore/bytes.h>

#include <openssl/ssl.h>

typedef struct nc_tls_records nc_tls_records;

/// Called for each record of application data, with the length of its content. nc_tls_records_read() works until it
/// returns.
typedef void (*nc_tls_records_take)(void *ctx, nc_tls_records *records, size_t length);

/// Creates a reader for the server's or the client's direction. Returns NULL if memory ran out. The caller frees it.
NC_NODISCARD nc_tls_records *nc_tls_records_new(bool is_client, nc_tls_records_take take, void *ctx);
/// Frees a reader and clears its keys. NULL is allowed.
void nc_tls_records_free(nc_tls_records *records);

/// Takes bytes as they cross the socket. Before the keys are known they are kept (up to 256 KiB).
void nc_tls_records_feed(nc_tls_records *records, nc_slice bytes);
/// OpenSSL has read the head of a record: during a handshake of TLS 1.3 this shows where the keys change.
void nc_tls_records_count(nc_tls_records *records);
/// Takes a line of OpenSSL's key log (SSL_CTX_set_keylog_callback). Lines of other secrets are ignored.
void nc_tls_records_take_keys(nc_tls_records *records, const SSL *tls, const char *line);
/// Copies decrypted bytes of the current record, which has them all.
void nc_tls_records_read(nc_tls_records *records, size_t at, uint8_t *out, size_t count);
/// Returns true if the reader has lost track. It then ignores all further bytes.
bool nc_tls_records_is_lost(const nc_tls_records *records);

#endif
