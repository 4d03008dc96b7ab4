#!/usr/bin/env perl
# Identifies itself, and then prints a line that is not part of the protocol.
use v5.30;
use warnings;

$| = 1;
while (my $line = <STDIN>) {
    say $line =~ /"hello"/
        ? '{"protocol":1,"name":"noise","version":"1","runtime":"1","reference":"storable","operations":["write","read"]}'
        : "Loading...\0\xff\n{\"ok\": tru";
}
