/* What the module registers with other parts of PHP when it starts. */
#ifndef ICE_REGISTRATION_H
#define ICE_REGISTRATION_H

/* Registers the handler of session.serialize_handler=icecore. */
void ice_register_sessions(void);
/* Registers the serializer of apc.serializer=icecore. */
void ice_register_apcu(void);
/* Replaces the global functions, for icecore.replace=1. */
void ice_register_replace(void);

#endif
