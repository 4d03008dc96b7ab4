#!/usr/bin/env perl
# Identifies itself, and then never answers again.
use v5.30;
use warnings;

$| = 1;
while (my $line = <STDIN>) {
    say '{"protocol":1,"name":"silent","version":"1","runtime":"1","reference":"storable","operations":["write","read"]}' if $line =~ /"hello"/;
}
