/* State that replacing keeps from call to call. */
#ifndef ICE_REPLACE_H
#define ICE_REPLACE_H

/* Drops the replacer of the request's pairs. */
void ice_replace_end_request(void);

#endif
