# frozen_string_literal: true

# Objects in the columns of a database, with ActiveRecord and with similar models.

require_relative "lib"
needs "active_record", "ActiveRecord: ruby-activerecord"
needs "sqlite3", "SQLite: ruby-sqlite3"
require "base64"
require "icecore"

puts "# ActiveRecord #{ActiveRecord::VERSION::STRING}"
ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define do
  create_table(:binary_jobs) { |table| table.binary :object; table.string :queue }
  create_table(:text_jobs) { |table| table.text :object; table.string :queue }
end

class BinaryJob < ActiveRecord::Base; end
class TextJob < ActiveRecord::Base; end

class Order
  attr_reader :items, :note

  def initialize(*items, note: nil) = (@items, @note = items, note)
  def ==(other) = other.is_a?(Order) && items == other.items && note == other.note
end

class Hostile
  def marshal_dump = 1
  def marshal_load(_) = raise("built")
end

{ BinaryJob => false, TextJob => true }.each do |model, base64|
  name = model.name
  pending = Icecore::PendingObjects.new(model, classes: [Order])
  order = Order.new("ink", 3, note: "Grüße")
  record = pending.store(order, queue: "mail")
  same("#{name}: store creates a record with the attributes", ["mail", true], [record.queue, record.persisted?])
  bytes = Marshal.dump(order)
  same("#{name}: the column contains the dump", base64 ? Base64.strict_encode64(bytes) : bytes, model.find(record.id).object.then { |content| base64 ? content : content.b })
  same("#{name}: restore returns the object", order, pending.restore(model.find(record.id)))

  # Data from another program.
  { "strict Base64" => Base64.strict_encode64(bytes), "Base64 with lines" => Base64.encode64(bytes) }.each do |kind, text|
    same("#{name}: #{kind} is read", order, pending.restore(model.new(object: text)))
  end
  same("#{name}: bytes are read", order, pending.restore(BinaryJob.new(object: bytes)))

  2500.times { |i| pending.store(Order.new(i)) } if base64
  model.create!(object: base64 ? [Marshal.dump(1)].pack("m0") : Marshal.dump(1))
  visited = []
  same("#{name}: each returns itself", pending, pending.each { |visited_record, object| visited << [visited_record.id, object] })
  same("#{name}: each visits all records in order", model.order(:id).ids, visited.map(&:first))
  same("#{name}: each yields the last object", 1, visited.last[1])
  same("#{name}: each without a block returns an Enumerator", order, pending.each.next[1])
  same("#{name}: count is that of the model", model.count, pending.count)

  # A part of them.
  part = Icecore::PendingObjects.new(model.where(queue: "mail"), classes: "Order")
  same("#{name}: the model may be a relation", [order], part.map { |_, object| object })
  same("#{name}: store in a relation sets its attributes", "mail", part.store(Order.new).queue)

  # Errors name the record.
  bad = model.create!(object: base64 ? [Marshal.dump([Hostile.new])].pack("m0") : Marshal.dump([Hostile.new]))
  raises("#{name}: a refused class raises", Icecore::ClassError, "Hostile") { pending.restore(bad) }
  raises("#{name}: the error names column and record", Icecore::ClassError, "(in object of #{name} #{bad.id})") { pending.each {} }
  error = begin
    pending.restore(bad)
  rescue Icecore::ClassError => refused
    refused
  end
  same("#{name}: the error names the class", ["Hostile"], error.classes.keys)
  raises("#{name}: an empty column raises", Icecore::TypeError, "there is no object") { pending.restore(model.new) }
  raises("#{name}: a text that is not a dump raises", Icecore::TypeError, "neither a dump of Marshal nor its Base64") { pending.restore(model.new(object: "not ours")) }
  raises("#{name}: a truncated dump raises an error that names the record", Icecore::Error, name) { pending.restore(model.create!(object: base64 ? [bytes[0..-3]].pack("m0") : bytes[0..-3])) }
end

# A class that is loaded before its table exists.
same("new works before the table exists", Icecore::PendingObjects, Icecore::PendingObjects.new(Class.new(ActiveRecord::Base) { self.table_name = "not_there" }).class)

# A model that is not of ActiveRecord.
class Document
  ALL = []
  attr_reader :id

  def initialize(fields) = (@id, @fields = ALL.size + 1, fields)
  def [](name) = @fields[name]

  class << self
    include Enumerable

    def create!(**fields) = ALL.push(new(fields)).last
    def each(&block) = ALL.each(&block)
  end
end
pending = Icecore::PendingObjects.new(Document, column: "data", classes: Order)
record = pending.store(Order.new(1), state: "new")
same("a model without columns gets Base64", [Base64.strict_encode64(Marshal.dump(Order.new(1))), "new"], [record[:data], record[:state]])
same("a model without columns is restored", [[record, Order.new(1)]], pending.to_a)
same("base64: false stores bytes", Marshal.dump(1), Icecore::PendingObjects.new(Document, column: :data, base64: false).store(1)[:data])
