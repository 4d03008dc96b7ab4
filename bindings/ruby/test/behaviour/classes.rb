# frozen_string_literal: true

# The classes that the behaviour list names. The calls of their hooks are logged, so that a line
# can require that nothing ran.
module Behaviour
  LOG = []

  class HookError < StandardError; end

  # Hooks that dump and load all members.
  module Hooked
    def marshal_dump
      LOG << "freeze #{self.class}"
      freezing
      instance_variables.to_h { |name| [name, instance_variable_get(name)] }
    end

    def marshal_load(members)
      LOG << "thaw #{self.class}"
      thawing
      members.each { |name, value| instance_variable_set(name, value) }
    end

    def freezing; end
    def thawing; end
  end

  # Defines the classes that a line names, if they do not exist.
  module Classes
    module_function

    def define(name, &make)
      parts = name.split("::")
      return if parts.empty?
      parts.reduce(Object) do |scope, part|
        next scope.const_get(part, false) if scope.const_defined?(part, false)
        scope.const_set(part, part.equal?(parts.last) && make ? make.call : Class.new)
      end
    rescue NameError
      # A reserved word of Ruby: such a class can't exist.
    end

    def define_all_in(description)
      case description
      when Array then description.each { |item| define_all_in(item) }
      when Hash
        define(Descriptions.name(description["object"])) if description.key?("object")
        description.each_value { |item| define_all_in(item) }
      end
    end
  end
end

class Notes
  include Behaviour::Hooked
end

class ThawDies
  include Behaviour::Hooked
  def thawing = raise(Behaviour::HookError, "the hook says no")
end

class FreezeDies
  include Behaviour::Hooked
  def freezing = raise(Behaviour::HookError, "the hook says no")
end

class Reenters
  include Behaviour::Hooked
  def freezing = Behaviour::Driver.nested
  def thawing = Behaviour::Driver.nested
end

# The same as in make/oracle.rb, which made the lines.
class Point; end
class Node; end
module Shop; class Item; end; end
module Mixed; end
Pair = Struct.new(:left, :right)
class Names < Array; end

class Frozen
  attr_reader :data

  def initialize(data) = @data = data
  def marshal_dump = @data
  def marshal_load(data) = @data = data
end

class Dumped
  attr_reader :data

  def initialize(data) = @data = data
  def _dump(_level) = @data
  def self._load(data) = new(data)
end
