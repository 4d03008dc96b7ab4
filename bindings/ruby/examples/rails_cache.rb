# frozen_string_literal: true

# A Rails cache that some processes read with Icecore and some without: both read the other's
# entries.

require "active_support/all"
require "active_support/cache"
require "icecore"
require "logger"
require "tmpdir"
require "zlib"

class Employee
  attr_reader :name, :since

  def initialize(name, since)
    @name = name
    @since = since
  end
end

class Gadget
  def marshal_dump = nil
  def marshal_load(_) = puts("a gadget runs")
end

Time.zone = "Europe/Berlin"
coder = Icecore::Rails::CacheCoder.new(classes: Employee)
Dir.mktmpdir do |folder|
  ours = ActiveSupport::Cache::FileStore.new(folder, coder: coder)
  theirs = ActiveSupport::Cache::FileStore.new(folder)

  ours.write("alice", Employee.new("Alice", Time.zone.at(1_700_000_000)), expires_in: 3600)
  theirs.write("bob", Employee.new("Bob", Time.zone.at(1_600_000_000)))
  theirs.write("page", "<h1>Grüße</h1>" * 200)
  puts "Rails reads what Icecore wrote: #{theirs.read('alice').name}, #{theirs.read('alice').since.iso8601}"
  puts "Icecore reads what Rails wrote: #{ours.read('bob').name}, #{ours.read('bob').since.iso8601}"
  puts "a long page: #{ours.read('page').size} characters"
  puts "fetched: #{ours.fetch('carol') { Employee.new('Carol', nil) }.name}, then #{theirs.read('carol').name}"

  # An attacker who can write to the cache.
  theirs.write("gadget", [Gadget.new])
  log = StringIO.new
  ActiveSupport::Cache::Store.logger = Logger.new(log, formatter: ->(_, _, _, words) { "#{words}\n" })
  puts "a gadget is a miss: #{ours.read('gadget').inspect}"
  puts "the log: #{log.string[/Icecore: .* class \w+/]} …"
end

puts "", "entries of other versions:"
later = Time.now.to_f + 3600
{
  "7.0" => "\x00".b + Marshal.dump([Employee.new("Dora", nil), later, "v1"]),
  "7.0, compressed" => "\x01".b + Zlib.deflate(Marshal.dump(["text " * 100])),
  "7.1" => ["\x00\x11".b, 1, later, 2, "v1", Marshal.dump([:a, 1])].pack("a2CEl<a2a*"),
  "7.1, a string" => ["\x00\x11".b, 2, -1.0, -1, "Grüße"].pack("a2CEl<a*")
}.each do |version, bytes|
  entry = coder.load(bytes)
  value = entry.value
  puts "#{version}: #{value.is_a?(Employee) ? value.name : value.inspect.truncate(30)}, version #{entry.version.inspect}, " \
       "#{entry.expires_at ? 'expires' : 'stays'}"
end
