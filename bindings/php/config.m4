dnl Icecore for PHP: thin C over the engine, which is linked statically.
dnl
dnl   ICECORE_LIB=/path/of/libicecore_capi.a ./configure
dnl
dnl Without ICECORE_LIB the library is looked for where `cargo build --release` leaves it.

PHP_ARG_ENABLE([icecore], [whether to enable Icecore], [AS_HELP_STRING([--enable-icecore], [Enable Icecore])], [yes])

if test "$PHP_ICECORE" != "no"; then
  ICECORE_TOP="$abs_srcdir"
  test -e "$ICECORE_TOP/common/ice_map.h" || ICECORE_TOP=`cd "$abs_srcdir/.." && pwd`
  ICECORE_HEADERS="$abs_srcdir/engine"
  test -d "$ICECORE_HEADERS" || ICECORE_HEADERS=`cd "$abs_srcdir/../../crates/icecore-capi/include" && pwd`
  if test -z "$ICECORE_LIB"; then
    ICECORE_LIB="$abs_srcdir/../../target/release/libicecore_capi.a"
  fi
  test -e "$ICECORE_LIB" || AC_MSG_ERROR([$ICECORE_LIB is missing: run cargo build --release -p icecore-capi first])

  AC_MSG_CHECKING([for APCu's header])
  if test -f "$phpincludedir/ext/apcu/apc_serializer.h"; then
    AC_MSG_RESULT([yes])
    AC_DEFINE([ICECORE_HAS_APCU], [1], [APCu's way to register a serializer])
  else
    AC_MSG_RESULT([no])
  fi

  PHP_ADD_INCLUDE([$abs_srcdir])
  PHP_ADD_INCLUDE([$ICECORE_TOP])
  PHP_ADD_INCLUDE([$ICECORE_HEADERS])
  EXTRA_LDFLAGS="$EXTRA_LDFLAGS -Wl,--exclude-libs,ALL"
  ICECORE_SHARED_LIBADD="$ICECORE_LIB -lpthread -ldl -lm $ICECORE_SHARED_LIBADD"
  PHP_SUBST([ICECORE_SHARED_LIBADD])
  ICECORE_SOURCES="icecore.c"
  for source in core formats plugs; do
    for file in $abs_srcdir/$source/*.c; do
      test -e "$file" && ICECORE_SOURCES="$ICECORE_SOURCES $source/`basename $file`"
    done
  done
  PHP_NEW_EXTENSION([icecore], [$ICECORE_SOURCES], [$ext_shared],, [-O2 -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1])
  for folder in core formats plugs; do
    PHP_ADD_BUILD_DIR([$ext_builddir/$folder])
  done
fi
