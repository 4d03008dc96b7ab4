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
  same("#{name}: the record", ["mail", true], [record.queue, record.persisted?])
  bytes = Marshal.dump(order)
  same("#{name}: the column", base64 ? Base64.strict_encode64(bytes) : bytes, model.find(record.id).object.then { |s| base64 ? s : s.b })
  same("#{name}: the object", order, pending.restore(model.find(record.id)))

  # Data from another program.
  { "strict Base64" => Base64.strict_encode64(bytes), "Base64 with lines" => Base64.encode64(bytes) }.each do |kind, text|
    same("#{name}: #{kind}", order, pending.restore(model.new(object: text)))
  end
  same("#{name}: bytes", order, pending.restore(BinaryJob.new(object: bytes)))

  2500.times { |i| pending.store(Order.new(i)) } if base64
  model.create!(object: base64 ? [Marshal.dump(1)].pack("m0") : Marshal.dump(1))
  found = []
  same("#{name}: each gives itself", pending, pending.each { |r, object| found << [r.id, object] })
  same("#{name}: each in order", model.order(:id).ids, found.map(&:first))
  same("#{name}: each, the last", 1, found.last[1])
  same("#{name}: an Enumerator", order, pending.each.next[1])
  same("#{name}: Enumerable", model.count, pending.count)

  # A part of them.
  part = Icecore::PendingObjects.new(model.where(queue: "mail"), classes: "Order")
  same("#{name}: a relation", [order], part.map { |_, object| object })
  same("#{name}: stored in a relation", "mail", part.store(Order.new).queue)

  # Errors name the record.
  bad = model.create!(object: base64 ? [Marshal.dump([Hostile.new])].pack("m0") : Marshal.dump([Hostile.new]))
  raises("#{name}: hostile", Icecore::ClassError, "Hostile") { pending.restore(bad) }
  raises("#{name}: hostile, where", Icecore::ClassError, "(in object of #{name} #{bad.id})") { pending.each {} }
  error = begin
    pending.restore(bad)
  rescue Icecore::ClassError => refused
    refused
  end
  same("#{name}: hostile, the class", ["Hostile"], error.classes.keys)
  raises("#{name}: no object", Icecore::TypeError, "there is no object") { pending.restore(model.new) }
  raises("#{name}: another text", Icecore::TypeError, "neither a dump of Marshal nor its Base64") { pending.restore(model.new(object: "not ours")) }
  raises("#{name}: half a dump", Icecore::Error, name) { pending.restore(model.create!(object: base64 ? [bytes[0..-3]].pack("m0") : bytes[0..-3])) }
end

# A class that is loaded before its table exists.
same("no question too early", Icecore::PendingObjects, Icecore::PendingObjects.new(Class.new(ActiveRecord::Base) { self.table_name = "not_there" }).class)

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
same("a document", [Base64.strict_encode64(Marshal.dump(Order.new(1))), "new"], [record[:data], record[:state]])
same("a document, restored", [[record, Order.new(1)]], pending.to_a)
same("bytes, if that is wanted", Marshal.dump(1), Icecore::PendingObjects.new(Document, column: :data, base64: false).store(1)[:data])
