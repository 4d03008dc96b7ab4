/* The stages that this module needs itself. */
#ifndef ICE_STAGES_H
#define ICE_STAGES_H
#include "core/icecore_php.h"

/* The stages that this module needs itself. A stage is a format with its options. */
enum {
    ICE_STAGE_PHP,
    ICE_STAGE_PHP_LENIENT,
    /* Decodes the payloads of `C:` objects, too. */
    ICE_STAGE_PHP_PAYLOADS,
    /* Leaves all payloads as bytes, and does not follow links that may lead into them. */
    ICE_STAGE_PHP_FORM,
    /* Does the same, and does not follow any link: for a part of a text. */
    ICE_STAGE_PHP_PART,
    ICE_STAGE_IGBINARY,
    ICE_STAGE_VAR_EXPORT,
    ICE_STAGE_SESSION,
    ICE_STAGE_SESSION_LENIENT,
    /* Decodes the payloads of `C:` objects, too. */
    ICE_STAGE_SESSION_PAYLOADS,
    /* For writing, which has no depth limit in PHP. */
    ICE_STAGE_PHP_WRITE,
    ICE_STAGE_IGBINARY_WRITE,
    /* Writes each string in full, as with igbinary.compact_strings=0. */
    ICE_STAGE_IGBINARY_WRITE_FULL,
    ICE_STAGE_VAR_EXPORT_WRITE,
    ICE_STAGE_SESSION_WRITE,
    /* With the engine's default depth, for functions that take any format. */
    ICE_STAGE_PHP_DEFAULT,
    ICE_STAGE_IGBINARY_DEFAULT
};
/* As a depth: the engine's default. */
#define ICE_DEFAULT_DEPTH (-1)
/* As a depth: no level. */
#define ICE_NO_DEPTH (-2)

/* Returns a stage that reads at most `depth` levels; 0 means any number. Returns NULL if an
 * exception was thrown. */
icecore_stage *ice_stage(int stage_id, zend_long depth);
/* Reads the option max_depth. Leaves `depth` unchanged if it is missing. Throws and returns false
 * if it is invalid. */
bool ice_read_max_depth(HashTable *options, const char *function, zend_long *depth);

#endif
