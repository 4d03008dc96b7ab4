/* Functions that the rules of JSON::XS (walk.c) and of Cpanel::JSON::XS (cpanel_walk.c) share. */
#ifndef ICECORE_JSON_WALK_H
#define ICECORE_JSON_WALK_H
#include "core/walk.h"
#include "json/json.h"

/* Puts an object as a tag: the name of its class, and the list that FREEZE returns. */
void ij_put_freeze_result(pTHX_ iw_walker *w, SV *sv, CV *method, U16 key);
/* Returns the result of TO_JSON for an object. */
SV *ij_call_to_json(pTHX_ iw_walker *w, SV *sv, CV *method);
/* Returns true if an open container is this value. */
bool ij_contains_itself(const iw_walker *w, const SV *sv);
void ij_croak_too_deep(pTHX_ const iw_walker *w);

/* cpanel_types.c */
/* Returns the type of the value that is put next; NULL if it has none. `key` is the id of its key. */
SV *ij_type_of_child(pTHX_ iw_walker *w, U16 key);
/* Puts a value as its type requires. Returns false if the type does not require anything. */
bool ij_put_by_type(pTHX_ iw_walker *w, SV *sv, U16 key, SV *type);
/* Opens an array or a hash: the target of a reference. `type` is its type or NULL. */
void ij_open_typed(pTHX_ iw_walker *w, SV *referent, U16 key, SV *type);
/* The container on top has values without types. */
void ij_clear_type(pTHX_ iw_walker *w);

/* cpanel_scalars.c */
/* Returns true for the classes of booleans in Cpanel::JSON::XS. */
bool ij_is_cpanel_boolean(pTHX_ const ice_json *json, HV *stash);
/* Puts a scalar that is not a reference as its flags require. */
void ij_put_cpanel_scalar(pTHX_ iw_walker *w, SV *sv, U16 key);
/* Puts a value as a string of its text. */
void ij_put_text(pTHX_ iw_walker *w, SV *sv, U16 key);
/* Puts null for a value that JSON has no form for, if allow_unknown is set. Otherwise dies. */
void ij_put_unknown(pTHX_ iw_walker *w, SV *sv, U16 key);
/* Puts a number with the type JSON_TYPE_FLOAT or JSON_TYPE_INT. */
void ij_put_as_float(pTHX_ iw_walker *w, SV *sv, U16 key);
void ij_put_as_int(pTHX_ iw_walker *w, SV *sv, U16 key);

#endif
