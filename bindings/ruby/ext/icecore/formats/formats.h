/* The methods that Ruby sees. */
#ifndef ICE_FORMATS_H
#define ICE_FORMATS_H

void ice_marshal_init(void);
void ice_any_init(void);

#endif
