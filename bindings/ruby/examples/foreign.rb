# frozen_string_literal: true

# Data that Perl and PHP froze, read in Ruby. The samples are those of the cookbook.

require "icecore"
require "json"

SAMPLES = File.expand_path("../../../docs/cookbook/samples", __dir__)
unless File.directory?(SAMPLES)
  warn "the samples of the cookbook are in Icecore's repository, not in the gem"
  exit 75
end

module App
  class User
    attr_reader :id, :name, :roles
  end
end

def sample(name) = File.binread(File.join(SAMPLES, name))

puts "what it is:"
%w[session.storable orders.srl php/user.txt php/queue.txt php/employees.igbinary ruby/pending.txt].each do |name|
  puts "  #{name}: #{Icecore.detect(sample(name)).inspect}"
end

puts "", "PHP's employees, by igbinary:"
Icecore.decode(sample("php/employees.igbinary")).each { |employee| puts "  #{employee.to_json}" }

puts "", "Perl's session, which has objects:"
begin
  puts Icecore.decode(sample("session.storable")).to_json
rescue Icecore::ClassError => error
  puts "refused: #{error.classes.map { |name, path| "#{name} at #{path}" }.join(', ')}"
end
Icecore.classes(sample("session.storable")).each { |found| puts "  #{found[:count]} #{found[:kind]} #{found[:class]} at #{found[:path]}" }
record = Icecore.decode(sample("session.storable"), classes: :record)["user"]
puts "  as a record: #{record.kind} #{record.class_name}, #{record.value.keys.join(' ')}"
user = Icecore.decode(sample("session.storable"), classes: "App::*")["user"]
puts "  as an object: #{user.class} #{user.name}, #{user.roles.join(' and ')}"

puts "", "PHP's user, under its name here:"
user = Icecore.decode(sample("php/user.txt"), rename: { "App::Models::User" => App::User })
puts "  #{user.class} #{user.name}"

puts "", "the orders of Perl's Sereal:"
orders = Icecore.decode(sample("orders.srl"))
orders.each { |order| puts "  #{order['order']}: #{order['customer']}" }

puts "", "from Ruby to the others:"
value = { "name" => "Zoë", "scores" => [1, 2.5, nil] }
puts "  php: #{Icecore.encode(value, 'php')}"
puts "  json: #{Icecore.encode(value, 'json')}"
puts "  storable, and back: #{Icecore.decode(Icecore.encode(value, 'storable'), 'storable') == value}"
puts "  base64 around gzip around sereal: #{Icecore.decode(Icecore.encode(value, 'base64/gzip/sereal')) == value}"

puts "", "bytes to bytes, no value is built:"
losses = []
puts "  #{Icecore.convert(sample('php/queue.txt'), nil, 'json', losses: losses)}", "  lost: #{losses.join}"
