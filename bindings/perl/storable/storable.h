/* Storable: what Icecore.xs calls, and what others need of it. */
#ifndef ICECORE_STORABLE_H
#define ICECORE_STORABLE_H
#include "core/icecore_perl.h"

extern const iw_rules ice_storable_rules;

/* The newest version that Storable of this perl knows. What is newer is read too. */
#define IS_MINOR (PERL_VERSION_GE(5, 37, 0) ? 12 : 11)

/* The words that Storable begins with: see `ice_read_settings`. */
SV *is_original_words(pTHX_ const icecore_error *error, const char *bytes, STRLEN len);

enum { ICE_MEMORY, ICE_MEMORY_NETORDER, ICE_FILE, ICE_FILE_NETORDER };
enum { ICE_IS_STORING, ICE_IS_RETRIEVING, ICE_LAST_NETORDER };

void ice_storable_boot(pTHX);
void ice_storable_clone(pTHX);
void ice_storable_end(pTHX);

/* What the variables of Icecore::Storable say. */
void ice_storable_write_settings(pTHX_ ice_write_settings *set);
void ice_storable_read_settings(pTHX_ ice_read_settings *set);

SV *ice_freeze(pTHX_ SV *ref, int how);
SV *ice_thaw(pTHX_ SV *frozen, I32 at, I32 count);
SV *ice_dclone(pTHX_ SV *ref);
bool ice_storable_state(pTHX_ int what);
/* How many bytes the document takes; -1, if there are too few. */
IV ice_probe(pTHX_ SV *bytes);
/* Appends what a handle has, without waiting for more than the first byte of it.
 * Says whether that filled its buffer; NULL at the end. */
SV *ice_more(pTHX_ PerlIO *handle, SV *bytes);

#endif
