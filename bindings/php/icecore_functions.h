/* The functions that take the place of PHP's own (registration/replace.c). */
#ifndef ICECORE_FUNCTIONS_H
#define ICECORE_FUNCTIONS_H
#include "php.h"

PHP_FUNCTION(Icecore_serialize);
PHP_FUNCTION(Icecore_replaced_unserialize);
PHP_FUNCTION(Icecore_var_export);

#endif
