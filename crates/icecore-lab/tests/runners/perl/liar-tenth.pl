#!/usr/bin/env perl
# Does the work, and claims a tenth of its processor time, so that the lie is as large on a busy
# machine.
use v5.30;
use warnings;
use lib $ENV{LAB_LIB};
use Lab;
use Time::HiRes ();

sub Lab::Made::worked { return Time::HiRes::clock_gettime(Time::HiRes::CLOCK_PROCESS_CPUTIME_ID()) }

no warnings 'redefine';
*Lab::Code::loop = sub {
    my ($body) = @_;
    return "sub { my \$began = worked(); for (1 .. \$_[0]) { $body } return (worked() - \$began) / 10 }";
};

Lab::run(
    name  => 'liar-tenth',
    needs => ['Storable'],
    json  => undef,
    write => 'Storable::freeze($value)',
    read  => 'Storable::thaw($bytes)',
);
