# frozen_string_literal: true

require_relative "watch"

# The classes that the dumps of contract.rb name.
module Shop
  class Item
    attr_accessor :name, :price
  end
  class Text < String; end
  class List < Array; end
  class Table < Hash; end
  class Pattern < Regexp; end
  module Tagged; end
  Pair = Struct.new(:left, :right)
  class Fault < StandardError; end
  class Days < Range; end
  class Group < Set; end
  class Moment < Time; end

  class Packed
    attr_reader :data

    def initialize(data = "") = @data = data
    def _dump(_level) = @data
    def self._load(data) = new(data)
  end

  class Given
    attr_accessor :data

    def marshal_dump = @data
    def marshal_load(data) = @data = data
  end

  # A class whose loading hook can do anything.
  class Hostile
    FILE = "#{Watch::FOLDER}/written"
    def marshal_dump = 1
    def marshal_load(_data) = File.write(FILE, "by marshal_load")
    def self._load(_data) = File.write(FILE, "by _load")
  end

  # Each use of it is recorded.
  class Guarded
    singleton_class.prepend(Watch::RecordsClassCalls)
    prepend Watch::RecordsObjectCalls
  end

  class GuardedText < String
    singleton_class.prepend(Watch::RecordsClassCalls)
    prepend Watch::RecordsObjectCalls
  end
end

class Employee
  attr_accessor :name, :boss
end

class Worker < Employee; end
