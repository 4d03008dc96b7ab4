#ifndef ICE_STAGES_H
#define ICE_STAGES_H
#include "core/icecore_php.h"

/* The stages that this module needs itself. */
enum {
    ICE_PHP,
    ICE_PHP_LENIENT,
    /* What classes froze themselves is read, too. */
    ICE_PHP_PAYLOADS,
    ICE_IGBINARY,
    ICE_VAR_EXPORT,
    ICE_SESSION,
    /* Writing has no limit of depth, as PHP has none. */
    ICE_PHP_WRITE,
    ICE_IGBINARY_WRITE,
    ICE_VAR_EXPORT_WRITE,
    ICE_SESSION_WRITE,
    /* As many levels as the engine takes of any format. */
    ICE_PHP_USUAL,
    ICE_IGBINARY_USUAL
};
#define ICE_USUAL_DEPTH (-1)

/* A stage that reads at most `depth` levels; 0: any number. NULL: an exception was thrown. */
icecore_stage *ice_stage(int which, zend_long depth);
/* The option max_depth; `depth` keeps its value where it is missing. False: it is wrong. */
bool ice_depth_option(HashTable *options, const char *function, zend_long *depth);

#endif
