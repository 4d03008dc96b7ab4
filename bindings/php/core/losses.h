/* What a format could not express, for the argument `$losses`. */
#ifndef ICE_LOSSES_H
#define ICE_LOSSES_H
#include "core/icecore_php.h"

/* Stores a loss until ice_losses_fill; for the engine, which calls it while it runs. */
void ice_losses_add(const icecore_lost *lost, void *data);
/* Makes the argument `$losses` a list of the stored losses, and drops them. Does nothing if it is
 * NULL. Returns false if an exception was thrown. */
bool ice_losses_fill(zval *losses);
void ice_losses_drop(void);

#endif
