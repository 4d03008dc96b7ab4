dnl Icecore for PHP: C over the engine's C interface. The engine is linked statically.
dnl
dnl   ICECORE_LIB=/path/of/libicecore_capi.a ./configure
dnl
dnl Without ICECORE_LIB, the library is taken from cargo's target folder, and cargo builds it if it is missing.

PHP_ARG_ENABLE([icecore], [whether to enable Icecore], [AS_HELP_STRING([--enable-icecore], [Enable Icecore])], [yes])

if test "$PHP_ICECORE" != "no"; then
  dnl The code that the modules of all languages share (common) and the engine are next to this folder in
  dnl the repository, and inside of this folder in its package.
  ICECORE_TOP="$abs_srcdir"
  test -e "$ICECORE_TOP/common/ice_map.h" || ICECORE_TOP=`cd "$abs_srcdir/.." && pwd`
  ICECORE_ENGINE="$abs_srcdir/engine"
  test -e "$ICECORE_ENGINE/Cargo.toml" || ICECORE_ENGINE=`cd "$abs_srcdir/../.." && pwd`
  if test -z "$ICECORE_LIB"; then
    ICECORE_LIB="${CARGO_TARGET_DIR:-$ICECORE_ENGINE/target}/release/libicecore_capi.a"
    if test ! -e "$ICECORE_LIB"; then
      AC_MSG_NOTICE([building the engine with cargo])
      (cd "$ICECORE_ENGINE" && cargo build --quiet --locked --release -p icecore-capi) ||
        AC_MSG_ERROR([the engine could not be built: install Rust 1.88 or later, or name its library with ICECORE_LIB])
    fi
  fi
  test -e "$ICECORE_LIB" || AC_MSG_ERROR([$ICECORE_LIB is missing])

  AC_MSG_CHECKING([for APCu's header])
  if test -f "$phpincludedir/ext/apcu/apc_serializer.h"; then
    AC_MSG_RESULT([yes])
    AC_DEFINE([ICECORE_HAS_APCU], [1], [APCu's way to register a serializer])
  else
    AC_MSG_RESULT([no])
  fi

  PHP_ADD_INCLUDE([$abs_srcdir])
  PHP_ADD_INCLUDE([$ICECORE_TOP])
  PHP_ADD_INCLUDE([$ICECORE_ENGINE/crates/icecore-capi/include])
  case $host_os in
    linux*)
      EXTRA_LDFLAGS="$EXTRA_LDFLAGS -Wl,-Bsymbolic-functions -Wl,--gc-sections -Wl,--exclude-libs,ALL -Wl,--strip-all"
      ;;
  esac
  ICECORE_SHARED_LIBADD="$ICECORE_LIB -lpthread -ldl -lm $ICECORE_SHARED_LIBADD"
  PHP_SUBST([ICECORE_SHARED_LIBADD])
  dnl The extension is linked again when the engine's library changes.
  ICECORE_SHARED_DEPENDENCIES="$ICECORE_LIB"
  PHP_SUBST([ICECORE_SHARED_DEPENDENCIES])
  ICECORE_SOURCES="icecore.c"
  for source in core formats registration; do
    for file in $abs_srcdir/$source/*.c; do
      test -e "$file" && ICECORE_SOURCES="$ICECORE_SOURCES $source/`basename $file`"
    done
  done
  dnl A PHP with threads was compiled with this macro, on which structs in its headers depend.
  ICECORE_THREADS=
  test "$PHP_THREAD_SAFETY" != "yes" || ICECORE_THREADS=-D_REENTRANT
  PHP_NEW_EXTENSION([icecore], [$ICECORE_SOURCES], [$ext_shared],, [$ICECORE_THREADS -O2 -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1])
  for folder in core formats registration; do
    PHP_ADD_BUILD_DIR([$ext_builddir/$folder])
  done
fi
