/* What replacing keeps from call to call. */
#ifndef ICE_REPLACE_H
#define ICE_REPLACE_H

/* Drops what the request's pairs were made to. */
void ice_replace_end_request(void);

#endif
