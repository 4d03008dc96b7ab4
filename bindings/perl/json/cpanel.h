/* What is different in Cpanel::JSON::XS.
 *
 *   cpanel_scalars.c  the form of a scalar
 *   cpanel_types.c    types that the program requires
 *   cpanel_walk.c     the rules of the walk
 *   cpanel_text.c     byte order marks, escapes of binary texts
 *   cpanel_errors.c   errors of a text
 *   cpanel_decode.c   the types of decoded values, repeated keys */
#ifndef ICECORE_JSON_CPANEL_H
#define ICECORE_JSON_CPANEL_H
#include "json/json.h"

/* Values of types. */
enum {
    IJ_TYPE_BOOL = 1,
    IJ_TYPE_INT = 2,
    IJ_TYPE_FLOAT = 3,
    IJ_TYPE_STRING = 4,
    IJ_TYPE_NULL = 0x100 /* a flag: undef becomes null */
};

/* What the values in an open container have as their type. */
typedef struct {
    U8 kind;  /* see cpanel_types.c */
    SV *spec; /* the type of all values, or a list or hash of their types */
} ij_container_type;

/* The types of open containers, the outermost first. */
struct ij_types {
    SV *root; /* the type of the root; or NULL */
    SV *buffer; /* owns the memory of `containers`: a mortal */
    ij_container_type *containers;
    U32 capacity;
};

/* What is known about a text before it was converted for the engine. */
struct ij_text_origin {
    const char *text; /* the text in UTF-8; escapes of bytes were not converted yet */
    STRLEN len;
    STRLEN mark_len;   /* number of bytes of the byte order mark before the text */
    bool is_text;      /* offsets in errors are in characters */
    bool may_continue; /* more text may follow the first value */
    bool has_bytes;    /* it has escapes of bytes that are not ASCII */
};

/* cpanel_walk.c */
extern const iw_rules ij_cpanel_rules;

/* cpanel_text.c */
/* Returns a text without its byte order mark, as characters; NULL if it has none. A mortal. `mark_len` receives
 * the number of bytes of a mark in UTF-8, and 0 for others. */
SV *ij_skip_byte_order_mark(pTHX_ SV *text, STRLEN *mark_len);
/* Returns a text whose escapes of bytes, such as \xe9 and \351, became escapes of JSON: a mortal. Sets `has_bytes` to
 * true if there are any that are not ASCII. */
SV *ij_convert_binary_escapes(pTHX_ const char *text, STRLEN len, bool *has_bytes);

/* Warns of escapes of characters that Unicode reserves for internal use. */
void ij_warn_of_noncharacters(pTHX_ const char *text, STRLEN len);

/* cpanel_errors.c */
/* Dies with the message of Cpanel::JSON::XS for the first error of a text. Returns if there is none. `details` is
 * appended to the message; it may be NULL. */
void ij_croak_cpanel_error(pTHX_ const ice_json *json, const ij_text_origin *origin, SV *details);
/* Returns the number of bytes of the first value in a valid text, without blanks and comments after it; `len` if it
 * can't be found. */
STRLEN ij_first_value_len(pTHX_ const ice_json *json, const char *text, STRLEN len);

/* cpanel_decode.c */
/* Sets a variable to the type of a document. */
void ij_set_decoded_type(pTHX_ ice_context *ctx, const icecore_view *view, SV *variable);
/* Is called for a key that a hash already has: adds the value to the array of its values. `arrays` has the addresses
 * of these arrays. */
void ij_add_repeated(pTHX_ HV *arrays, SV **slot, SV *value);

#endif
