#define _GNU_SOURCE 1
#include "scene_plot.h"

#include "nettesting/made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The certificates of a fixture. All are created, whether it needs them or not.
enum {
    ROOT,
    OTHER_ROOT,
    STRANGER, // an untrusted authority
    MIDDLE,
    LEAF,
    RENEWED,   // with the leaf's key
    REPLACED,  // with the backup's key
    UNRELATED, // a key that is never presented
    EVIL,      // the leaf's name, signed by the other root
    SHOWN,     // created from the fixture's `nct_wish`
    MADE_COUNT,
};

#define OF_LOCALHOST "DNS:localhost,IP:127.0.0.1"

struct nct_scene {
    const nct_plot *plot;
    nct_made *made[MADE_COUNT];
    nct_server *server;
    char *pins[NCT_PLOT_PINS];
    char *url;
    char *ca_pem;
    char *chain_pem;
};

/* --- certificates --- */

typedef struct role {
    int which;
    int issuer; // -1: self-signed
    int key_of; // -1: its own key
    const char *name;
    const char *names;
    bool is_authority;
} role;

static bool make(nct_scene *scene, role of) {
    nct_wish wish = {.issuer = of.issuer < 0 ? NULL : scene->made[of.issuer],
                     .same_key_as = of.key_of < 0 ? NULL : scene->made[of.key_of],
                     .common_name = of.name,
                     .names = of.names,
                     .is_authority = of.is_authority};
    scene->made[of.which] = nct_make(&wish);
    return scene->made[of.which] != NULL;
}

static bool make_middle(nct_scene *scene) {
    nct_plot_chain chain = scene->plot->chain;
    nct_wish wish = {.issuer = scene->made[ROOT],
                     .common_name = "Scene middle",
                     .is_authority = true,
                     .constraints = chain == CONSTRAINED ? "critical,permitted;DNS:other.example"
                                    : chain == PERMITTED ? "critical,permitted;DNS:localhost,permitted;IP:127.0.0.1/"
                                                           "255.255.255.255"
                                                         : NULL};
    scene->made[MIDDLE] = nct_make(&wish);
    return scene->made[MIDDLE] != NULL;
}

static bool make_shown(nct_scene *scene) {
    nct_plot_chain chain = scene->plot->chain;
    nct_wish wish = scene->plot->wish;
    wish.issuer = chain == WISHED         ? scene->made[ROOT]
                  : chain == WISHED_BELOW ? scene->made[MIDDLE]
                  : chain == BY_STRANGER  ? scene->made[STRANGER]
                                          : NULL;
    wish.common_name = wish.common_name == NULL ? "scene" : wish.common_name;
    wish.names = chain == BY_STRANGER ? OF_LOCALHOST : wish.names;
    scene->made[SHOWN] = nct_make(&wish);
    return scene->made[SHOWN] != NULL;
}

static bool make_all(nct_scene *scene) {
    return make(scene, (role){ROOT, -1, -1, "Scene root", NULL, true}) &&
           make(scene, (role){OTHER_ROOT, -1, -1, "Scene other root", NULL, true}) &&
           make(scene, (role){STRANGER, -1, -1, "Scene stranger", NULL, true}) && make_middle(scene) &&
           make(scene, (role){LEAF, MIDDLE, -1, "leaf", OF_LOCALHOST, false}) &&
           make(scene, (role){RENEWED, MIDDLE, LEAF, "leaf", OF_LOCALHOST, false}) &&
           make(scene, (role){REPLACED, MIDDLE, -1, "leaf", OF_LOCALHOST, false}) &&
           make(scene, (role){UNRELATED, -1, -1, "unrelated", NULL, false}) &&
           make(scene, (role){EVIL, OTHER_ROOT, -1, "leaf", OF_LOCALHOST, false}) && make_shown(scene);
}

/// Joins the PEM texts of some certificates; -1 ends the list. The server uses the first one's key.
static char *join(const nct_scene *scene, const int *which) {
    size_t length = 0;
    for (size_t i = 0; which[i] >= 0; i++)
        length += strlen(nct_made_pem(scene->made[which[i]]));
    char *text = malloc(length + 1);
    size_t used = 0;
    for (size_t i = 0; text != NULL && which[i] >= 0; i++) {
        const char *pem = nct_made_pem(scene->made[which[i]]);
        size_t count = strlen(pem);
        memcpy(text + used, pem, count);
        used += count;
    }
    if (text != NULL)
        text[used] = '\0';
    return text;
}

static const int *chain_of(nct_plot_chain chain) {
    static const int chains[][5] = {
        [PLAIN] = {-1},
        [WHOLE] = {LEAF, MIDDLE, -1},
        [WITHOUT_MIDDLE] = {LEAF, -1},
        [RENEWED_WHOLE] = {RENEWED, MIDDLE, -1},
        [REPLACED_WHOLE] = {REPLACED, MIDDLE, -1},
        [BY_OTHER_ROOT] = {EVIL, -1},
        [WITH_DECOYS] = {EVIL, LEAF, MIDDLE, -1},
        [WITH_ROOT_DECOY] = {EVIL, MIDDLE, ROOT, -1},
        [WISHED] = {SHOWN, -1},
        [WISHED_BELOW] = {SHOWN, MIDDLE, -1},
        [WISHED_ALONE] = {SHOWN, -1},
        [BY_STRANGER] = {SHOWN, -1},
        [CONSTRAINED] = {LEAF, MIDDLE, -1},
        [PERMITTED] = {LEAF, MIDDLE, -1},
    };
    return chains[chain];
}

/* --- pins --- */

/// Replaces "@name" by a pin.
static char *fill_pin(const nct_scene *scene, const char *plan) {
    const char *equals = strrchr(plan, '@') != NULL ? strchr(plan, '=') : NULL;
    const char *port = strstr(plan, ":@port");
    char host[128];
    char *filled = NULL;
    if (port != NULL) {
        snprintf(host, sizeof host, "%.*s:%u", (int)(port - plan), plan, nct_server_port(scene->server));
        return asprintf(&filled, "%s%s", host, port + strlen(":@port")) < 0 ? NULL : filled;
    }
    const char *what = equals == NULL ? "" : equals + 1;
    const nct_made *const *made = (const nct_made *const *)scene->made;
    const char *pin = strcmp(what, "@leaf") == 0        ? nct_made_pin(made[LEAF])
                      : strcmp(what, "@middle") == 0    ? nct_made_pin(made[MIDDLE])
                      : strcmp(what, "@root") == 0      ? nct_made_pin(made[ROOT])
                      : strcmp(what, "@shown") == 0     ? nct_made_pin(made[SHOWN])
                      : strcmp(what, "@replaced") == 0  ? nct_made_pin(made[REPLACED])
                      : strcmp(what, "@unrelated") == 0 ? nct_made_pin(made[UNRELATED])
                      : strcmp(what, "@hex") == 0       ? nct_made_hex_pin(made[LEAF])
                                                        : NULL;
    if (strcmp(what, "@curl") == 0)
        return asprintf(&filled, "%.*ssha256//%s", (int)(what - plan), plan, nct_made_pin(made[LEAF]) + 7) < 0 ? NULL
                                                                                                               : filled;
    if (pin == NULL)
        return strdup(plan);
    return asprintf(&filled, "%.*s%s", (int)(what - plan), plan, pin) < 0 ? NULL : filled;
}

static bool fill_pins(nct_scene *scene) {
    bool is_filled = true;
    for (size_t i = 0; i < NCT_PLOT_PINS && scene->plot->pins[i] != NULL; i++) {
        scene->pins[i] = fill_pin(scene, scene->plot->pins[i]);
        is_filled = is_filled && scene->pins[i] != NULL;
    }
    return is_filled;
}

/* --- fixtures --- */

static bool start(nct_scene *scene) {
    const int *shown = chain_of(scene->plot->chain);
    bool is_plain = scene->plot->chain == PLAIN;
    scene->ca_pem = join(scene, (const int[]){ROOT, OTHER_ROOT, -1});
    scene->chain_pem = join(scene, shown);
    if (scene->ca_pem == NULL || scene->chain_pem == NULL)
        return false;
    const nct_server_options options = {
        .identity = is_plain ? NCT_PLAIN : NCT_TLS_VALID,
        .chain_pem = is_plain ? NULL : scene->chain_pem,
        .key_pem = is_plain ? NULL : nct_made_key_pem(scene->made[shown[0]]),
    };
    if (nct_server_start(&scene->server, &options) != 0 ||
        nct_server_script(scene->server, "*", &(nct_reply){.body = "ok", .body_length = 2}) != 0)
        return false;
    int length = asprintf(&scene->url, "%s://%s:%u/", is_plain ? "http" : "https", nct_scene_host(scene),
                          nct_server_port(scene->server));
    if (length < 0)
        scene->url = NULL;
    return length >= 0 && fill_pins(scene);
}

size_t nct_scene_count(void) {
    return nct_plot_count;
}

const char *nct_scene_name(size_t index) {
    return nct_plots[index].name;
}

const char *nct_scene_ending(size_t index) {
    return nct_plots[index].ending;
}

bool nct_scene_accepts_anything(size_t index) {
    return nct_plots[index].accepts_anything;
}

bool nct_scene_reports_only(size_t index) {
    return nct_plots[index].reports_only;
}

nct_scene *nct_scene_start(size_t index) {
    nct_scene *scene = calloc(1, sizeof *scene);
    if (scene == NULL)
        return NULL;
    scene->plot = &nct_plots[index];
    if (make_all(scene) && start(scene))
        return scene;
    nct_scene_stop(scene);
    return NULL;
}

void nct_scene_stop(nct_scene *scene) {
    if (scene == NULL)
        return;
    nct_server_stop(scene->server);
    for (size_t i = 0; i < MADE_COUNT; i++)
        nct_made_free(scene->made[i]);
    for (size_t i = 0; i < NCT_PLOT_PINS; i++)
        free(scene->pins[i]);
    free(scene->url);
    free(scene->ca_pem);
    free(scene->chain_pem);
    free(scene);
}

const char *nct_scene_url(const nct_scene *scene) {
    return scene->url;
}

const char *nct_scene_host(const nct_scene *scene) {
    return scene->plot->host == NULL ? "localhost" : scene->plot->host;
}

const char *nct_scene_ca_pem(const nct_scene *scene) {
    return scene->ca_pem;
}

const char *nct_scene_chain_pem(const nct_scene *scene) {
    return scene->chain_pem;
}

const char *nct_scene_pin(const nct_scene *scene, size_t index) {
    return index < NCT_PLOT_PINS ? scene->pins[index] : NULL;
}

nct_server *nct_scene_server(const nct_scene *scene) {
    return scene->server;
}
