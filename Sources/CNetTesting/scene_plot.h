/// The table of trust fixtures.
#ifndef NCT_SCENE_PLOT_H
#define NCT_SCENE_PLOT_H

#include "nettesting/made.h"
#include "nettesting/scene.h"

#define NCT_PLOT_PINS 4

/// The chain that the server presents.
typedef enum nct_plot_chain {
    PLAIN,
    WHOLE,
    WITHOUT_MIDDLE,
    RENEWED_WHOLE,
    REPLACED_WHOLE,
    BY_OTHER_ROOT,
    WITH_DECOYS,
    WITH_ROOT_DECOY,
    WISHED,       // signed by the root
    WISHED_BELOW, // signed by the intermediate
    WISHED_ALONE, // self-signed
    BY_STRANGER,
    CONSTRAINED, // by an intermediate that may only sign for other names
    PERMITTED,   // by an intermediate that may sign for this name
} nct_plot_chain;

/// One fixture before it is started.
typedef struct nct_plot {
    const char *name;
    const char *ending;
    nct_plot_chain chain;
    const char *host; // NULL: localhost
    const char *pins[NCT_PLOT_PINS];
    nct_wish wish;
    bool accepts_anything;
    bool reports_only;
} nct_plot;

/// All fixtures.
extern const nct_plot nct_plots[];
/// Their number.
extern const size_t nct_plot_count;

#endif
