<?php

/**
 * Icecore: the data that PHP, Perl and Ruby freeze, read without running any of it.
 *
 * @generate-class-entries
 */

namespace Icecore;

/**
 * As PHP's serialize(), byte for byte.
 */
function serialize(mixed $value): string {}

/**
 * As PHP's unserialize(), but without a list only classes are built that Icecore\allow()
 * or the ini value icecore.classes allows.
 *
 * @param array{allowed_classes?: bool|string[], max_depth?: int, classes?: string|string[]} $options
 * @return mixed false, with PHP's warning, if the data is malformed
 * @throws ClassException
 */
function unserialize(string $data, array $options = []): mixed {}

/**
 * As PHP's var_export(), byte for byte.
 */
function var_export(mixed $value, bool $return = false): ?string {}

/**
 * Reads the text of var_export() without running it.
 *
 * @param array{allowed_classes?: bool|string[], max_depth?: int, classes?: string|string[]} $options
 * @throws DecodeException
 * @throws ClassException
 */
function var_import(string $text, array $options = []): mixed {}

/**
 * Reads data of any format and wrapper: `storable`, `sereal`, `marshal`, `json`, `gzip/php`, ...
 *
 * @param ?string $format null: it is detected
 * @param array{allowed_classes?: bool|string[], max_depth?: int, classes?: string|string[]} $options
 * @throws DecodeException
 * @throws ClassException
 */
function decode(string $bytes, ?string $format = null, array $options = []): mixed {}

/**
 * Writes a value in any format and wrapper.
 *
 * @throws EncodeException
 */
function encode(mixed $value, string $format): string {}

/**
 * Converts data from one format to another and builds no value.
 *
 * @param ?string $from null: it is detected
 * @throws DecodeException
 */
function convert(string $bytes, ?string $from, string $to): string {}

/**
 * Replaces text in every string of frozen data, however deep, with lengths that fit; data that
 * is not frozen is replaced as text. All pairs act at once, the longest match first; a text
 * that was put in is not looked at again.
 *
 * @param string|string[] $old a text, or several; a map of old and new texts, if $new is null
 * @param string|string[]|null $new its replacement; with several, each text becomes the one at the same position, or
 *     nothing, as in str_replace()
 * @param array{keys?: bool, classes?: bool, base64?: bool, mend?: bool, regex?: bool, ignore_case?: bool, url?: bool, format?: ?string, max_depth?: int} $options
 * @param array{strings: int, occurrences: int, frozen: int, broken: int, mended: int, guessed: int, explanations: array<string, int>, opaque: int, unsayable: int, signed: int, first_broken: ?string} $report
 * @throws DecodeException if the data is not in the format that was named
 * @throws Exception if a pair or an option is wrong
 */
function replace(string|array $old, string|array|null $new, string $data, array $options = [], &$report = null): string {}

/**
 * The classes that the data names, without building anything.
 *
 * @return list<array{class: string, kind: string, path: string, count: int}>
 * @throws DecodeException
 */
function classes(string $bytes, ?string $format = null): array {}

/**
 * The format of the data; null if none fits.
 */
function detect(string $bytes): ?string {}

/**
 * As igbinary_serialize(), byte for byte.
 */
function igbinary_serialize(mixed $value): string {}

/**
 * As igbinary_unserialize(), with the classes of unserialize().
 *
 * @param array{allowed_classes?: bool|string[], max_depth?: int, classes?: string|string[]} $options
 * @throws ClassException
 */
function igbinary_unserialize(string $data, array $options = []): mixed {}

/**
 * Allows classes, by names or patterns such as `App\*`, for the rest of this request.
 */
function allow(string ...$classes): void {}

/**
 * What went wrong, and where.
 */
class Exception extends \RuntimeException
{
    /** truncated, trailing, malformed, bad-link, unsupported, limit, format, usage, unrepresentable, class, value */
    public readonly string $kind;
    /** In bytes; null, if that makes no sense. */
    public readonly ?int $offset;
    /** In the document, as `$.staff[3].name`; empty, if unknown. */
    public readonly string $path;
}

class DecodeException extends Exception
{
}

class EncodeException extends Exception
{
}

/**
 * A class that is not allowed.
 */
class ClassException extends Exception
{
    /** Classes, and the path of the first place of each. */
    public readonly array $classes;
}

/**
 * In the place of an object whose class may not be built; written back identically.
 */
final class Record
{
    public string $class;
    /** object, enum, serializable */
    public string $kind;
    /** Properties by their mangled names; the name of the case; the payload. */
    public mixed $properties;
}
