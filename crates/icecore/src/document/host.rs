//! Documents restricted to the values of a host.

mod perl;
