# Settings of a whole process: allowed classes, reports, records and replaced functions.

use strict;
use warnings;
use FindBin ();
use lib "$FindBin::Bin/lib";
BEGIN { $ENV{ICECORE_TEST_STRICT} = 1 }

use Test::More;
use Both;
BEGIN { ours_only() }
use Run;

my $try = <<'END';
    use Icecore::Sereal ();
    use Icecore::Storable ();
    sub try {
        my ($class, @more) = @_;
        my $data = [bless {}, $class];
        for my $read (
            sub { Icecore::Storable::thaw(Icecore::Storable::freeze($data), @more ? (classes => @more) : ()) },
            sub { Icecore::Sereal::decode_sereal(Icecore::Sereal::encode_sereal($data), @more ? { classes => @more } : ()) },
        ) {
            my $copy = eval { $read->() };
            print ref($copy && $copy->[0]) || 'refused', ' ';
        }
        print "\n";
    }
END

is(run_perl("$try try('A')"), "refused refused \n", 'no class is allowed by default');
is(run_perl("use Icecore::Storable classes => ['A', 'My::*']; $try try(\$_) for qw(A My::B B)"), "A A \nMy::B My::B \nrefused refused \n",
    'use Icecore::Storable classes => [...]');
is(run_perl("use Icecore::Sereal classes => ['A']; $try try(\$_) for qw(A B)"), "A A \nrefused refused \n", 'use Icecore::Sereal classes => [...] allows classes of both modules');
is(run_perl("use Icecore classes => ['A']; $try try(\$_) for qw(A B)"), "A A \nrefused refused \n", 'use Icecore classes => [...] allows classes of both modules');
is(run_perl("use Icecore::Storable qw(freeze thaw), classes => ['A']; print defined &main::thaw ? 'imported ' : 'not imported '; $try try('A')"),
    "imported A A \n", 'with names to import');
is(run_perl("use Icecore::Storable classes => 'any'; $try try('A')"), "A A \n", "classes => 'any'");
is(run_perl("$try Icecore->allow('A'); try('A'); Icecore->allow('B', 'My::*'); try(\$_) for qw(A B My::C D)"),
    "A A \nA A \nB B \nMy::C My::C \nrefused refused \n", 'Icecore->allow adds classes');
is(run_perl("$try Icecore->allow('A'); try('B', ['B']); try('A', ['B']); try('C', ['B'])"), "B B \nA A \nrefused refused \n",
    'a call allows more than the process does');

subtest "'any,report'" => sub {
    my $report = <<'END';
        our @warnings;
        local $SIG{__WARN__} = sub { push @warnings, @_ };
        for (1 .. 3) { Icecore::Storable::thaw(Icecore::Storable::freeze([map { bless {}, $_ } 'One', 'Two', 'One']), classes => 'any,report') }
        Icecore::Sereal::decode_sereal(Icecore::Sereal::encode_sereal([bless {}, 'Three']), { classes => 'any,report' });
        print scalar(@warnings), "\n", @warnings;
END
    my $output = run_perl("$try $report");
    like($output, qr/^3\n/, 'each class causes one warning');
    is(scalar(() = $output =~ /\b$_\b/) ? 1 : 0, 1, "a warning names $_") for qw(One Two Three);
    is(scalar(grep { /One/ } split /\n/, $output), 1, 'each class has a line of its own');
    $output = run_perl("use Icecore::Storable classes => 'any,report'; $try try('For::All')");
    like($output, qr/^For::All For::All $/m, '`any,report` can be set for the process');
    is(scalar(() = $output =~ /^Icecore.*\bFor::All\b/mg), 1, '`any,report` of the process causes warnings');
};

subtest 'records for the whole process' => sub {
    is(run_perl("use Icecore::Storable classes => 'record'; $try try('A')"), "Icecore::Record Icecore::Record \n", "classes => 'record'");
};

subtest 'replace_storable' => sub {
    my $output = run_perl(<<'END');
        use strict;
        use warnings;
        use Storable;
        use Icecore;
        Icecore::replace_storable();
        package Old::Code;
        require Storable;
        Storable->import(qw(freeze thaw dclone nfreeze));
        my $copy = thaw(freeze([1, { a => 2 }]));
        print "plain $copy->[1]{a}\n";
        print eval { thaw(freeze([bless {}, 'A'])); 1 } ? "taken\n" : "refused\n";
        print ref dclone([bless {}, 'A'])->[0], "\n";
        Icecore->allow('A');
        print ref thaw(freeze([bless {}, 'A']))->[0], "\n";
        print ref Storable::thaw(Storable::nfreeze([bless {}, 'A']))->[0], "\n";
        my ($x, $y) = map { my %hash; $hash{$_} = 1 for $_ ? 1 .. 100 : reverse 1 .. 100; \%hash } 0, 1;
        { local $Storable::canonical = 1; print Storable::freeze($x) eq Storable::freeze($y) ? "same\n" : "other\n" }
        print eval { Storable::thaw(substr Storable::freeze([1 .. 10]), 0, 20); 1 } ? "quiet\n" : "dies\n";
        Storable::store([5], $0 . '.stored');
        print Storable::retrieve($0 . '.stored')->[0], "\n";
        unlink $0 . '.stored';
        print $INC{'Storable.pm'} ? "loaded\n" : "not loaded\n";
END
    is($output, "plain 2\nrefused\nA\nA\nA\nsame\ndies\n5\nloaded\n", 'code that uses Storable calls Icecore::Storable');
    $output = run_perl(<<'END');
        use Icecore;
        BEGIN { Icecore::replace_storable() }
        use Storable qw(freeze thaw);
        print thaw(freeze([7]))->[0], ' ', eval { thaw(freeze([bless {}, 'A'])); 1 } ? 'taken' : 'refused', "\n";
END
    is($output, "7 refused\n", 'code that loads Storable later calls Icecore::Storable');
};

subtest 'the end of a process' => sub {
    my ($output, $status) = run_perl(<<'END');
        use Icecore::Sereal ();
        use Icecore::Storable ();
        sub both { return Icecore::Storable::thaw(Icecore::Storable::freeze([1]))->[0] + Icecore::Sereal::decode_sereal(Icecore::Sereal::encode_sereal([2]))->[0] }
        sub Late::DESTROY { print 'destructor ', both(), "\n" }
        our $late = bless {}, 'Late';
        END { print 'END ', both(), "\n" }
        both();
END
    is($output, "END 3\ndestructor 3\n", 'END blocks and destructors can freeze and thaw');
    is($status, 0, 'the process exits with status 0');
};

done_testing;
