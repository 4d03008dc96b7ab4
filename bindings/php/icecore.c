/* The functions, classes and ini values that PHP sees, and the beginning and end of a
 * request. */
#include "core/icecore_php.h"
#include "core/documents.h"
#include "ext/spl/spl_exceptions.h"
#include "ext/standard/info.h"
#include "core/spl_payloads.h"
#include "formats/replace.h"
#include "icecore_arginfo.h"
#include "php_icecore.h"
#include "registration/registration.h"

ZEND_DECLARE_MODULE_GLOBALS(icecore)

/* ---- ini values --------------------------------------------------------- */

/* Called when icecore.classes is set. */
static PHP_INI_MH(on_classes_change)
{
    icecore_rules_free(ICE_G(ini_rules));
    ICE_G(rules_version)++;
    ICE_G(ini_rules) = new_value ? ice_policy_parse_rules(ZSTR_VAL(new_value), ZSTR_LEN(new_value)) : NULL;
    return SUCCESS;
}

PHP_INI_BEGIN()
    PHP_INI_ENTRY("icecore.classes", "", PHP_INI_SYSTEM | PHP_INI_PERDIR, on_classes_change)
    STD_PHP_INI_BOOLEAN("icecore.replace", "0", PHP_INI_SYSTEM, OnUpdateBool, replace, zend_icecore_globals,
                        icecore_globals)
PHP_INI_END()

/* ---- beginning and end -------------------------------------------------- */

static PHP_GINIT_FUNCTION(icecore)
{
#if defined(COMPILE_DL_ICECORE) && defined(ZTS)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    memset(icecore_globals, 0, sizeof *icecore_globals);
}

static PHP_GSHUTDOWN_FUNCTION(icecore)
{
    size_t i;
    ice_context *ctx;
    /* The contexts are taken out of a copy, and the pool of the module is empty meanwhile. */
    ice_pool pool = icecore_globals->pool;
    ice_pool_abandon(&icecore_globals->pool);
    while ((ctx = (ice_context *)ice_pool_pop(&pool)))
        ice_context_free(ctx);
    for (i = 0; i < ICE_STAGE_COUNT; i++)
        icecore_stage_free(icecore_globals->stages[i]);
    icecore_rules_free(icecore_globals->ini_rules);
}

static PHP_MINIT_FUNCTION(icecore)
{
    if (icecore_tape_version() != ICECORE_TAPE_VERSION) {
        zend_error(E_CORE_ERROR, "icecore: the engine's tape has version %u, and the module is for %u",
                   (unsigned)icecore_tape_version(), (unsigned)ICECORE_TAPE_VERSION);
        return FAILURE;
    }
    REGISTER_INI_ENTRIES();
    icecore_register_classes();
    ice_register_sessions();
    ice_register_apcu();
    if (ICE_G(replace)) {
        ice_register_replace();
        ice_spl_payloads_register();
    }
    return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(icecore)
{
    UNREGISTER_INI_ENTRIES();
    return SUCCESS;
}

static PHP_RINIT_FUNCTION(icecore)
{
#if defined(COMPILE_DL_ICECORE) && defined(ZTS)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    return SUCCESS;
}

/* Runs after all modules have ended the request. Until then, sessions are written and objects are
 * destroyed, and both may call this module. */
static ZEND_MODULE_POST_ZEND_DEACTIVATE_D(icecore)
{
    ice_contexts_end_request(CG(unclean_shutdown));
    ice_policy_end_request();
    ice_replace_end_request();
    /* The entry may be gone in the next request. */
    ICE_G(has_searched_compact_strings) = false;
    return SUCCESS;
}

static PHP_MINFO_FUNCTION(icecore)
{
    php_info_print_table_start();
    php_info_print_table_row(2, "Icecore", "enabled");
    php_info_print_table_row(2, "Version", PHP_ICECORE_VERSION);
    php_info_print_table_row(2, "Engine", icecore_version());
    php_info_print_table_end();
    DISPLAY_INI_ENTRIES();
}

/* The optional modules start before this one, if they exist, because this module registers with
 * them. */
static const zend_module_dep icecore_dependencies[] = {
    ZEND_MOD_REQUIRED("standard")
    ZEND_MOD_REQUIRED("spl")
    ZEND_MOD_OPTIONAL("session")
    ZEND_MOD_OPTIONAL("apcu")
    ZEND_MOD_OPTIONAL("igbinary")
    ZEND_MOD_END
};

zend_module_entry icecore_module_entry = {
    STANDARD_MODULE_HEADER_EX,
    NULL,
    icecore_dependencies,
    "icecore",
    icecore_functions,
    PHP_MINIT(icecore),
    PHP_MSHUTDOWN(icecore),
    PHP_RINIT(icecore),
    NULL,
    PHP_MINFO(icecore),
    PHP_ICECORE_VERSION,
    PHP_MODULE_GLOBALS(icecore),
    PHP_GINIT(icecore),
    PHP_GSHUTDOWN(icecore),
    ZEND_MODULE_POST_ZEND_DEACTIVATE_N(icecore),
    STANDARD_MODULE_PROPERTIES_EX
};

#ifdef COMPILE_DL_ICECORE
#  ifdef ZTS
ZEND_TSRMLS_CACHE_DEFINE()
#  endif
ZEND_GET_MODULE(icecore)
#endif
