# frozen_string_literal: true

module Chance
  # Values that every run tests, each with a name.
  module Corners
    def self.all = numbers.merge(strings, containers, objects, times, links)

    def self.numbers
      integers = Scalars::EDGES.flat_map { |edge| [edge - 1, edge, edge + 1] }.flat_map { |n| [n, -n] }.uniq
      # A Float that is an object on the heap. Others, such as 1.5, are in the reference itself.
      heap_float = 1e100
      {
        "integers" => integers, "floats" => Scalars::FLOATS, "the same heap float" => [heap_float, heap_float, 1e100 * 1],
        "the same large integer" => (large = 2**70; [large, large, 2**70]), "integers of 63 bits" => [2**61, 2**61, -2**61],
        "BigDecimal twice" => (number = BigDecimal("1.25"); [number, number]), "Rational and Complex" => [1/3r, Complex(1, -0.0), Complex("1/3+2.5i")]
      }.merge(integers.to_h { |n| ["integer #{n}", n] }, Scalars::FLOATS.to_h { |n| ["float #{n}", n] })
    end

    def self.strings
      text = +"text"
      {
        "symbols" => Scalars::SYMBOLS, "patterns" => [/a/, /a/i, /a/mx, /caf\u00e9/, /a/n, /a/u, /\xff/n, Regexp.new("\xe9".dup.force_encoding("ISO-8859-1"))],
        "keys that are one object" => [{ "key" => 1 }, { "key" => 2 }, "key"], "a key that is also a value" => { text.dup.freeze => text, text => text },
        "half a character" => ["abc".dup.force_encoding("UTF-16LE"), "abc".dup.force_encoding("UTF-32BE")],
        "string with the variable @encoding" => (+"a").tap { |s| s.instance_variable_set(:@encoding, "x") },
        "a string whose name of encoding is the same string" => (name = -"Shift_JIS"; [name, (+"a").force_encoding("Shift_JIS"), name])
      }.merge(Encoding.list.to_h { |encoding| ["string in #{encoding}", [(+"ab").force_encoding(encoding), (+"cd").force_encoding(encoding)]] })
    end

    def self.containers
      {
        "empty things" => [[], {}, "", :"", Str.new, Arr.new, Hsh.new, Set.new], "a long hash" => (0..70_000).to_h { |n| [n, n] }, "a long array" => Array.new(70_000) { |n| n.to_s },
        "many keys" => (0..300).to_h { |n| ["k#{n}", n] }, "many symbols" => Array.new(400) { |n| :"symbol_number_#{n}" } * 2, "a hash in itself" => {}.tap { |map| map[map] = map },
        "a default in itself" => {}.tap { |map| map.default = map }, "identity" => {}.compare_by_identity.merge!("a" => 1, "a".dup => 2), "identity of a subclass" => Hsh.new.compare_by_identity,
        "a default value and identity" => Hash.new(5).compare_by_identity, "keywords" => [Hash.ruby2_keywords_hash({ a: 1 }), Hash.ruby2_keywords_hash({})],
        "nested" => (1..500).reduce("x") { |value, _| [value] }, "nested hashes" => (1..300).reduce("x") { |value, n| { n => value } }, "NaN as key" => { Float::NAN => 1, 0.0 => 2, -0.0 => 3 }
      }
    end

    def self.objects
      several = [Plain, Many, Other].flat_map { |type| (0..40).step(5).map { |count| with_variables(type, (1..count).to_a) } }
      {
        "objects of many sizes" => several, "orders of variables" => [[1, 2, 3], [3, 2, 1], [2, 1], [9, 1]].map { |names| with_variables(Plain, names) },
        "Struct" => [Pair.new(1, 2), Wide.new(*1..12), Keyed.new(x: 1, y: 2), SubPair.new(nil)], "a Struct in itself" => Pair.new(1).tap { |pair| pair.right = pair },
        "mixed in" => [Plain.new.extend(Ma), Plain.new.extend(Ma, Mb), (+"x").extend(Mb), [].extend(Ma), {}.extend(Mc), Str.new("x").extend(Ma)],
        "hooks" => [Dumped.new([1]), Fresh.new(2), Packed.new(+"x"), (kept = Packed.new(+"y")), kept], "a hook in itself" => Dumped.new([]).tap { |item| item.data << item },
        "ranges" => [1..5, 1...5, ("a".."c"), (1..), (..1), (nil..nil), Rng.new(1, 2), 1.5..2], "set" => [Set[1, "a"], Bag[1], Set[]], "classes" => [String, Kernel, Inner::Deep, Ünï, Pair, Errno::ENOENT],
        "exceptions" => [Fault.new, KeyError.new("k", receiver: {}, key: 1), (Integer("x") rescue $!)], "encodings" => [Encoding::UTF_8] * 2
      }
    end

    def self.with_variables(type, numbers) = type.new.tap { |item| numbers.each { |n| item.instance_variable_set("@v#{n}", n) } }

    def self.times
      years = Times::YEARS.flat_map { |year| [Time.utc(year, 1, 2, 3, 4, 5), Time.new(year, 1, 2, 3, 4, 5, "+01:30")] }
      {
        "years" => years, "parts of a second" => [Rational(1, 3), Rational(1, 10**9), Rational(1, 10**12), Rational(123_456_789_123, 10**12)].map { |part| Time.at(0, in: "UTC") + part },
        "dates" => [Date.new(2001, 2, 3), Date.new(1500, 1, 1), Date.new(-4712, 1, 1), DateTime.new(2001, 2, 3, 4, 5, 6.7, "+03:30"), Date.new(2001, 2, 3, Date::JULIAN)],
        "a zone" => Time.at(0, in: Zone.new("Here/There")), "a time with variables" => Time.at(0).tap { |time| time.instance_variable_set(:@a, 1) }, "offset in seconds" => Time.new(2000, 1, 1, 0, 0, 0, "+01:02:03")
      }
    end

    def self.links
      item = +"shared"
      list = [item]
      list << list
      time = Time.at(0).utc
      {
        "everything twice" => [item, item, list, list, time, time, String, String, 1.5, 1.5, 1e200, :a, :a, 1..2, 2**80, Pair.new(item, list), { item => item, list => 1 }],
        "a cycle of objects" => Plain.new.tap { |first| first.instance_variable_set(:@next, Plain.new.tap { |two| two.instance_variable_set(:@next, first) }) }
      }
    end
  end
end
