//! Documents as the values of a host can hold them.

mod perl;
