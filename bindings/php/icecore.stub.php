<?php

/**
 * Icecore reads and writes the serialized data of PHP, Perl and Ruby. Reading runs no code from the data.
 *
 * @generate-class-entries
 */

namespace Icecore;

/**
 * Does what PHP's serialize() does, byte for byte.
 */
function serialize(mixed $value): string {}

/**
 * Does what PHP's unserialize() does. But if no option lists classes, it builds only those that Icecore\allow() or
 * the ini value icecore.classes allows.
 *
 * @param array{allowed_classes?: bool|string[], max_depth?: int, classes?: string|string[]} $options
 * @return mixed false, with PHP's warning, if the data is malformed
 * @throws ClassException
 */
function unserialize(string $data, array $options = []): mixed {}

/**
 * Does what PHP's var_export() does, byte for byte.
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
 * @param ?string $format if it is null, the format is detected
 * @param array{allowed_classes?: bool|string[], max_depth?: int, classes?: string|string[]} $options
 * @throws DecodeException
 * @throws ClassException
 */
function decode(string $bytes, ?string $format = null, array $options = []): mixed {}

/**
 * Writes a value in any format and wrapper.
 *
 * @param list<array{kind: string, count: int, path: string, text: string}> $losses what the format can't express: it
 *     was left out, or written as the closest value of the format
 * @throws EncodeException
 */
function encode(mixed $value, string $format, &$losses = null): string {}

/**
 * Converts data from one format to another, without building a value.
 *
 * @param ?string $from if it is null, the format is detected
 * @param list<array{kind: string, count: int, path: string, text: string}> $losses as in encode()
 * @throws DecodeException
 */
function convert(string $bytes, ?string $from, string $to, &$losses = null): string {}

/**
 * Replaces text in all strings of serialized data, also in data that such a string contains, and corrects the
 * lengths. Other data is replaced as plain text. All pairs are replaced in one pass. If several texts match at a
 * place, the longest one is replaced. Inserted text is not searched again.
 *
 * @param string|string[] $old a text or a list of texts; if $new is null, a map from old to new texts
 * @param string|string[]|null $new the new text; if it is a list, each text of $old becomes the one at the same
 *     position, or an empty text, as in str_replace()
 * @param array{keys?: bool, classes?: bool, base64?: bool, mend?: bool, regex?: bool, ignore_case?: bool, url?: bool, format?: ?string, max_depth?: int} $options
 * @param array{strings: int, occurrences: int, frozen: int, broken: int, mended: int, guessed: int, explanations: array<string, int>, opaque: int, unsayable: int, signed: int, first_broken: ?string} $report
 * @throws DecodeException if the data is not in the format of the option
 * @throws Exception if a pair or an option is wrong
 */
function replace(string|array $old, string|array|null $new, string $data, array $options = [], &$report = null): string {}

/**
 * Returns the classes that the data names, without building anything.
 *
 * @return list<array{class: string, kind: string, path: string, count: int}>
 * @throws DecodeException
 */
function classes(string $bytes, ?string $format = null): array {}

/**
 * Returns the format of the data, or null if it is unknown.
 */
function detect(string $bytes): ?string {}

/**
 * Does what igbinary_serialize() does, byte for byte.
 */
function igbinary_serialize(mixed $value): string {}

/**
 * Does what igbinary_unserialize() does, but builds only the classes that Icecore\unserialize() would build.
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
 * An error, with its position.
 */
class Exception extends \RuntimeException
{
    /**
     * One of: truncated, trailing, malformed, bad-link, unsupported, limit, format, usage, unrepresentable, class,
     * value.
     */
    public readonly string $kind;
    /** The position in the data, in bytes; null if the error has none. */
    public readonly ?int $offset;
    /** The path in the document, such as `$.staff[3].name`; empty if it is unknown. */
    public readonly string $path;
}

class DecodeException extends Exception
{
}

class EncodeException extends Exception
{
}

/**
 * A class in the data is not allowed.
 */
class ClassException extends Exception
{
    /** The path of the first object of each class, by the name of the class. */
    public readonly array $classes;
}

/**
 * Takes the place of an object or enum case whose class may not be built. It is written back identically.
 */
final class Record
{
    public string $class;
    /** One of: object, enum, serializable (an object that the class serializes itself, `C:`). */
    public string $kind;
    /** The properties by their mangled names; or the name of the enum case; or the payload. */
    public mixed $properties;
}
