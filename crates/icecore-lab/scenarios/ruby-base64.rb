# frozen_string_literal: true

# The simple objects of the scenario, with what each library wants of a class.
class Item
  attr_reader :id, :name, :price, :active

  def initialize(id, name = "Item #{id}", price = id * 0.25, active = id.even?)
    @id = id
    @name = name
    @price = price
    @active = active
  end

  # The JSON module, and Oj in compat mode.
  def to_json(*state)
    { "json_class" => "Item", "id" => @id, "name" => @name, "price" => @price, "active" => @active }.to_json(*state)
  end

  def self.json_create(fields)
    new(fields["id"], fields["name"], fields["price"], fields["active"])
  end

  # MessagePack.
  def to_msgpack_ext
    [@id, @name, @price, @active].to_msgpack
  end

  def self.from_msgpack_ext(bytes)
    new(*MessagePack.unpack(bytes))
  end
end

# What the floor builds: the article's `init`.
module LabScenario
  def self.builder(items)
    ids = items.map(&:id)
    ->(_) { ids.map { |id| Item.new(id) } }
  end
end
