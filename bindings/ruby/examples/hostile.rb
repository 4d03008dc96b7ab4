# frozen_string_literal: true

# Bytes from an attacker who wants to run code. With Ruby's own Marshal four of these write a
# file, and the chain loads classes of RubyGems; here none of this happens.

require "icecore"
require "tmpdir"

FOLDER = Dir.mktmpdir("icecore-hostile")
at_exit { FileUtils.remove_entry(FOLDER) }
TRACES = File.join(FOLDER, "traces")
Dir.mkdir(TRACES)
def leave_trace(method_name) = File.write(File.join(TRACES, method_name), "was here")

class Loads
  def marshal_load(_) = leave_trace("marshal_load")
end

class LoadsText
  def self._load(_) = leave_trace("_load")
end

class Hashed
  def hash = leave_trace("hash")
end

# Runs when a constant is missing.
class Object
  def self.const_missing(name)
    leave_trace("const_missing of #{name}")
    super
  end
end

# A file that is loaded, and defines its class, when the name of the class is used.
File.write(File.join(FOLDER, "later.rb"), "leave_trace('autoload')\nclass Later; end\n")
autoload :Later, File.join(FOLDER, "later.rb")

def name(text) = ":#{(text.bytesize + 5).chr}#{text}"

PAYLOADS = {
  "marshal_load" => "U#{name('Loads')}0",
  "_load" => "u#{name('LoadsText')}\x00",
  "hash, of a key" => "{\x06o#{name('Hashed')}\x00i\x06",
  "an autoload" => "o#{name('Later')}\x00",
  "a constant that is missing" => "o#{name('NotThere')}\x00",
  "a class as a value" => "c\x0aLater",
  "a module of a value" => "e#{name('Comparable')}o#{name('Object')}\x00",
  "a regular expression" => "/\x0b(a+)+$\x00",
  "a string of another class" => "C#{name('Later')}\"\x06a",
  "damage behind an object" => "[\x07U#{name('Loads')}0i"
}.freeze

PAYLOADS.each do |description, payload|
  value = Icecore::Marshal.load("\x04\x08#{payload}".b)
  puts "#{description}: taken, #{value.class}"
rescue Icecore::ClassError => error
  puts "#{description}: refused, #{error.classes.map { |found, path| "#{found} at #{path}" }.join(', ')}"
rescue Icecore::Error => error
  puts "#{description}: #{error.kind}, #{error.message}"
end

# -- A chain through classes that Ruby itself brings --------------------------------
#
# Universal chains for Marshal begin with classes of RubyGems, which Ruby loads by itself when a
# dump names them. This one has their names and their shape, and nothing that would run.

chain = "[\x08c\x15Gem::SpecFetcherc\x13Gem::InstallerU#{name('Gem::Requirement')}[\x06o" \
        "#{name('Gem::Package::TarReader')}\x06:\x08@ioo#{name('Net::BufferedIO')}\x00"
bytes = "\x04\x08#{chain}".b
loaded = -> { $LOADED_FEATURES.grep(%r{/(rubygems/(spec_fetcher|installer|package/tar_reader)|net/protocol)\.rb\z}).size }
before = loaded.call
puts "", "the chain:"
begin
  Icecore::Marshal.load(bytes)
  puts "taken"
rescue Icecore::ClassError => error
  puts error.message
  error.classes.each { |found, path| puts "  #{found} at #{path}" }
end
puts "with a list: #{begin
  Icecore::Marshal.load(bytes, classes: ["Gem::Requirement", "Session"])
rescue Icecore::ClassError => error
  "refused, #{error.path}"
end}"
puts "what one would have to allow: #{Icecore::Marshal.load(bytes, report: true).join(', ')}"
puts "files of RubyGems and Net that were loaded meanwhile: #{loaded.call - before}"

# As records they can be inspected, and written back unchanged.
record = Icecore::Marshal.load(bytes, classes: :record)
puts "as records, written back: #{Icecore::Marshal.dump(record) == bytes ? 'the same bytes' : 'other bytes'}"

written = Dir.children(TRACES)
puts "", "files that were written: #{written.empty? ? 'none' : written.sort.join(', ')}"
