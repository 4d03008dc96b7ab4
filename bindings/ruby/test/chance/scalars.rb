# frozen_string_literal: true

module Chance
  # Numbers, strings, symbols and other values that contain no other values.
  module Scalars
    EDGES = [0, 1, 4, 5, 122, 123, 124, 127, 128, 255, 256, 257, 65_535, 65_536, 2**24, 2**30, 2**31, 2**32, 2**53, 2**61, 2**62, 2**63, 2**64, 2**70, 2**128, 10**40, 2**1000].freeze
    FLOATS = [
      0.0, 1.5, -1.5, 0.1, 100.0, 1e15, 1e16, 1e17, 1e22, 123_456_789.125, 1e-3, 1e-4, 1e-5, 0.0001234, 1.0 / 3, -0.0, Float::NAN, Float::INFINITY, -Float::INFINITY,
      1e77, 1e78, 1e-77, 1e-78, 1e100, -1e300, 5e-324, 2.2250738585072014e-308, Float::MAX, Float::MIN, Float::EPSILON, 2.0**53, 2.0**63, -(2.0**63), 1.7272337110188893e-77, 1.1579208923731620e+77
    ].freeze
    ENCODINGS = %w[UTF-8 ASCII-8BIT US-ASCII Shift_JIS UTF-16LE ISO-8859-1 EUC-JP UTF-16BE UTF-32LE UTF-16 UTF-32 UTF-7 ISO-2022-JP Windows-1252 Big5 GB18030 UTF8-MAC Windows-31J KOI8-R IBM437].map { |name| Encoding.find(name) }.freeze
    WORDS = ["", "a", "text", "two words", "caf\u00e9", "\u263a\u{1f600}", "\xe9", "\xff\xfe\x00", "a\u0000b", "\u00e9" * 40, "x" * 122, "x" * 123, "x" * 255, "x" * 256, "E", "encoding", "Shift_JIS", "@a", "zone", "e\u0301"].freeze
    SYMBOLS = [
      :a, :b, :c, :name, :@iv, :@@cv, :$g, :E, :K, :encoding, :[]=, :+, :a?, :A, :"", :"two words", :"a\0b", :"caf\u00e9", :"\u263a", :offset, :zone, :mesg, :excl,
      "\xe9".dup.force_encoding("ISO-8859-1").to_sym, "\xa4\xa2".dup.force_encoding("EUC-JP").to_sym, "\xff\xfe".b.to_sym, "\x82\xa0".dup.force_encoding("Shift_JIS").to_sym, "a".encode("UTF-16LE").to_sym, :"#{'long' * 80}"
    ].freeze
    LITERALS = ["shared", "literal", "key", "caf\u00e9 lit", "bin\xff".b.freeze, "us".encode("US-ASCII").freeze].freeze
    PATTERNS = ["", "a+", "b.*c", "\\.", "caf\u00e9", "/", "[[:alpha:]]", "\\u00e9", "(?<n>x)", "a\nb", "\\/", "\\-x"].freeze

    def integer
      edge = pick(EDGES) + pick([0, 1, -1])
      one_in(2) ? -edge : edge
    end

    def float = keep(pick(FLOATS) * 1)

    def string
      text = pick(WORDS).dup
      return text if one_in(2)
      text << pick(WORDS) * (1 + below(3)) if one_in(3)
      complete_last_character(text.force_encoding(one_in(5) ? pick(Encoding.list) : pick(ENCODINGS)))
    end

    # Adds bytes to a text that ends with half a character. If such a text is a key of a hash, Ruby
    # reads beyond its end.
    def complete_last_character(text)
      size = { "UTF-16" => 2, "UTF-32" => 4 }[text.encoding.name[0, 6]] or return text
      text << ("\0" * (-text.bytesize % size)).force_encoding(text.encoding)
    end

    # Returns a frozen literal, which occurs in many places as in programs, or an interned string.
    def literal = one_in(3) ? -string : pick(LITERALS)

    def symbol = pick(SYMBOLS)

    def regexp
      source = pick(PATTERNS).dup
      type = one_in(4) ? Rgx : Regexp
      flags = below(8) | pick([0, 0, Regexp::FIXEDENCODING, Regexp::NOENCODING])
      source.force_encoding(pick(ENCODINGS)) if one_in(3)
      type.new(source, flags)
    rescue RegexpError, ArgumentError
      /a/
    end

    def constant
      pick([String, Object, Kernel, Comparable, Chance, Ma, Inner::Deep, Plain, Pair, Str, Ünï, Process::Status, Math, Errno::ENOENT, Float, NilClass, Class, Module, Encoding])
    end

    def encoding = pick(ENCODINGS)

    def number
      case below(3)
      when 0 then Rational(integer, pick([1, 2, 3, 7, 2**70]))
      when 1 then Complex(pick([0, 1, 1.5, Rational(1, 3), -0.0, 2**80]), pick([0, 2, -2.5, 1e78, 1i.imaginary]))
      else BigDecimal(pick(%w[0 -0 1.25 1e100 -1e-100 NaN Infinity -Infinity 0.1 123456789012345678901234567890.5]))
      end
    end
  end
end
