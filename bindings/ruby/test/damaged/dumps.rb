# frozen_string_literal: true

require_relative "../chance/classes"

module Damaged
  # The dumps that are damaged, by name. They are small, so that each byte can be changed.
  module Dumps
    def self.all = values.transform_values { |value| Oracle.dump(value) }.merge(by_hand)

    def self.values
      item = Chance::Plain.new
      item.instance_variable_set(:@a, 1)
      item.instance_variable_set(:@b, item)
      list = [1]
      list << list
      key = "key"
      plain.merge(
        "object" => item, "cycle" => list, "extended" => (+"x").extend(Chance::Ma, Chance::Mb), "a Struct" => Chance::Pair.new(1, :a), "a keyword Struct" => Chance::Keyed.new(x: 1, y: nil),
        "range" => [1..2, ("a"...)], "set" => Set[1, "a"], "number types" => [1/3r, 2i, BigDecimal("1.5")], "times" => Time.at(0, 123_456_789, :nsec, in: "UTC"), "local time" => Time.at(1, in: "+01:00"),
        "date" => Date.new(2001, 2, 3), "date and time" => DateTime.new(2001, 2, 3, 4, 5, 6, "+01:00"), "exception" => Chance::Fault.new("x"), "key error" => KeyError.new("k", receiver: 1, key: 2), "marshal_dump" => [Chance::Dumped.new(["x"])] * 2, "_dump" => [Chance::Packed.new(+"x")] * 2,
        "classes" => [String, Kernel, Chance::Pair], "regexp" => [/a/i, /b/], "keys" => [{ key => 1 }, { key => key }], "_dump_data" => Chance::DataInC.new(+"ab"), "subclasses" => [Chance::Str.new("x"), Chance::Arr.new([1]), Chance::Hsh.new],
        "string with variables" => (+"s").tap { |text| text.instance_variable_set(:@v, 1) }, "links" => [(+"s").tap { |text| list << text }, list], "bare" => Chance::Bare.new, "open struct" => OpenStruct.new(a: 1)
      )
    end

    def self.plain
      {
        "scalars" => [nil, true, false, 1, -1, 300, -70_000, 2**30], "floats" => [1.5, -0.0, 1e100, 1.5], "large integers" => [2**64, -(2**31)], "text" => ["text", "caf\u00e9", "\xff".b, "us".encode("US-ASCII")],
        "encodings" => ["a".encode("Shift_JIS"), "b".encode("Shift_JIS")], "symbols" => [:a, :b, :a, :"caf\u00e9"], "hash" => { a: 1, "b" => [2], 3 => nil }, "default" => Hash.new(5).merge!(1 => 2), "identity" => {}.compare_by_identity.merge!("a" => 1),
        "keywords" => Hash.ruby2_keywords_hash({ a: 1 }), "nested" => [[[[1, [2]]]], [{}]]
      }
    end

    # Data that no current Ruby writes, or that no Ruby has ever written. The version is added in front
    # of data that does not have one.
    def self.by_hand
      {
        "version 4.0" => "\x04\x00i\x06", "an old module" => "M\x0bString", "an old float" => "f\x0a1.5\x00\xff", "an old string" => "[\x07\"\x06a\"\x06b", "floats as words" => "[\x08f\x08inff\x09-inff\x08nan",
        "a class that is a module" => "c\x0bKernel", "a module that is a class" => "m\x0bString", "a link forward" => "[\x06@\x07", "a link to the open list" => "[\x06@\x00", "a link to a missing symbol" => ";\x00", "a symbol as its own variable" => "I:\x06a\x06:\x06ET",
        "variables of a number" => "Ii\x06\x06:\x07@ai\x06", "variables of nil" => "I0\x06:\x07@ai\x06", "variables of a class" => "Ic\x0bString\x00", "a subclass of another type" => "C:\x10Chance::Str[\x00", "a subclass of a hash" => "C:\x10Chance::Hsh{\x00",
        "a class mixed in" => "e:\x10Chance::Stro:\x12Chance::Plain\x00", "a module mixed into a number" => "e:\x0fChance::Mai\x06", "a module mixed into nil" => "e:\x0fChance::Ma0", "the same key twice" => "{\x07:\x06ai\x06:\x06ai\x07", "a key with variables" => "{\x06I\"\x06k\x07:\x06ET:\x07@ai\x06i\x06",
        "a missing member" => "S:\x11Chance::Pair\x06:\x09lefti\x06", "a member of another name" => "S:\x11Chance::Pair\x07:\x0ariteri\x06:\x09lefti\x07", "a Struct of another class" => "S:\x12Chance::Plain\x00", "an object of a Struct" => "o:\x11Chance::Pair\x00", "an object of class String" => "o:\x0bString\x00",
        "a missing class" => "o:\x0cNothing\x00", "an object of a module" => "o:\x0fChance::Ma\x00", "an empty name" => "o:\x00\x00", "a class name in lower case" => "o:\x0cstrings\x00", "a class name with colons in front" => "o:\x0d::String\x00",
        "a class without marshal_load" => "U:\x12Chance::Plaini\x06", "a class without _load" => "u:\x12Chance::Plain\x06x", "a variable without @" => "o:\x12Chance::Plain\x06:\x06ai\x06", "a variable whose name is a string" => "o:\x12Chance::Plain\x06\"\x06ai\x06",
        "a negative count" => "[\xfa", "a negative length" => "\"\xfa", "a large count" => "[\x04\xff\xff\xff\x3f", "a large hash" => "{\x03\xff\xff\x0f", "a large length" => "\"\x04\xff\xff\xff\x3f", "a large link" => "@\x04\xff\xff\xff\x7f", "wide integers" => "[\x08i\x04\xff\xff\xff\xffi\xfc\x00\x00\x00\x80i\x02\x00\x00",
        "an invalid sign" => "l?\x07\x01\x00\x00\x00", "a short large integer" => "l+\x06\x01\x00", "zero as a large integer" => "l+\x00", "minus zero" => "l-\x07\x00\x00\x00\x00", "a float that is not a number" => "f\x08abc", "an empty float" => "f\x00", "a float with an underscore" => "f\x081_0", "a float in hex" => "f\x090x1p",
        "an unknown encoding" => "I\"\x06a\x06:\x0dencoding\"\x09none", "two encodings" => "I\"\x06a\x07:\x06ET:\x0dencoding\"\x0eShift_JIS", "an encoding whose value is a number" => "I\"\x06a\x06:\x06Ei\x06", "an encoding that is a link" => "[\x07\"\x0eShift_JISI\"\x06a\x06:\x0dencoding@\x06",
        "Ruby 1.8's pattern" => "/\x07\\/\x00", "a broken pattern" => "/\x06(\x00", "a pattern in an encoding" => "I/\x07\xc3\xa9\x10\x06:\x06ET", "an old time" => "u:\x09Time\x0d \x80\x1b\xc0\x00\x00\x00\x00", "a time that is too short" => "u:\x09Time\x06x", "a time before 1.8" => "u:\x09Time\x0d\x01\x00\x00\x00\x02\x00\x00\x00",
        "a date of Ruby 1.8" => "o:\x09Date\x08:\x08@ajdi\x06:\x08@ofi\x00:\x08@sgi\x06", "an old date" => "U:\x09Date[\x08i\x06i\x00i\x06", "a range without its ends" => "o:\x0aRange\x06:\x09excl0", "an old complex" => "o:\x0cComplex\x07:\x0b@reali\x06:\x0b@imagei\x07", "a rational by zero" => "U:\x0dRational[\x07i\x06i\x00", "an invalid decimal" => "u:\x0fBigDecimal\x09x:ab",
        "a default that is nil" => "}\x000", "the mark of identity twice" => "C:\x09HashC:\x09Hash{\x00", "identity of a subclass" => "C:\x10Chance::HshC:\x09Hash{\x00", "the mark of keywords on an array" => "I[\x00\x06:\x06KT", "an unknown type" => "?", "a blank" => " ",
        "_load with variables" => "Iu:\x13Chance::Packed\x06x\x07:\x06ET:\x07@ai\x06", "a hook that raises" => "U:\x18Chance::RaisesLateri\x06", "a class without _load_data" => "d:\x12Chance::Plaini\x06", "200 levels" => "[\x06" * 200 + "0"
      }.transform_values { |body| (body.b.start_with?("\x04".b) ? "" : "\x04\b").b + body.b }
    end
  end
end
