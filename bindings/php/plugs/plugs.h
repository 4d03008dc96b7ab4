/* Plugs for serializers in PHP. Each is registered when the module starts. */
#ifndef ICE_PLUGS_H
#define ICE_PLUGS_H

/* session.serialize_handler=icecore */
void ice_plug_sessions(void);
/* apc.serializer=icecore */
void ice_plug_apcu(void);
/* icecore.replace=1: the global names call this module. */
void ice_plug_replace(void);

#endif
