/* JSON: the functions that Icecore.xs calls, and declarations that its own files share.
 *
 *   walk.c         the rules of the walk
 *   cpanel_*.c     what is different in Cpanel::JSON::XS: cpanel.h
 *   errors.c       JSON::XS's messages for errors of a text
 *   bignum.c       numbers of any size
 *   filters.c      filters of decoded objects
 *   json.c         settings, encoding, decoding
 *   incremental.c  incremental parsing
 */
#ifndef ICECORE_JSON_H
#define ICECORE_JSON_H
#include "core/icecore_perl.h"

/* Flags: the settings that are true or false. */
enum {
    J_ASCII = 1 << 0,
    J_LATIN1 = 1 << 1,
    J_UTF8 = 1 << 2,
    J_INDENT = 1 << 3,
    J_CANONICAL = 1 << 4,
    J_SPACE_BEFORE = 1 << 5,
    J_SPACE_AFTER = 1 << 6,
    J_ALLOW_NONREF = 1 << 7,
    J_SHRINK = 1 << 8,
    J_ALLOW_BLESSED = 1 << 9,
    J_CONVERT_BLESSED = 1 << 10,
    J_RELAXED = 1 << 11,
    J_ALLOW_UNKNOWN = 1 << 12,
    J_ALLOW_TAGS = 1 << 13,
    J_ESCAPE_SLASH = 1 << 14,
    J_ALLOW_STRINGIFY = 1 << 15,
    J_ALLOW_BAREKEY = 1 << 16,
    J_ALLOW_SINGLEQUOTE = 1 << 17,
    J_ALLOW_DUPKEYS = 1 << 18,
    J_UNBLESSED_BOOL = 1 << 19,
    J_TYPE_ALL_STRING = 1 << 20,
    J_ALLOW_BIGNUM = 1 << 21,
    J_CPANEL = 1 << 22, /* the object is an Icecore::JSON::Cpanel */
    J_BINARY = 1 << 23,
    J_REQUIRE_TYPES = 1 << 24,
    J_DUPKEYS_AS_ARRAYREF = 1 << 25,
    J_CPANEL_RELAXED = J_RELAXED | J_ALLOW_BAREKEY | J_ALLOW_SINGLEQUOTE | J_ALLOW_DUPKEYS,
    J_PRETTY = J_INDENT | J_SPACE_BEFORE | J_SPACE_AFTER
};

/* The settings of an encoder and decoder, and the state of its incremental parser. */
struct ice_json {
    U32 flags;
    U32 max_depth;
    UV max_size; /* 0 for no limit */
    U8 indent_length;
    U8 inf_nan;                   /* the setting stringify_infnan */
    HV *boolean_stash;            /* the class of the default booleans */
    SV *true_value, *false_value; /* the values of booleans */
    SV *filter;                   /* code that is called for each object; or NULL */
    HV *single_filter;            /* by key, code for objects with only this key; or NULL */
    SV *classes;                  /* classes that tags may name */
    SV *owner;                    /* the object that owns these settings; or NULL */
    icecore_stage *reader;        /* see read_special; NULL until it is needed */
    icecore_stage *digits_reader; /* see read_special; NULL until it is needed */
    SV *text;                     /* incremental parsing: the text that was not decoded yet; or NULL */
    STRLEN scanned;               /* number of bytes of `text` that were scanned */
    IV nesting;                   /* number of arrays and objects that are open after these bytes */
    U8 state;                     /* state of the scan after these bytes */
};

#define IJ_MAX_DEPTH_MESSAGE "json text or perl structure exceeds maximum nesting level (max_depth set too low?)"

/* walk.c */
/* Returns true if an object is a Math::BigInt or a Math::BigFloat, or is derived from one of them. */
bool ij_is_big_number(pTHX_ SV *rv);
extern const iw_rules ij_rules;
/* Returns what a reference to this scalar means: 1 for true, as in \1, 0 for false, -1 for
 * neither. */
int ij_boolean_of(pTHX_ SV *sv);

/* errors.c */
/* Dies with JSON::XS's message, the offset, and what was expected and found. The offset is in
 * characters if `is_text` is true, otherwise in bytes. */
void ij_croak_text_error(pTHX_ const icecore_error *error, const ice_read_settings *settings, const char *text,
                         STRLEN len, bool is_text) __attribute__noreturn__;

/* bignum.c */
/* Returns a new object of a class for the text of a number: a mortal. */
SV *ij_new_big_number(pTHX_ const char *class_name, SV *text);
/* Turns numbers into objects. `numbers` is the list of ice_read_settings. */
void ij_convert_big_numbers(pTHX_ AV *numbers);

/* filters.c */
extern const ice_filters ij_filters;

/* json.c */
/* Decodes a text in UTF-8. If `consumed` is not NULL, more bytes may follow the text, and it
 * receives the length of the text. For `is_text` see ij_croak_text_error, for `type_variable`
 * ice_cpanel_decode. */
SV *ij_decode(pTHX_ ice_json *json, const char *text, STRLEN len, bool is_text, STRLEN *consumed,
              SV *type_variable);
/* Returns the settings of an object. */
ice_json *ij_from_object(pTHX_ SV *self);

/* Functions that Icecore.xs calls. */

/* Values of the parameter `setting`: the settings that are numbers. */
enum { ICE_JSON_DEPTH, ICE_JSON_SIZE, ICE_JSON_INDENT, ICE_JSON_INFNAN };

void ice_json_boot(pTHX);
void ice_json_clone(pTHX);
void ice_json_end(pTHX);
/* Sets the default values of false and true. */
void ice_json_set_default_booleans(pTHX_ SV *false_value, SV *true_value);

/* Creates an object with default settings; `flags` are those that are set. */
SV *ice_json_new(pTHX_ SV *class, U32 flags);
void ice_json_destroy(pTHX_ SV *self);
void ice_json_set_flag(pTHX_ SV *self, U32 flag, bool is_enabled);
bool ice_json_get_flag(pTHX_ SV *self, U32 flag);
/* Returns a setting that is a number. Sets it first, unless `value` is NULL. */
UV ice_json_number_setting(pTHX_ SV *self, int setting, SV *value);
void ice_json_set_filter(pTHX_ SV *self, SV *code);
void ice_json_set_single_filter(pTHX_ SV *self, SV *key, SV *code);
void ice_json_set_boolean_values(pTHX_ SV *self, SV *false_value, SV *true_value);
/* Returns the value of true or of false if it was set by the program, otherwise NULL. */
SV *ice_json_boolean_value(pTHX_ SV *self, bool is_true);
void ice_json_set_classes(pTHX_ SV *self, SV *classes);

/* Encode a value, or decode a text. If `self` is NULL, the settings are those of encode_json and
 * decode_json. If `characters` is not NULL, more text may follow the text that is decoded, and
 * `characters` receives the length of the decoded text. */
SV *ice_json_encode(pTHX_ SV *self, SV *data);
SV *ice_json_decode(pTHX_ SV *self, SV *text, UV *characters);

/* The same for Cpanel::JSON::XS. `type` is the type of the value; it is NULL or undef if there is none.
 * If `type_variable` is not NULL, it receives the type of the decoded value. */
SV *ice_cpanel_encode(pTHX_ SV *self, SV *data, SV *type);
SV *ice_cpanel_decode(pTHX_ SV *self, SV *text, UV *characters, SV *type_variable);
/* decode_json of Cpanel::JSON::XS. */
SV *ice_cpanel_decode_json(pTHX_ SV *text, bool allows_nonref, SV *type_variable);

/* Incremental parsing: incremental.c. */
/* Appends a piece of text. */
void ice_json_append(pTHX_ SV *self, SV *piece);
/* Returns the next value; NULL if the text so far does not contain a complete one. */
SV *ice_json_next(pTHX_ SV *self);
SV *ice_json_remaining_text(pTHX_ SV *self);
/* Values of the parameter `action`: the methods incr_skip and incr_reset. */
enum { ICE_JSON_SKIP, ICE_JSON_RESET };
void ice_json_skip_text(pTHX_ SV *self, int action);

#endif
