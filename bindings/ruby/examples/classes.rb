# frozen_string_literal: true

# Which classes a dump may build: lists, patterns, records, listing, renaming.

require "date"
require "set"
require "icecore"

module Billing
  Line = Struct.new(:text, :cents)

  class Invoice
    attr_accessor :number, :lines, :due

    def initialize(number, *lines)
      @number = number
      @lines = lines
      @due = Date.new(2030, 1, 31)
    end
  end
end

class Customer
  attr_reader :name

  def initialize(name) = @name = name
end

data = { customer: Customer.new("Zoë"), invoices: [Billing::Invoice.new(1, Billing::Line.new("ink", 500))], rates: [1r, 2.5] }
bytes = Marshal.dump(data)

# Values that need no list: those of Ruby's literals, and times, dates, sets, ranges, big
# numbers.
plain = [nil, true, 1, 2.5, "a", :b, [], {}, Set[1], 1..2, 1i, 1r, Time.at(0), Date.new(2030, 1, 1)]
puts Icecore::Marshal.load(Icecore::Marshal.dump(plain)).map(&:class).join(", ")

puts "", "without a list:"
begin
  Icecore::Marshal.load(bytes)
rescue Icecore::ClassError => error
  puts error.message
  puts "#{error.class.ancestors.take(3).join(' < ')}, kind #{error.kind.inspect}, at #{error.path}"
  error.classes.each { |name, path| puts "  #{name} at #{path}" }
end

puts "", "with one:"
{
  "classes" => [Customer, Billing::Invoice, Billing::Line], "names" => ["Customer", "Billing::Invoice", "Billing::Line"],
  "a pattern" => [Customer, "Billing::*"], "any" => :any
}.each do |kind, classes|
  invoice = Icecore::Marshal.load(bytes, classes: classes)[:invoices][0]
  puts "#{kind}: invoice #{invoice.number}, #{invoice.lines[0].text}, due #{invoice.due}"
end

puts "", "what one would have to allow, without building anything:"
p Icecore::Marshal.load(bytes, report: true)
Icecore.classes(bytes).each { |found| puts "#{found[:count]} #{found[:kind]} #{found[:class]} at #{found[:path]}" }

puts "", "for the whole process:"
Icecore.allow("Billing::*")
begin
  Icecore::Marshal.load(bytes)
rescue Icecore::ClassError => error
  puts "still not: #{error.classes.keys.join(', ')}"
end
puts Icecore::Marshal.load(bytes, classes: Customer)[:customer].name

puts "", "as records, for classes that this program does not have:"
foreign = Marshal.dump(Customer.new("Ann")).sub("Customer", "Kunde\0\0\0"[0, 5].ljust(8, "x"))
record = Icecore::Marshal.load(foreign, classes: :record)
puts "#{record.kind} #{record.class_name} with #{record.value.map { |name, value| "#{name} #{value}" }.join(', ')}, written back: #{Icecore::Marshal.dump(record) == foreign ? 'the same bytes' : 'other bytes'}"

puts "", "under a new name:"
moved = Icecore::Marshal.load(foreign, classes: Customer, rename: { "Kundexxx" => Customer })
puts "#{moved.class} #{moved.name}"
