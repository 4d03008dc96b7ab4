#!/usr/bin/ruby
# frozen_string_literal: true

# Objects that wait in MongoDB until somebody handles them, in the collection of Icecore, through
# the driver `mongo`: `icecore store each` reads what this program stores, and this program reads
# what `icecore store put` stores.
#
#   pending_mongo.rb store CUSTOMER…    one object for each
#   pending_mongo.rb each               a line of JSON for each record and its object
#   pending_mongo.rb restore ID…
#
# MONGODB_URL is mongodb://HOST/NAME. With BASE64=1 the bytes are a string, as sent by mappers
# without binary fields. The collections must exist: any command creates them.
require "digest"
require "icecore"
require "json"
require "mongo"
require "securerandom"
require "uri"

# The objects of `icecore_objects`, frozen by Marshal.
class PendingObjects
  def initialize(client, classes:, base64: false)
    @objects, @meta, @classes, @base64 = client[:icecore_objects], client[:icecore_meta], classes, base64
  end

  # Stores an object. Returns its id.
  def store(object, key: nil)
    bytes = Icecore::Marshal.dump(object)
    now = Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)
    names = Icecore.classes(bytes, "marshal").map { |found| found[:class] }.uniq
    record = {
      _id: uuid(now), seq: sequence, object_key: key, stored_at: now, format: "marshal", class: names.first, classes: names,
      checksum: Digest::SHA256.hexdigest(bytes), size: bytes.bytesize,
      **(@base64 ? { base64: [bytes].pack("m0") } : { bytes: BSON::Binary.new(bytes) })
    }
    @objects.insert_one(record.compact)
    record[:_id]
  end

  # Returns the object of a record. Classes that are not allowed are not built.
  def restore(record)
    frozen = record["bytes"]&.data || record["base64"].unpack1("m0")
    Icecore.decode(frozen, record["format"], classes: @classes)
  end

  def find(id) = @objects.find(_id: id).first

  # Yields each record with its object, in the order of storing. An object that can't be restored is
  # nil.
  def each
    # Objects with a batch are not complete yet.
    @objects.find(batch: nil).sort(seq: 1).each { |record| yield record, restored(record) }
  end

  private

  def restored(record)
    restore(record)
  rescue Icecore::Error
    nil
  end

  # Returns the next number of the counter that all programs share.
  def sequence
    @meta.find_one_and_update({ _id: "objects" }, { "$inc" => { value: 1 } }, return_document: :after)["value"]
  end

  # Makes a UUID of version 7: ids sort by their time of creation.
  def uuid(millis)
    hex = format("%012x", millis) + SecureRandom.hex(10)
    hex[12] = "7"
    hex[16] = (8 | (hex[16].hex & 3)).to_s(16)
    hex.unpack("a8a4a4a4a12").join("-")
  end
end

class Order
  attr_reader :customer, :note

  def initialize(customer, note)
    @customer = customer
    @note = note
  end
end

Mongo::Logger.logger.level = Logger::WARN
url = URI.parse(ENV.fetch("MONGODB_URL"))
client = Mongo::Client.new(["#{url.host}:#{url.port || 27_017}"], database: url.path.delete_prefix("/"), write: { w: :majority, j: true })
pending = PendingObjects.new(client, classes: Order, base64: ENV["BASE64"] == "1")
case ARGV.shift
when "store"
  ARGV.each { |customer| puts pending.store(Order.new(customer, "\xff\0".b)) }
when "each"
  pending.each do |record, object|
    puts JSON.generate(id: record["_id"], format: record["format"], class: record["class"], object: object.is_a?(Order) ? object.customer : object)
  end
when "restore"
  ARGV.each { |id| puts pending.restore(pending.find(id)).customer }
else
  abort "usage: pending_mongo.rb store CUSTOMER… | each | restore ID…"
end
