/* Compiles the code that the modules of all languages share, as code of this module. */
#define ICE_HOST_COUNTS_MEMORY
#include "common/ice_keys.c"
#include "common/ice_map.c"
#include "common/ice_message.c"
#include "common/ice_pool.c"
#include "common/ice_tape.c"
#include "common/ice_view.c"
