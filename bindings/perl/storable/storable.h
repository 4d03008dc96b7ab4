/* The functions of Storable that Icecore.xs calls, and the functions that other files need. */
#ifndef ICECORE_STORABLE_H
#define ICECORE_STORABLE_H
#include "core/icecore_perl.h"

extern const iw_rules ice_storable_rules;

/* The newest minor version of the format that this perl's Storable knows. Newer ones are read
 * too. */
#define IST_NEWEST_MINOR (PERL_VERSION_GE(5, 37, 0) ? 12 : 11)

/* See translate_error in ice_read_settings. */
SV *ist_translate_error(pTHX_ const icecore_error *error, const char *bytes, STRLEN len);

/* Values of the parameter `mode`: the kinds of images. They are sums of the bits in storable.c. */
enum { ICE_MEMORY, ICE_MEMORY_NETORDER, ICE_FILE, ICE_FILE_NETORDER };
/* Values of the parameter `state`: what a caller asks. */
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
/* Returns the length of the document at the start of the bytes; -1 if it is not complete. */
IV ice_document_length(pTHX_ SV *bytes);
/* Appends the bytes in the buffer of a handle. If the buffer is empty, waits for the first byte.
 * Returns true if the buffer was full, so that more bytes may be available; NULL at the end of the
 * file. */
SV *ice_read_buffered(pTHX_ PerlIO *handle, SV *bytes);

#endif
