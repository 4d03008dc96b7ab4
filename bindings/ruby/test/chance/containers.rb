# frozen_string_literal: true

module Chance
  # Values that contain other values. Each is registered before it is filled, so it may contain
  # itself.
  module Containers
    def array
      list = keep(pick([Array, Array, Array, Arr, Mixed]).new)
      below(5).times { list << value }
      list
    end

    def long_array
      list = keep([])
      item = value
      # Lengths at which the dump of a length or of an index becomes longer.
      pick([10, 122, 123, 256, 300]).times { |n| list << (n % 3 == 0 ? item : n) }
      list
    end

    def hash
      map = keep(pick([Hash, Hash, Hash, Hsh, Kana]).new)
      map.compare_by_identity if one_in(8)
      below(5).times { map[key] = value }
      maybe_set_default(map)
    end

    def maybe_set_default(map)
      map.default = value if one_in(8)
      map
    end

    def large_hash
      map = keep({})
      # Up to 8 entries Ruby keeps a hash without a table; up to 256 entries the keys have ids.
      count = pick([8, 9, 17, 255, 256, 257])
      kind = below(4)
      count.times { |n| map[[n, :"k#{n}", "k#{n}", n * 1.5][kind]] = n }
      map[key] = value
      map
    end

    def keywords
      map = pick([Hash, Hsh]).new
      below(3).times { map[symbol] = value }
      keep(Hash.ruby2_keywords_hash(map))
    end

    # Returns a key of any kind. Ruby stores a copy of a key that is a String and not frozen.
    def key
      case below(13)
      when 0 then symbol
      when 1 then string
      when 2 then literal
      when 3 then string.freeze.tap { |text| keep(text) }
      when 4 then integer
      when 5 then float
      when 6 then keep(Str.new(string))
      when 7 then decorate(string).freeze
      when 8 then array.dup.clear << symbol
      when 9 then constant
      when 10 then nil
      when 11 then number
      else keep(Plain.new)
      end
    end

    def set
      items = keep(pick([Set, Set, Bag]).new)
      items.compare_by_identity if one_in(8)
      below(4).times { items << key }
      items
    end

    def range
      type = one_in(4) ? Rng : Range
      first, last = case below(8)
                    when 0 then [1, 5]
                    when 1 then [string.encode("UTF-8", invalid: :replace, undef: :replace), "z"]
                    when 2 then [nil, integer]
                    when 3 then [integer, nil]
                    when 4 then [1.5, 2.5]
                    when 5 then [Time.at(0).utc, Time.at(10).utc]
                    when 6 then [nil, nil]
                    else [Date.new(2001, 1, 1), Date.new(2001, 2, 1)]
                    end
      keep(type.new(first, last, one_in(2)))
    rescue ArgumentError, EncodingError
      1..2
    end

    def struct
      type = pick([Pair, Wide, SubPair, TopPair])
      item = keep(type.new)
      item.members.each { |name| item[name] = value unless one_in(3) }
      item
    end

    def keyed = keep(Keyed.new(x: value, y: value))

    def data
      return struct unless defined?(Point)
      case below(3)
      when 0 then keep(Point.new(x: value, y: value))
      when 1 then keep(SubPoint.new(x: value, y: value))
      else keep(Nothing.new)
      end
    end

    def open_struct
      item = keep(pick([OpenStruct, Opened]).new)
      below(4).times { item[pick(%i[a b c name])] = value }
      item
    end
  end
end
