#include <netcore/secret_name.h>

#include "base/ascii.h"

#include <string.h>

/// A name of more than MAX_NAME_BYTES counts as a secret without being examined.
enum { MAX_NAME_BYTES = 1024, MAX_WORDS = 64 };

typedef struct span {
    uint16_t start;
    uint16_t length;
} span;

/// A name, split into chunks and words. Only ASCII letters are stored, in lower case. All other bytes separate chunks.
/// A chunk is split further into words at changes of case: "apiKey" is one chunk of two words.
typedef struct split_name {
    uint8_t bare[MAX_NAME_BYTES];
    size_t length;
    span words[MAX_WORDS];
    size_t word_count;
    span chunks[MAX_WORDS];
    size_t chunk_count;
} split_name;

/* --- lists, terminated by NULL --- */

/// Words that mark a secret at any position in a name.
static const char *const secret_words[] = {
    "token",      "tokens",     "secret",     "secrets",   "password",  "passwords",  "passwd",      "passphrase",
    "passcode",   "pass",       "pwd",        "pw",        "pin",       "otp",        "totp",        "hotp",
    "jwt",        "assertion",  "sig",        "signature", "saml",      "credential", "credentials", "authorization",
    "bearer",     "session",    "sessions",   "sess",      "ssess",     "sessid",     "sessionid",   "sid",
    "cookie",     "cookies",    "csrf",       "xsrf",      "hmac",      "dpop",       "oidc",        "userinfo",
    "verifier",   "apikey",     "passkey",    "cvv",       "cvc",       "hdnea",      "hdnts",       "hdntl",
    "signatures", "assertions", "jsessionid", "sapisid",   "sharedkey", "privkey",    "captcha",     "recaptcha",
    NULL};

/// Words that mark a secret only as the last word of a name.
static const char *const last_words[] = {"auth", "oauth", "authentication", NULL};

/// A word that ends with one of these marks a secret, such as "mysessionid".
static const char *const word_ends[] = {
    "secret",    "secrets",         "password",    "passwd",     "pwd",        "passphrase", "passcode",
    "sessid",    "session",         "jwt",         "otp",        "signature",  "assertion",  "verifier",
    "cookie",    "apikey",          "accesskey",   "secretkey",  "privatekey", "authkey",    "sessionkey",
    "clientkey", "appkey",          "masterkey",   "signkey",    "signingkey", "cryptkey",   "encryptionkey",
    "sharedkey", "subscriptionkey", "consumerkey", "licensekey", "accountkey", "storagekey", "userkey",
    "sshkey",    "writekey",        "adminkey",    "servicekey", "hmackey",    "userpin",    "cardpin",
    NULL};

/// Letter sequences that mark a secret anywhere in a name, even across separators: "pass-word".
static const char *const bare_parts[] = {
    "password",     "passwd",          "passphrase",   "passcode",    "secret",    "credential", "authorization",
    "sessionid",    "sessid",          "apikey",       "accesstoken", "authtoken", "idtoken",    "refreshtoken",
    "samlresponse", "samlrequest",     "samlart",      "accesskey",   "secretkey", "privatekey", "clientprincipal",
    "rememberme",   "wordpresslogged", "wordpresssec", NULL};

/// Words that contain one of the above but do not mark a secret.
static const char *const harmless_words[] = {"secretary",  "secretaries", "secretariat",  "secretion",
                                             "possession", "obsession",   "intersession", NULL};

/// Whole names, without separators, that are not secrets.
static const char *const harmless_names[] = {"accesscontrolallowcredentials", "publickeypins",
                                             "publickeypinsreportonly", NULL};

/// If one of these words precedes "key", the key is not a secret: Idempotency-Key, sort_key.
static const char *const harmless_keys[] = {
    "idempotency", "idempotent", "primary",     "foreign",       "public",      "sort",   "partition",
    "cache",       "surrogate",  "unique",      "group",         "routing",     "row",    "column",
    "range",       "index",      "lookup",      "object",        "translation", "socket", "dedup",
    "websocket",   "ordering",   "correlation", "deduplication", NULL};

/// If one of these words precedes "key", it is a secret even if other words follow: Api_Key_Id.
static const char *const secret_keys[] = {"api",          "access",   "secret", "private", "auth",     "account",
                                          "subscription", "license",  "client", "app",     "master",   "encryption",
                                          "signing",      "session",  "shared", "storage", "consumer", "admin",
                                          "service",      "rapidapi", "user",   NULL};

/// If one of these words precedes "code", it is a secret.
static const char *const secret_codes[] = {
    "auth",   "oauth", "authorization", "verification", "device",     "user",           "mfa",
    "tfa",    "fa",    "security",      "access",       "activation", "confirmation",   "recovery",
    "backup", "sms",   "login",         "reset",        "invite",     "authentication", NULL};

/// Words before "tokens" that make it a count (max_tokens), and words behind "token" that describe one (token_type).
static const char *const counting_words[] = {"max",    "min", "total",  "prompt",    "completion", "input",
                                             "output", "num", "cached", "reasoning", "count",      NULL};
static const char *const describing_words[] = {"count", "type", "endpoint", "limit", "usage", "budget", NULL};

/// Whole names of parameters that are secrets, from OAuth and CAS. JSON members with these names usually are not.
static const char *const parameter_names[] = {"code", "ticket", NULL};

/* --- comparing --- */

static bool is_word(const uint8_t *bytes, size_t length, const char *word) {
    return strlen(word) == length && memcmp(bytes, word, length) == 0;
}

static bool is_one_of(const uint8_t *bytes, size_t length, const char *const *list) {
    for (; *list != NULL; list++) {
        if (is_word(bytes, length, *list)) {
            return true;
        }
    }
    return false;
}

static bool word_is_one_of(const split_name *name, size_t index, const char *const *list) {
    return index < name->word_count &&
           is_one_of(name->bare + name->words[index].start, name->words[index].length, list);
}

static bool word_is(const split_name *name, size_t index, const char *word) {
    return index < name->word_count && is_word(name->bare + name->words[index].start, name->words[index].length, word);
}

static const uint8_t *find(const uint8_t *bytes, size_t length, const char *part) {
    size_t wanted = strlen(part);
    for (size_t i = 0; i + wanted <= length; i++) {
        if (bytes[i] == (uint8_t)part[0] && memcmp(bytes + i, part, wanted) == 0) {
            return bytes + i;
        }
    }
    return NULL;
}

/* --- splitting --- */

static bool is_upper(uint8_t byte) {
    return byte >= 'A' && byte <= 'Z';
}

/// Returns true if a new word begins at this letter although a letter precedes it: at the B of "aB", and at the B of
/// "ABc".
static bool is_change(nc_slice name, size_t at) {
    return is_upper(name.data[at]) &&
           (!is_upper(name.data[at - 1]) ||
            (at + 1 < name.length && nc_ascii_is_alpha(name.data[at + 1]) && !is_upper(name.data[at + 1])));
}

static void extend_last(span *list, size_t *count, bool begins, size_t at) {
    if (begins && *count < MAX_WORDS) {
        list[(*count)++] = (span){.start = (uint16_t)at, .length = 0};
    }
    list[*count - 1].length++;
}

static void split(split_name *out, nc_slice name) {
    out->length = out->word_count = out->chunk_count = 0;
    for (size_t i = 0; i < name.length; i++) {
        if (nc_ascii_is_alpha(name.data[i])) {
            bool begins = i == 0 || !nc_ascii_is_alpha(name.data[i - 1]);
            extend_last(out->chunks, &out->chunk_count, begins, out->length);
            extend_last(out->words, &out->word_count, begins || is_change(name, i), out->length);
            out->bare[out->length++] = nc_ascii_lower(name.data[i]);
        }
    }
}

/* --- matching --- */

/// Returns true if a word contains "token", except in forms of "tokenize".
static bool contains_token(const uint8_t *word, size_t length) {
    const uint8_t *at = find(word, length, "token");
    if (at == NULL) {
        return false;
    }
    size_t left = length - (size_t)(at - word) - 5;
    return left < 2 || at[5] != 'i' || (at[6] != 'z' && at[6] != 's');
}

static bool is_counted(const split_name *name, size_t index) {
    bool is_token = word_is(name, index, "token");
    bool is_last = index + 1 == name->word_count;
    return (is_token && index + 2 == name->word_count && word_is_one_of(name, index + 1, describing_words)) ||
           (word_is(name, index, "tokens") && is_last && index > 0 && word_is_one_of(name, index - 1, counting_words));
}

static bool word_is_secret(const split_name *name, size_t index) {
    const uint8_t *word = name->bare + name->words[index].start;
    size_t length = name->words[index].length;
    bool is_last = index + 1 == name->word_count;
    if (is_counted(name, index) || is_one_of(word, length, harmless_words)) {
        return false;
    }
    if (is_one_of(word, length, secret_words) || (is_last && is_one_of(word, length, last_words)) ||
        contains_token(word, length)) {
        return true;
    }
    for (const char *const *end = word_ends; *end != NULL; end++) {
        size_t wanted = strlen(*end);
        if (length >= wanted && memcmp(word + length - wanted, *end, wanted) == 0) {
            return true;
        }
    }
    // "basicauth", but not "author".
    return is_last && length > 4 && memcmp(word + length - 4, "auth", 4) == 0;
}

static bool pair_is_secret(const split_name *name, size_t index) {
    bool is_first = index == 0;
    bool is_last = index + 1 == name->word_count;
    if (word_is(name, index, "key")) {
        bool is_harmless = !is_first && word_is_one_of(name, index - 1, harmless_keys);
        return (is_last && !is_harmless) || (!is_first && word_is_one_of(name, index - 1, secret_keys));
    }
    if (word_is(name, index, "keys")) {
        return !is_first && word_is_one_of(name, index - 1, secret_keys);
    }
    return (word_is(name, index, "code") || word_is(name, index, "codes")) && !is_first &&
           word_is_one_of(name, index - 1, secret_codes);
}

/// Finds secrets in names whose words are not separated, or separated at wrong places: "PHPSESSID", "PaSsWoRd".
static bool bare_is_secret(const split_name *name) {
    for (size_t i = 0; i < name->chunk_count; i++) {
        const uint8_t *chunk = name->bare + name->chunks[i].start;
        size_t length = name->chunks[i].length;
        // If each chunk is one word, all chunks were already checked as words.
        if (name->word_count > name->chunk_count && is_one_of(chunk, length, secret_words)) {
            return true;
        }
    }
    for (const char *const *part = bare_parts; *part != NULL; part++) {
        const uint8_t *at = find(name->bare, name->length, *part);
        bool is_other = at != NULL && (find(name->bare, name->length, "secretar") == at ||
                                       find(name->bare, name->length, "secretion") == at);
        if (at != NULL && !is_other) {
            return true;
        }
    }
    return name->length >= 4 && memcmp(name->bare, "saml", 4) == 0;
}

bool nc_secret_name_matches(nc_slice name, nc_secret_location location) {
    split_name split_up;
    if (name.length > MAX_NAME_BYTES) {
        return true;
    }
    split(&split_up, name);
    if (is_one_of(split_up.bare, split_up.length, harmless_names)) {
        return false;
    }
    if (location == NC_SECRET_PARAMETER && is_one_of(split_up.bare, split_up.length, parameter_names)) {
        return true;
    }
    for (size_t i = 0; i < split_up.word_count; i++) {
        if (word_is_secret(&split_up, i) || pair_is_secret(&split_up, i)) {
            return true;
        }
    }
    return bare_is_secret(&split_up);
}
