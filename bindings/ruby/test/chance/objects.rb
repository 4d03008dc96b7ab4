# frozen_string_literal: true

module Chance
  # Objects, exceptions and objects with hooks.
  module Objects
    NAMES = (("a".."z").map { |name| :"@#{name}" } + (1..20).map { |n| :"@long_name_#{n}" } + [:@E, :@encoding, :"@\u00e9", "@\xe9".dup.force_encoding("ISO-8859-1").to_sym]).freeze
    # A BasicObject does not have this method, but it can be bound to one.
    SET_VARIABLE = Kernel.instance_method(:instance_variable_set)

    def object
      type = pick([Plain, Other, Many, Object, Inner::Deep, TopLevel, Prepended, Bare, Ünï, Latin])
      item = keep(type.allocate)
      add_variables(item, type == Many ? pick([0, 3, 7, 8, 9, 12, 40]) : below(5))
      item.remove_instance_variable(item.instance_variables.first) if type != Bare && one_in(10) && item.instance_variables.any?
      item
    end

    # Gives an item `count` instance variables.
    def add_variables(item, count)
      # A kept item may become the value of a variable, also of its own. An item with _dump must not: before Ruby 3.2
      # the recursive _dump exhausts the stack, and may crash the process. So it is not kept meanwhile.
      has_dump = [Time, Packed].any? { |type| type === item }
      @kept.delete_if { |other| other.equal?(item) } if has_dump
      set_random_variables(item, count)
      keep(item) if has_dump
    end

    # The names and their order differ from object to object, so objects of one class have different
    # layouts of variables.
    def set_random_variables(item, count)
      names = NAMES.rotate(below(4) * 7)[0, 45]
      count.times do |n|
        name = one_in(6) ? pick(NAMES) : names[n]
        # An object with more than eight variables has integers in all after the fifth, so that its
        # value stays small.
        SET_VARIABLE.bind_call(item, name, count > 8 && n > 4 ? n : value)
      end
    end

    def exception
      case below(8)
      when 0 then keep(Fault.new(pick(["words", "caf\u00e9", nil, :sym, 5]), one_in(3) ? value : nil))
      when 1 then raised { raise Fault, "raised" }
      when 2 then raised { with_cause }
      when 3 then raised { Integer("x") }
      when 4 then keep(pick([KeyError.new("k", receiver: { 1 => 2 }, key: :a), FrozenError.new("f", receiver: +"x"), StopIteration.new("s"), NameError.new("n", :name, receiver: 1), SystemExit.new(3, "bye")]))
      when 5 then raised { {}.fetch(:none) }
      when 6 then keep(pick([Errno::ENOENT.new("file"), RuntimeError.new, Exception.new(nil), ZeroDivisionError.new("zero"), SystemCallError.new("x", 2)]))
      else keep(Fault.new("trace").tap { |error| error.set_backtrace(pick([["a:1", "b:2"], [], "x"])) })
      end
    end

    # Returns the exception that the block raises.
    def raised
      yield
    rescue StandardError => error
      # The calling lines of the program are not part of the test.
      error.set_backtrace(error.backtrace.first(2)) unless one_in(3)
      keep(error)
    end

    def with_cause
      raise Fault, "inner"
    rescue Fault
      raise ArgumentError, "outer"
    end

    def hooked
      type = pick([Dumped, SubDumped, Fresh, DumpedStr, PrivateHooks, Missing, DumpedStruct])
      item = keep(type.allocate)
      type == DumpedStruct ? item.a = value : item.data = value
      add_variables(item, below(3)) if one_in(4) && type != DumpedStruct
      item
    end

    def packed
      text = decorate(string)
      text = Str.new(text) if one_in(8)
      item = keep(pick([Packed, Packed, PackedOdd]).new(text))
      add_variables(item, 1) if one_in(6)
      item
    end

    # Objects with _dump_data and _load_data, the hooks for data in C.
    def data_in_c
      return keep(DataInC.new(+"some text")).tap { |item| item.pos = 3 } if one_in(2)
      keep(MutexWithData.new).tap { |item| item.data = value }
    end

    # Objects of classes of Ruby whose hooks are in C or in a library.
    def library
      case below(3)
      when 0 then keep(Random.new(below(3)))
      when 1 then pick(ENCODED)
      else keep(Gem::Version.new("1.#{below(9)}"))
      end
    end
    ENCODED = [Encoding::UTF_8, Encoding::Shift_JIS].freeze

    # Returns a value that can't be dumped.
    def undumpable
      case below(14)
      when 0 then proc { 1 }
      when 1 then 1.method(:+)
      when 2 then $stdout
      when 3 then Thread.current
      when 4 then Thread::Mutex.new
      when 5 then Class.new.new
      when 6 then Class.new
      when 7 then Hash.new { 1 }
      when 8 then Plain.new.tap { |item| def item.own = 1 }
      when 9 then Raises.new
      when 10 then PackedBadly.new(pick(["", "x"]))
      when 11 then "x".match(/x/)
      when 12 then Plain.new.extend(Module.new)
      else Plain.new.tap { |item| item.singleton_class.instance_variable_set(:@own, 1) }
      end
    end

    # Returns a value that can be dumped, but not loaded.
    def unloadable = pick([NoLoad.new, NoMarshalLoad.new, RaisesLater.new(1)])
  end
end
