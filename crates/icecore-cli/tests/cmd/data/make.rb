# Creates known.marshal: values of Ruby's own classes. Run as: ruby make.rb
require "set"
require "date"
require "time"
require "bigdecimal"

ENV["TZ"] = "Europe/Berlin"
order = {
  "placed" => Time.at(1_795_324_651, 123_456_789, :nsec).utc,
  "paid" => Time.at(1_795_324_700, in: "+01:00"),
  "due" => Date.new(2026, 12, 6),
  "window" => Date.new(2026, 12, 1)..Date.new(2026, 12, 3),
  "price" => BigDecimal("19.90"),
  "share" => Rational(1, 3),
  "tags" => Set["new", :gift, 7, [1, 2]],
  "failure" => RuntimeError.new("card declined"),
}
File.binwrite("known.marshal", Marshal.dump(order))
