# frozen_string_literal: true

# Objects that wait in a database to be processed: frozen in a column, with Base64 if the column
# contains text. The database is an SQLite in memory.

require "active_record"
require "base64"
require "icecore"

ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define do
  create_table(:pending_objects) { |table| table.binary :object; table.string :queue }
  create_table(:pending_texts) { |table| table.text :object }
end

class PendingObject < ActiveRecord::Base; end
class PendingText < ActiveRecord::Base; end

Item = Struct.new(:sku, :count)

class Order
  attr_reader :customer, :items

  def initialize(customer, *items)
    @customer = customer
    @items = items
  end
end

order = Order.new("Zoë", Item.new("ink", 3), Item.new("paper", 500))

# -- In bytes ------------------------------------------------------------------

pending = Icecore::PendingObjects.new(PendingObject, column: :object, classes: [Order, Item])
record = pending.store(order, queue: "mail")
puts "stored as #{record.class.name} #{record.id}, #{record.object.bytesize} bytes"
puts "as Marshal writes them: #{record.object.b == Marshal.dump(order)}"
back = pending.restore(PendingObject.find(record.id))
puts "restored: #{back.customer}, #{back.items.map { |item| "#{item.count} #{item.sku}" }.join(', ')}"

# -- In text -------------------------------------------------------------------

texts = Icecore::PendingObjects.new(PendingText, classes: [Order, Item])
record = texts.store(order)
puts "in a text column: #{record.object[0, 24]}…, #{record.object.bytesize} bytes"
# Data that Base64.encode64 stored, with line breaks, is read as well.
PendingText.create!(object: Base64.encode64(Marshal.dump(order)))
puts "customers: #{texts.map { |_, object| object.customer }.join(', ')}"

# -- All of them ---------------------------------------------------------------

3.times { |n| pending.store(Order.new("customer #{n}", Item.new("pen", n)), queue: n.even? ? "mail" : "bill") }
pending.each { |found, object| puts "#{found.id} #{found.queue}: #{object.customer}" }
bills = Icecore::PendingObjects.new(PendingObject.where(queue: "bill"), classes: [Order, Item])
puts "bills: #{bills.map { |_, object| object.customer }.join(', ')}"

# -- A row that somebody else wrote --------------------------------------------

class Notify
  def marshal_dump = "somebody"
  def marshal_load(whom) = puts("called #{whom}!")
end

PendingObject.create!(object: Marshal.dump([Notify.new]))
begin
  pending.each { |found, _| found.destroy }
rescue Icecore::ClassError => error
  puts error.message
end
puts "left: #{PendingObject.count}"
