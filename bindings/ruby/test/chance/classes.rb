# frozen_string_literal: true

# The classes and modules of the random values.
module Chance
  module Ma; end
  module Mb; end
  module Mc; end
  module Inner; class Deep; end; end

  class Str < String; end
  class SubStr < Str; end
  class Arr < Array; end
  class Hsh < Hash; end
  class Rgx < Regexp; end
  class Rng < Range; end
  class Tim < Time; end
  class Dat < Date; end
  class Bag < Set; end
  class Opened < OpenStruct; end
  class Mixed < Array; include Ma; end

  class Plain; end
  class Other; end
  class Many; end
  class Bare < BasicObject; end
  class Ünï; end
  # Classes whose names are not in UTF-8.
  Latin = const_set("L\xe9".dup.force_encoding("ISO-8859-1").to_sym, Class.new)
  Kana = const_set("S\x82\xa0".dup.force_encoding("Shift_JIS").to_sym, Class.new(Hash))

  class Prepended; prepend Mb; end

  Pair = Struct.new(:left, :right)
  Wide = Struct.new(:a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :k, :l)
  Keyed = Struct.new(:x, :y, keyword_init: true)
  class SubPair < Pair; end

  if defined?(::Data) && ::Data.respond_to?(:define)
    Point = ::Data.define(:x, :y)
    Nothing = ::Data.define
    class SubPoint < Point; end
  end

  class Fault < StandardError
    def initialize(message = "fault", code = nil)
      super(message)
      @code = code
    end
  end

  # Has marshal_dump and marshal_load. As in the other classes, the hooks record that they ran, and
  # with which data.
  class Dumped
    attr_accessor :data

    def initialize(data = nil) = @data = data

    def marshal_dump
      Outcome.record("marshal_dump #{self.class}")
      @data
    end

    def marshal_load(data)
      Outcome.record("marshal_load #{self.class} #{frozen?} #{Shape.of(data, max_lines: 60).join('|')}")
      @data = data
    end
  end

  class SubDumped < Dumped; end

  # Its marshal_dump returns another object in each call.
  class Fresh < Dumped
    def marshal_dump
      Outcome.record("marshal_dump Fresh")
      [@data, "fresh", 1.0e100, +"x"]
    end
  end

  # A subclass of String that is dumped by its hook, not as a String.
  class DumpedStr < String
    attr_accessor :data

    def marshal_dump = [to_s.b, @data]

    def marshal_load(data)
      replace(data[0])
      @data = data[1]
    end
  end

  class DumpedStruct < Struct.new(:a)
    def marshal_dump = { a: a }
    def marshal_load(data) = self.a = data[:a]
  end

  class PrivateHooks
    attr_accessor :data

    private

    def marshal_dump = @data
    def marshal_load(data) = @data = data
  end

  # Has its hooks by method_missing.
  class Missing
    attr_accessor :data

    def respond_to_missing?(name, all = false) = %i[marshal_dump marshal_load].include?(name) || super

    def method_missing(name, *args)
      case name
      when :marshal_dump then @data
      when :marshal_load then @data = args[0]
      else super
      end
    end
  end

  # Has _dump and _load.
  class Packed
    attr_accessor :data

    def initialize(data = +"") = @data = data

    def _dump(level)
      Outcome.record("_dump #{level}")
      @data
    end

    def self._load(data)
      Outcome.record("_load #{Shape.of(data, max_lines: 60).join('|')}")
      new(data)
    end
  end

  # Its _load does not always return an object of the class.
  class PackedOdd < Packed
    def self._load(data) = data.bytesize.even? ? data : nil
  end

  # Its _dump does not return a String, so Marshal refuses it.
  class PackedBadly < Packed
    def _dump(_level) = @data.empty? ? nil : 5
  end

  # Can be dumped, but not loaded: the class method _load is missing.
  class NoLoad
    def _dump(_level) = "x"
  end

  # The same without marshal_load.
  class NoMarshalLoad
    def marshal_dump = 1
  end

  class Raises
    def marshal_dump = raise(Fault, "the hook says no")
  end

  class RaisesLater < Dumped
    def marshal_load(_data) = raise(Fault, "the hook says no")
  end

  # Objects whose data is in C have the hooks _dump_data and _load_data.
  class DataInC < StringIO
    def _dump_data = [string, pos]

    def _load_data(data)
      Outcome.record("_load_data #{Shape.of(data, max_lines: 60).join('|')}")
      initialize(+data[0])
      self.pos = data[1]
    end
  end

  # The same for any value as data.
  class MutexWithData < Thread::Mutex
    attr_accessor :data

    def _dump_data = @data
    def _load_data(data) = @data = data
  end

  # Has the methods that Time needs of an object for a time zone.
  class Zone
    def initialize(name) = @name = name
    attr_reader :name

    def utc_to_local(time) = time + 3600
    def local_to_utc(time) = time - 3600
  end
end

class TopLevel; end
TopPair = Struct.new(:one)
