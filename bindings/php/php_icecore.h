/* The module entry, for builds that link the module into PHP itself. */
#ifndef PHP_ICECORE_H
#define PHP_ICECORE_H
#include "php.h"

#define PHP_ICECORE_VERSION "0.1.0"

extern zend_module_entry icecore_module_entry;
#define phpext_icecore_ptr &icecore_module_entry

#endif
