--TEST--
A session with an unknown enum is refused with warnings
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
error_reporting=E_ALL&~E_DEPRECATED
--FILE--
<?php
enum Suit { case Hearts; const DEFAULT = 5; }
foreach (['E:9:"No\Such:A";', 'E:6:"Suit:B";', 'E:12:"Suit:DEFAULT";'] as $value) {
    session_start();
    var_dump(session_decode('a|' . $value));
    @session_abort();
}
?>
--EXPECTF--
Warning: session_decode(): Class 'No\Such' not found in %s on line %d

Warning: session_decode(): Failed to decode session object. Session has been destroyed in %s on line %d
bool(false)

Warning: session_decode(): Undefined constant Suit::B in %s on line %d

Warning: session_decode(): Failed to decode session object. Session has been destroyed in %s on line %d
bool(false)

Warning: session_decode(): Suit::DEFAULT is not an enum case in %s on line %d

Warning: session_decode(): Failed to decode session object. Session has been destroyed in %s on line %d
bool(false)
