/* The modules and methods that Ruby sees when the extension is loaded. */
#include "core/documents.h"
#include "formats/formats.h"

VALUE ice_module;

RUBY_FUNC_EXPORTED void Init_icecore(void);

/* Called by Ruby when the extension is loaded. */
void
Init_icecore(void)
{
    if (icecore_tape_version() != ICECORE_TAPE_VERSION)
        rb_raise(rb_eLoadError, "Icecore: the engine has another version of the tape; build the extension again");
    ice_module = rb_define_module("Icecore");
    ice_originals_init();
    ice_core_set_init();
    ice_errors_init();
    ice_context_init();
    ice_record_init();
    ice_policy_init();
    ice_stages_init();
    ice_marshal_init();
    ice_any_init();
    ice_replace_init();
    ice_losses_init();
}
