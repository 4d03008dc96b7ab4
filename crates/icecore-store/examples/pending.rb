#!/usr/bin/ruby
# frozen_string_literal: true

# Objects that wait in a database until somebody handles them, in the table of Icecore, through
# ActiveRecord: `icecore store each` reads what this program stores, and this program reads what
# `icecore store put` stores.
#
#   pending.rb store CUSTOMER…    one object for each, all in one transaction; an empty name undoes it
#   pending.rb each               a line of JSON for each record and its object
#   pending.rb restore ID…
#
# DATABASE_URL is sqlite3:FILE, postgresql://USER@HOST/NAME or mysql2://USER@HOST/NAME. With
# BASE64=1 the bytes go into the text column. The tables must exist: any command creates them.
require "active_record"
require "digest"
require "icecore"
require "json"
require "securerandom"

ActiveRecord::Base.establish_connection(ENV.fetch("DATABASE_URL"))

# An object of `icecore_objects`, frozen by Marshal.
class PendingObject < ActiveRecord::Base
  self.table_name = "icecore_objects"
  self.primary_key = "id"

  # The column `class` has the name of a method of every Ruby object: read it as record[:class].
  def self.instance_method_already_implemented?(name) = name == "class" || super

  class << self
    # Stores an object, in the open transaction if there is one.
    def store(object, key: nil, base64: false)
      bytes = Icecore::Marshal.dump(object)
      now = Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)
      names = Icecore.classes(bytes, "marshal").map { |found| found[:class] }.uniq
      column = base64 ? { base64: [bytes].pack("m0") } : { bytes: bytes }
      transaction do
        record = create!(id: uuid(now), object_key: key, stored_at: now, format: "marshal", class: names.first,
                         checksum: Digest::SHA256.hexdigest(bytes), size: bytes.bytesize, **column)
        # The classes in the object, so that it can be found by them.
        names.each do |name|
          connection.execute(sanitize_sql([<<~SQL, name, record.id]))
            INSERT INTO icecore_object_classes (class, seq) SELECT ?, seq FROM icecore_objects WHERE id = ?
          SQL
        end
        record
      end
    end

    # Yields each record with its object, in the order of storing, a batch at a time. An object that
    # can't be restored is nil.
    def each(classes:, batch_size: 1000)
      return enum_for(:each, classes: classes, batch_size: batch_size) unless block_given?
      last = 0
      until (batch = where("seq > ?", last).order(:seq).limit(batch_size).to_a).empty?
        batch.each { |record| yield record, restored(record, classes) }
        last = batch.last.seq
      end
    end

    private

    def restored(record, classes)
      record.restore(classes: classes)
    rescue Icecore::Error
      nil
    end

    # Makes a UUID of version 7: ids sort by their time of creation.
    def uuid(millis)
      hex = format("%012x", millis) + SecureRandom.hex(10)
      hex[12] = "7"
      hex[16] = (8 | (hex[16].hex & 3)).to_s(16)
      hex.unpack("a8a4a4a4a12").join("-")
    end
  end

  # Returns the object. Classes that are not allowed are not built.
  def restore(classes:)
    frozen = self[:bytes] || self[:base64].unpack1("m0")
    Icecore.decode(frozen, self[:format], classes: classes)
  end
end

class Order
  attr_reader :customer, :note

  def initialize(customer, note)
    @customer = customer
    @note = note
  end
end

case ARGV.shift
when "store"
  PendingObject.transaction do
    ARGV.each do |customer|
      record = PendingObject.store(Order.new(customer, "\xff\0".b), base64: ENV["BASE64"] == "1")
      raise "an order of nobody" if customer.empty?
      puts record.id
    end
  end
when "each"
  PendingObject.each(classes: Order, batch_size: 2) do |record, object|
    puts JSON.generate(id: record.id, format: record[:format], class: record[:class], object: object.is_a?(Order) ? object.customer : object)
  end
when "restore"
  ARGV.each { |id| puts PendingObject.find(id).restore(classes: Order).customer }
else
  abort "usage: pending.rb store CUSTOMER… | each | restore ID…"
end
