/* What a format could not express, for the argument `$losses`. */
#ifndef ICE_LOSSES_H
#define ICE_LOSSES_H
#include "core/icecore_php.h"

/* Stores the losses of the last conversion until ice_losses_fill. */
void ice_losses_keep(ice_context *ctx, size_t count);
/* Makes the argument `$losses` a list of the stored losses, and drops them. Does nothing if it is
 * NULL. Returns false if an exception was thrown. */
bool ice_losses_fill(zval *losses);
void ice_losses_drop(void);

#endif
