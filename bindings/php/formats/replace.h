/* The state of Icecore\replace that is kept from call to call. */
#ifndef ICE_REPLACE_H
#define ICE_REPLACE_H

/* Frees the replacer of the request. */
void ice_replace_end_request(void);

#endif
