/// What happens in the scenes of trust, as a table.
#ifndef NCT_SCENE_PLOT_H
#define NCT_SCENE_PLOT_H

#include "nettesting/made.h"
#include "nettesting/scene.h"

#define NCT_PLOT_PINS 4

/// Which chain is shown.
typedef enum nct_plot_chain {
    PLAIN,
    WHOLE,
    WITHOUT_MIDDLE,
    RENEWED_WHOLE,
    REPLACED_WHOLE,
    BY_OTHER_ROOT,
    WITH_DECOYS,
    WITH_ROOT_DECOY,
    WISHED,       // by the root
    WISHED_BELOW, // by the middle
    WISHED_ALONE, // by itself
    BY_STRANGER,
    CONSTRAINED, // by a middle that may sign for other names only
    PERMITTED,   // by a middle that may sign for this name
} nct_plot_chain;

/// One scene before it is set.
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

/// Every plot there is.
extern const nct_plot nct_plots[];
/// How many.
extern const size_t nct_plot_count;

#endif
