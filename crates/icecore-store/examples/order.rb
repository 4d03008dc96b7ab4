#!/usr/bin/ruby
# frozen_string_literal: true

# Accepts an order and queues a mail about it, through ActiveRecord: both in one transaction, or
# neither.
#
#   order.rb ORDER TOTAL
#
# DATABASE_URL is sqlite3:FILE, postgresql://USER@HOST/NAME or mysql2://USER@HOST/NAME. The tables
# of Icecore must exist: any command creates them, for example `icecore queue stats`.
require "active_record"
require "securerandom"

order, total = ARGV.map { |argument| Integer(argument, 10) }
abort "usage: order.rb ORDER TOTAL" unless total

ActiveRecord::Base.establish_connection(ENV.fetch("DATABASE_URL"))
unless ActiveRecord::Base.connection.table_exists?(:orders)
  ActiveRecord::Base.connection.create_table(:orders) { |table| table.integer :total, null: false }
end

class Order < ActiveRecord::Base; end

# A job in the queue of Icecore. Columns that are not set here have defaults.
class Job < ActiveRecord::Base
  self.table_name = "icecore_jobs"
  self.primary_key = "id"

  # Queues a job in the open transaction; the bytes may be in any format that Icecore reads.
  def self.push(queue, value)
    now = Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)
    create!(id: uuid(now), queue: queue, queued_at: now, run_at: now, bytes: Marshal.dump(value))
  end

  # Makes a UUID of version 7: ids sort by their time of creation.
  def self.uuid(millis)
    hex = format("%012x", millis) + SecureRandom.hex(10)
    hex[12] = "7"
    hex[16] = (8 | (hex[16].hex & 3)).to_s(16)
    hex.unpack("a8a4a4a4a12").join("-")
  end
end

ActiveRecord::Base.transaction do
  Order.create!(id: order, total: total)
  Job.push("mail", { "order" => order, "total" => total })
  raise "an order of nothing" if total.zero?
end
