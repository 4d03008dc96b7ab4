/* What the module registers with other parts of PHP when it starts. */
#ifndef ICE_PLUGS_H
#define ICE_PLUGS_H

/* Registers the handler of session.serialize_handler=icecore. */
void ice_plug_sessions(void);
/* Registers the serializer of apc.serializer=icecore. */
void ice_plug_apcu(void);
/* Replaces the global functions, for icecore.replace=1. */
void ice_plug_replace(void);

#endif
