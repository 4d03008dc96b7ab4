package Icecore::JSON::Cpanel::Type;
use v5.30;
use warnings;

use Exporter qw(import);
use Icecore::JSON::Cpanel ();
use Scalar::Util qw(weaken);

our $VERSION = $Icecore::VERSION;

# The numbers and classes are those of Cpanel::JSON::XS::Type, so types of both modules can be mixed.
use constant {
    JSON_TYPE_BOOL           => 1,
    JSON_TYPE_INT            => 2,
    JSON_TYPE_FLOAT          => 3,
    JSON_TYPE_STRING         => 4,
    JSON_TYPE_NULL           => 0x100,
    JSON_TYPE_CAN_BE_NULL    => 0x100,
    JSON_TYPE_BOOL_OR_NULL   => 0x101,
    JSON_TYPE_INT_OR_NULL    => 0x102,
    JSON_TYPE_FLOAT_OR_NULL  => 0x103,
    JSON_TYPE_STRING_OR_NULL => 0x104,
    JSON_TYPE_ARRAYOF_CLASS  => 'Cpanel::JSON::XS::Type::ArrayOf',
    JSON_TYPE_HASHOF_CLASS   => 'Cpanel::JSON::XS::Type::HashOf',
    JSON_TYPE_ANYOF_CLASS    => 'Cpanel::JSON::XS::Type::AnyOf',
    JSON_TYPE_WEAKEN_CLASS   => 'Cpanel::JSON::XS::Type::Weaken',
};

our @EXPORT = qw(
    json_type_arrayof json_type_hashof json_type_anyof json_type_null_or_anyof json_type_weaken
    JSON_TYPE_NULL JSON_TYPE_BOOL JSON_TYPE_INT JSON_TYPE_FLOAT JSON_TYPE_STRING
    JSON_TYPE_BOOL_OR_NULL JSON_TYPE_INT_OR_NULL JSON_TYPE_FLOAT_OR_NULL JSON_TYPE_STRING_OR_NULL
    JSON_TYPE_ARRAYOF_CLASS JSON_TYPE_HASHOF_CLASS JSON_TYPE_ANYOF_CLASS
);
our @EXPORT_OK = @EXPORT;

# Returns which of the alternatives of json_type_anyof a type is.
sub _alternative {
    my ($type) = @_;
    my $kind = ref $type;
    return 0 if $kind eq '';
    return 1 if $kind eq 'ARRAY' || $kind eq JSON_TYPE_ARRAYOF_CLASS;
    return 2 if $kind eq 'HASH'  || $kind eq JSON_TYPE_HASHOF_CLASS;
    die 'Only scalar, array or hash can be specified in anyof';
}

sub json_type_anyof {
    my @types;
    my @weak;
    for my $argument (@_) {
        my $is_weak = ref $argument eq JSON_TYPE_WEAKEN_CLASS;
        my $type    = $is_weak ? $$argument : $argument;
        my $index   = _alternative($type);
        if (defined $types[$index]) {
            my $name = (qw(scalar array hash))[$index];
            die "Only one $name type can be specified in anyof";
        }
        $types[$index] = $type;
        push @weak, $index if $is_weak;
    }
    $#types = 2;
    my $result = [@types];
    weaken $result->[$_] for @weak;
    return bless $result, JSON_TYPE_ANYOF_CLASS;
}

sub json_type_null_or_anyof {
    for my $type (@_) {
        die 'Scalar cannot be specified in null_or_anyof' if ref $type eq '';
    }
    return json_type_anyof(JSON_TYPE_CAN_BE_NULL, @_);
}

# Returns an object that contains one type, which may be weak.
sub _container_type {
    my ($class, $type) = @_;
    my $contained = $type;
    if (ref $type eq JSON_TYPE_WEAKEN_CLASS) {
        $contained = $$type;
        weaken $contained;
    }
    return bless \$contained, $class;
}

sub json_type_arrayof {
    die 'Exactly one type must be specified in arrayof' if @_ != 1;
    return _container_type(JSON_TYPE_ARRAYOF_CLASS, $_[0]);
}

sub json_type_hashof {
    die 'Exactly one type must be specified in hashof' if @_ != 1;
    return _container_type(JSON_TYPE_HASHOF_CLASS, $_[0]);
}

sub json_type_weaken {
    die 'Exactly one type must be specified in weaken' if @_ != 1;
    die 'Scalar cannot be specfied in weaken'          if ref $_[0] eq '';
    my $type = $_[0];
    return bless \$type, JSON_TYPE_WEAKEN_CLASS;
}

1;
