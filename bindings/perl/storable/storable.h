/* Storable: the functions that Icecore.xs calls, and those that other files need. */
#ifndef ICECORE_STORABLE_H
#define ICECORE_STORABLE_H
#include "core/icecore_perl.h"

extern const iw_rules ice_storable_rules;

/* The newest version that this perl's Storable knows. Newer ones are read too. */
#define IST_NEWEST_MINOR (PERL_VERSION_GE(5, 37, 0) ? 12 : 11)

/* Returns the words with which Storable's message begins: see `ice_read_settings`. */
SV *ist_translate_error(pTHX_ const icecore_error *error, const char *bytes, STRLEN len);

enum { ICE_MEMORY, ICE_MEMORY_NETORDER, ICE_FILE, ICE_FILE_NETORDER };
enum { ICE_IS_STORING, ICE_IS_RETRIEVING, ICE_LAST_NETORDER };

void ice_storable_boot(pTHX);
void ice_storable_clone(pTHX);
void ice_storable_end(pTHX);

/* Read the variables of Icecore::Storable. */
void ice_storable_write_settings(pTHX_ ice_write_settings *settings);
void ice_storable_read_settings(pTHX_ ice_read_settings *settings);

SV *ice_freeze(pTHX_ SV *ref, int mode);
SV *ice_thaw(pTHX_ SV *frozen, I32 stack_index, I32 count);
SV *ice_dclone(pTHX_ SV *ref);
bool ice_storable_state(pTHX_ int state);
/* Returns the length of the document; -1 if there are too few bytes. */
IV ice_document_length(pTHX_ SV *bytes);
/* Appends the bytes that a handle has; waits only for the first byte. Returns whether
 * that filled its buffer; NULL at the end. */
SV *ice_read_buffered(pTHX_ PerlIO *handle, SV *bytes);

#endif
