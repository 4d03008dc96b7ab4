# frozen_string_literal: true

# Caches of the installed Rails, with ours instead of Marshal.

require_relative "lib"
needs "active_support/all", "ActiveSupport: ruby-activesupport"
require "active_support/cache"
require "active_support/cache/file_store"
require "active_support/cache/memory_store"
require "fileutils"
require "logger"
require "stringio"
require "tmpdir"
require "zlib"
require "icecore"

Coder = Icecore::Rails::CacheCoder
RAILS = ActiveSupport::VERSION::STRING.to_f
HAS_SERIALIZER = ActiveSupport::Cache.const_defined?(:DeserializationError)
puts "# ActiveSupport #{ActiveSupport::VERSION::STRING}"
Time.zone = "Europe/Berlin"

class Employee
  attr_accessor :name, :boss

  def initialize(name, boss = nil) = (@name, @boss = name, boss)
  def ==(other) = other.is_a?(Employee) && name == other.name && boss == other.boss
end

# Records that it was built.
class Hostile
  @built = 0
  class << self
    attr_accessor :built
  end

  def marshal_dump = ["payload"]
  def marshal_load(_) = self.class.built += 1
end

LONG = ["text " * 1000, { "k" => [1, 2.5, :sym] }].freeze
VALUES = {
  "nil" => nil, "false" => false, "number" => 42, "text" => "Grüße", "long text" => "Grüße " * 1000, "bytes" => "\xFF\x00".b,
  "ascii" => "abc".encode("US-ASCII"), "hash" => { a: [1.5, "b"] }, "long" => LONG, "employee" => Employee.new("Alice", Employee.new("Bob")),
  "zoned" => Time.zone.at(1_700_000_000.125), "duration" => 3.days, "safe" => "<b>".html_safe,
  "indifferent" => { a: { b: 1 } }.with_indifferent_access, "set" => Set[1, 2], "zone" => Time.zone
}.freeze

def stores(folder, **options)
  result = { "FileStore" => ActiveSupport::Cache::FileStore.new(folder, **options) }
  result["FileStore without compression"] = ActiveSupport::Cache::FileStore.new("#{folder}-plain", **options, compress: false)
  result
end

def same_values(name, store)
  VALUES.each do |key, value|
    actual = store.read(key)
    same("#{name}: #{key}", [value, value.class, value.is_a?(String) ? value.encoding : nil],
         [actual, actual.class, actual.is_a?(String) ? actual.encoding : nil])
  end
  same("#{name}: read_multi", VALUES.compact, store.read_multi(*VALUES.keys).compact)
  same("#{name}: a SafeBuffer stays safe", true, store.read("safe").html_safe?)
end

# Returns what the cache logs during the block.
def log_of
  log = StringIO.new
  ActiveSupport::Cache::Store.logger = Logger.new(log)
  yield
  log.string
ensure
  ActiveSupport::Cache::Store.logger = nil
end

Dir.mktmpdir do |folder|
  ours_options = { "coder" => { coder: Coder.new(classes: "Employee") } }
  ours_options["serializer"] = { serializer: Icecore::Rails::CacheSerializer.new(classes: ["Employee"]) } if HAS_SERIALIZER
  formats = ActiveSupport::Cache.respond_to?(:format_version) ? [7.0, 7.1].select { |format| format <= RAILS } : [nil]

  formats.each do |format|
    ActiveSupport::Cache.format_version = format if format
    ours_options.each do |kind, options|
      store_folder = "#{folder}/#{kind}#{format}"
      ours = stores(store_folder, **options)
      theirs = stores(store_folder)
      ours.each_key do |name|
        title = "#{name}, #{kind}#{", format #{format}" if format}"
        VALUES.each { |key, value| ours[name].write(key, value) }
        same_values("#{title}, ours to ours", ours[name])
        same_values("#{title}, ours to theirs", theirs[name])
        ours[name].clear
        VALUES.each { |key, value| theirs[name].write(key, value) }
        same_values("#{title}, theirs to ours", ours[name])

        # Expiry and version.
        ours[name].write("soon", 1, expires_in: 0.001)
        sleep 0.002
        same("#{title}, expired", nil, theirs[name].read("soon"))
        theirs[name].write("soon", [LONG], expires_in: 0.001)
        sleep 0.002
        same("#{title}, expired, theirs", nil, ours[name].read("soon"))
        theirs[name].write("later", LONG, expires_in: 1000)
        same("#{title}, not expired", LONG, ours[name].read("later"))
        ours[name].write("version", LONG, version: "v1")
        same("#{title}, version", [LONG, nil], [theirs[name].read("version", version: "v1"), theirs[name].read("version", version: "v2")])
        theirs[name].write("version", "text", version: "Grüße")
        same("#{title}, version, theirs", ["text", nil], [ours[name].read("version", version: "Grüße"), ours[name].read("version", version: "v2")])
        # An entry that has just expired is written again, with a short extension.
        theirs[name].write("race", LONG, expires_in: 0.001)
        sleep 0.002
        seen = nil
        ours[name].fetch("race", race_condition_ttl: 10) { seen = ours[name].read("race"); "new" }
        same("#{title}, race", [LONG, "new"], [seen, theirs[name].read("race")])

        # A class that is not allowed is a miss; nothing is built, and it is logged.
        [Hostile.new, [LONG, Hostile.new]].each do |hostile|
          theirs[name].write("hostile", hostile)
          Hostile.built = 0
          log = log_of { same("#{title}, an entry with a refused class is a miss", nil, ours[name].read("hostile")) }
          same("#{title}, a refused class is not built", 0, Hostile.built)
          same("#{title}, the log names the refused class", true, log.include?("Hostile"))
          same("#{title}, fetch replaces a refused entry", "new", ours[name].fetch("hostile") { "new" })
          theirs[name].write("hostile", hostile)
          same("#{title}, read_multi leaves out a refused entry", {}, ours[name].read_multi("hostile"))
          same("#{title}, a refused entry can't be read", false, ours[name].exist?("hostile") && ours[name].read("hostile"))
        end
        ours[name].clear
      end
    end
  end

  # Damage is a miss too.
  store = ActiveSupport::Cache::FileStore.new("#{folder}/damaged", coder: Coder.new)
  store.write("a", LONG)
  file = Dir["#{folder}/damaged/**/a"].first
  bytes = File.binread(file)
  wrong_values = 0
  bytes.bytesize.times do |index|
    File.binwrite(file, bytes.byteslice(0, index))
    wrong_values += 1 unless store.read("a").nil? || store.read("a") == LONG
    changed = bytes.dup
    changed.setbyte(index, changed.getbyte(index) ^ 0x55)
    File.binwrite(file, changed)
    store.read("a")
  end
  same("no damaged entry has a wrong value", 0, wrong_values)
end

# A memory store that freezes its contents.
memories = { "coder" => { coder: Coder.new(classes: [Employee]) } }
memories["serializer"] = { serializer: Icecore::Rails::CacheSerializer.new(classes: [Employee]) } if HAS_SERIALIZER
memories.each do |kind, options|
  memory = ActiveSupport::Cache::MemoryStore.new(options)
  VALUES.each { |key, value| memory.write(key, value) }
  same_values("MemoryStore, #{kind}", memory)
  same("MemoryStore, #{kind}: each read returns an object of its own", false, memory.read("employee").equal?(memory.read("employee")))
end

# -- Entries of other versions, handmade -----------------------------------------

CODER = Coder.new(classes: Employee)
LATER = Time.now.to_f + 1000

def read(bytes) = CODER.load(bytes.b)

# Returns everything that Rails asks an entry.
def state_of(entry) = [!!entry.mismatched?(nil), entry.value, entry.expires_at, entry.version, !!entry.expired?]

alice = Employee.new("Alice")
MARSHALLED = { "plain" => LONG, "employee" => alice }.freeze
MARSHALLED.each do |name, value|
  dump = ->(object) { Marshal.dump(object) }
  same("7.0, #{name}", [false, value, LATER, "v1", false], state_of(read("\x00".b + dump[[value, LATER, "v1"]])))
  same("7.0, #{name}, compressed", [false, value, LATER, "v1", false], state_of(read("\x01".b + Zlib.deflate(dump[[value, LATER, "v1"]]))))
  same("7.0, #{name}, short", [false, value, nil, nil, false], state_of(read("\x00".b + dump[[value]])))
  head = ->(type, version = nil) { ["\x00\x11".b, type, version ? LATER : -1.0, version&.bytesize || -1, version].pack("a2CEl<a*") }
  same("7.1, #{name}", [false, value, nil, nil, false], state_of(read(head[1] + dump[value])))
  same("7.1, #{name}, version", [false, value, LATER, "v42", false], state_of(read(head[1, "v42"] + dump[value])))
  same("7.1, #{name}, compressed", [false, value, LATER, "v", false], state_of(read(head[0x81, "v"] + Zlib.deflate(dump[value]))))
end
head = ["\x00\x11".b, 2, -1.0, -1].pack("a2CEl<")
same("7.1, text", [false, "Grüße", nil, nil, false], state_of(read(head + "Grüße".b)))
same("7.1, text, encoding", Encoding::UTF_8, read(head + "Grüße".b).value.encoding)
head.setbyte(2, 0x83)
same("7.1, bytes", ["\xFF".b, Encoding::BINARY], read(head + Zlib.deflate("\xFF".b)).then { |entry| [entry.value, entry.value.encoding] })
head.setbyte(2, 4)
same("7.1, ASCII", Encoding::US_ASCII, read(head + "a").value.encoding)
latin = "Grüße".encode("ISO-8859-1")
version = Marshal.dump(latin)
same("7.1, a version in another encoding", latin, read(["\x00\x11".b, 1, -1.0, version.bytesize, version].pack("a2CEl<a*") + Marshal.dump(1)).version)

# Entries of 6.1, as its Marshal wrote them.
def entry61(value, **more)
  entry = ActiveSupport::Cache::Entry.allocate
  { value: value, version: nil, created_at: Time.now.to_f, expires_in: nil, **more }.each { |name, v| entry.instance_variable_set("@#{name}", v) }
  Marshal.dump(entry)
end
MARSHALLED.each do |name, value|
  same("6.1, #{name}", [false, value, nil, nil, false], state_of(read(entry61(value))))
  same("6.1, #{name}, version and expiry", [value, "v1", false, true],
       read(entry61(value, version: "v1", expires_in: 1000.0)).then { |e| [e.value, e.version, !!e.expired?, (e.expires_at - LATER).abs < 100] })
  same("6.1, #{name}, compressed", [false, value, nil, nil, false], state_of(read(entry61(Zlib.deflate(Marshal.dump(value)), compressed: true))))
end
Hostile.built = 0
entry = read(entry61(Zlib.deflate(Marshal.dump(Hostile.new)), compressed: true))
same("6.1, a compressed entry with a refused class is a miss", [true, 0], [entry.mismatched?(nil), Hostile.built])

# Compressed entries that become large.
same("7.0, bytes after the end", ["text"], read("\x01".b + Zlib.deflate(Marshal.dump([["text"]])) + "more").value)
same("7.0, cut", nil, read("\x01".b + Zlib.deflate(Marshal.dump([LONG]))[0..-5]))
bomb = Zlib.deflate(Marshal.dump("0" * 2_000_000))
bombs = {
  "6.1" => entry61(bomb, compressed: true), "7.0" => "\x01".b + Zlib.deflate(Marshal.dump(["0" * 2_000_000])),
  "7.1" => ["\x00\x11".b, 0x81, -1.0, -1].pack("a2CEl<") + bomb, "7.1, text" => ["\x00\x11".b, 0x82, -1.0, -1].pack("a2CEl<") + Zlib.deflate("0" * 2_000_000)
}
bombs.each do |name, bytes|
  at_most = ->(max) { Coder.new(classes: Employee, max_inflated: max) }
  miss = ->(max) { at_most[max].load(bytes.b).then { |entry| entry.nil? || !!entry.mismatched?(nil) } }
  same("#{name}, an entry that inflates to more than max_inflated is a miss", [true, true, false, false], [1000, 1_999_999, 2_000_100, nil].map(&miss))
  error = raised { Coder.new(max_inflated: 1000, strict: true).load(bytes.b)&.value }
  same("#{name}, the error names max_inflated", true, error&.last&.include?("raise max_inflated:"))
end
same("max_inflated: must be a number", ArgumentError, raised { Coder.new(max_inflated: "1M") }&.first)

# Data that is not an entry.
{
  "nothing" => "", "zeros" => "\x00" * 3, "no array" => "\x00".b + Marshal.dump(1), "short head" => "\x00\x11\x01", "no entry" => Marshal.dump([1]),
  "a version that is longer" => ["\x00\x11".b, 1, -1.0, 100].pack("a2CEl<"), "an expiry of text" => "\x00".b + Marshal.dump([1, "x"]),
  "no zlib" => "\x01abc", "compressed without bytes" => entry61([1], compressed: true)
}.each do |name, bytes|
  same("#{name} is a miss", nil, read(bytes))
  same("#{name} raises with strict: true", true, !raised { Coder.new(strict: true).load(bytes.b) }.nil?)
end
same("an unknown type is a miss", true, read(["\x00\x11".b, 9, -1.0, -1].pack("a2CEl<")).mismatched?(nil))
raises("a refused class raises with strict: true", Icecore::ClassError, "Hostile") { Coder.new(strict: true).load("\x00".b + Marshal.dump([Hostile.new])) }

# Options.
raises("classes: :record is rejected", ArgumentError, "name the classes") { Coder.new(classes: :record) }
raises("an unknown format: is rejected", ArgumentError, "6.1, 7.0, 7.1") { Coder.new(format: 5) }
same("classes: :any builds everything", true, Coder.new(classes: :any).load("\x00".b + Marshal.dump([Hostile.new])).value.is_a?(Hostile))
same("format: 7.0 writes entries of 7.0", "\x00\x04\x08".b, Coder.new(format: 7.0).dump(ActiveSupport::Cache::Entry.new(1))[0, 3])
same("format: 6.1 writes entries of 6.1", [1], [Marshal.load(Coder.new(format: 6.1).dump(ActiveSupport::Cache::Entry.new(1))).value])
unless HAS_SERIALIZER
  raises("CacheSerializer is rejected in old Rails", Icecore::RuntimeError, "CacheCoder") { Icecore::Rails::CacheSerializer.new }
  raises("format: 7.1 is rejected in old Rails", ArgumentError, "needs Rails 7.1") { Coder.new(format: 7.1) }
end
