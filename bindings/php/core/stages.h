#ifndef ICE_STAGES_H
#define ICE_STAGES_H
#include "core/icecore_php.h"

/* The stages that this module needs itself. */
enum {
    ICE_PHP,
    ICE_PHP_LENIENT,
    /* Reads data that classes froze themselves too. */
    ICE_PHP_PAYLOADS,
    ICE_IGBINARY,
    ICE_VAR_EXPORT,
    ICE_SESSION,
    /* Writing has no depth limit, as in PHP. */
    ICE_PHP_WRITE,
    ICE_IGBINARY_WRITE,
    ICE_VAR_EXPORT_WRITE,
    ICE_SESSION_WRITE,
    /* With the engine's default depth for any format. */
    ICE_PHP_USUAL,
    ICE_IGBINARY_USUAL
};
#define ICE_USUAL_DEPTH (-1)

/* Returns a stage that reads at most `depth` levels; 0: any number. NULL: an exception
 * was thrown. */
icecore_stage *ice_stage(int which, zend_long depth);
/* Reads the option max_depth; `depth` is unchanged if it is missing. False: it is
 * invalid. */
bool ice_depth_option(HashTable *options, const char *function, zend_long *depth);

#endif
