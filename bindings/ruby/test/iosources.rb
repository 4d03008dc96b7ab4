# frozen_string_literal: true

# Sources and targets of dumps: files, pipes, and objects that are like an IO. Results,
# positions afterwards and exceptions are those of Ruby's Marshal.

require_relative "helper"
require_relative "shape"
require_relative "chance/classes"
require "fileutils"
require "socket"
require "tmpdir"
require "zlib"

# Has only the methods that Marshal needs, and can misbehave.
class Source
  attr_reader :at, :calls

  def initialize(bytes, read: ->(part) { part }, byte: ->(part) { part })
    @bytes = bytes
    @at = 0
    @read = read
    @byte = byte
    @calls = []
  end

  def getbyte
    @at += 1
    @byte.call(@bytes.getbyte(@at - 1))
  end

  def read(count)
    part = @bytes.byteslice(@at, count)
    @at += count
    @read.call(part && part.empty? ? nil : part)
  end

  def rest = @bytes.byteslice(@at..)
end

class Target
  attr_reader :parts

  def initialize(&answer)
    @parts = []
    @answer = answer
  end

  def write(part)
    @parts << part.dup
    @answer ? @answer.call(part) : part.bytesize
  end
end

class BinaryTarget < Target
  attr_reader :binary

  def binmode = @binary = true
end

def compare(name, &block)
  ours, theirs = [Ours, Oracle].map { |side| Outcome.of { Timeout.timeout(20) { block.call(side) } } }
  if ours.error? || theirs.error?
    Check.ok("#{name}: same error as Marshal", ours.same_error?(theirs), -> { "ours:    #{ours}\nMarshal: #{theirs}\n#{ours.error&.backtrace&.first(3)&.join("\n")}" })
  else
    Check.equal("#{name}: same result as Marshal", theirs.value, ours.value)
  end
end

def shape_of(value) = Shape.of(value)

list = [1, "text", :sym, 1.5, { "k" => [2**70, nil] }, Time.at(0).utc, Chance::Pair.new(1, "caf\u00e9"), "x" * 3000]
bytes = Oracle.dump(list)
folder = Dir.mktmpdir("icecore")
at_exit { FileUtils.remove_entry(folder) if File.directory?(folder) }
path = "#{folder}/dump"

# -- Files --------------------------------------------------------------------

compare("several documents in a File") do |side|
  File.open(path, "wb") { |file| 3.times { |n| side.dump([n, list], file) } << "rest" }
  File.open(path, "rb") { |file| [*3.times.map { [shape_of(side.load(file)), file.pos] }, file.read] }
end
compare("a File in text mode") do |side|
  File.open(path, "w:UTF-16LE") { |file| side.dump(list, file) }
  [File.binread(path), File.open(path, "r:UTF-8:UTF-16LE") { |file| [shape_of(side.load(file)), file.eof?, file.external_encoding.to_s] }]
end
compare("a File that is written and read") do |side|
  File.open(path, "w+b") do |file|
    side.dump(1, file)
    file.rewind
    side.load(file)
  end
end
compare("a File after ungetbyte") do |side|
  File.binwrite(path, bytes.byteslice(1..))
  File.open(path, "rb") { |file| file.ungetbyte(bytes.getbyte(0)).then { shape_of(side.load(file)) + [file.pos] } }
end
compare("a closed File") { |side| side.load(File.open(path).tap(&:close)) }
compare("a File only for writing") { |side| File.open(path, "wb") { |file| side.load(file) } }
compare("a File only for reading") { |side| File.open(path, "rb") { |file| side.dump(1, file) } }
compare("an empty File") { |side| File.write(path, "").then { File.open(path) { |file| side.load(file) } } }

# -- StringIO, pipes and sockets ----------------------------------------------

compare("a StringIO at a position in the middle") { |side| StringIO.new("ab#{bytes}cd".b).then { |io| io.pos = 2; [shape_of(side.load(io)), io.read] } }
compare("a frozen StringIO") { |side| side.dump(1, StringIO.new("".dup.freeze)) }
compare("a StringIO for appending") { |side| StringIO.new(+"ab", "a").tap { |io| side.dump(1, io) }.string }
compare("a StringIO of UTF-8") { |side| StringIO.new(+"\u00e9").tap { |io| io.read; side.dump("\xff".b, io) }.string.then { |text| [text.b, text.encoding] } }
compare("an empty StringIO") { |side| side.load(StringIO.new("")) }
compare("a pipe that stays open") do |side|
  reader, writer = IO.pipe
  writer.write(bytes, "r")
  [shape_of(side.load(reader)), reader.read_nonblock(10)]
end
compare("a slow pipe") do |side|
  reader, writer = IO.pipe
  feeder = Thread.new do
    bytes.each_char.each_slice(700) do |part|
      writer.write(part.join)
      Thread.pass
    end
    writer.close
  end
  shape_of(side.load(reader)).tap { feeder.join }
end
compare("both ends of a pipe at once, with a large value") do |side|
  reader, writer = IO.pipe
  feeder = Thread.new { side.dump(["x" * 300_000] * 2 + ["y" * 300_000], writer).close }
  side.load(reader).map(&:size).tap { feeder.join }
end
compare("a pipe whose reader is closed") do |side|
  reader, writer = IO.pipe
  reader.close
  side.dump("x" * 100_000, writer)
end
compare("a pair of sockets") do |side|
  writer_end, reader_end = UNIXSocket.pair
  side.dump(list, writer_end)
  side.dump(:second, writer_end)
  [shape_of(side.load(reader_end)), side.load(reader_end)]
end

# -- Compressed ---------------------------------------------------------------

compare("a gzip file") do |side|
  Zlib::GzipWriter.open("#{path}.gz") { |gzip| 2.times { side.dump(list, gzip) } }
  Zlib::GzipReader.open("#{path}.gz") { |gzip| [shape_of(side.load(gzip)), shape_of(side.load(gzip)), gzip.eof?] }
end
compare("a gzip file that is cut") do |side|
  packed = Zlib.gzip(bytes)
  side.load(Zlib::GzipReader.new(StringIO.new(packed.byteslice(0, packed.bytesize / 2))))
end

# -- Objects that are like an IO ----------------------------------------------

compare("an object with getbyte and read") { |side| Source.new("#{bytes}rest".b).then { |source| [shape_of(side.load(source)), source.rest] } }
compare("several documents in an object with getbyte and read") { |side| Source.new((bytes * 3) + "r").then { |source| [*3.times.map { shape_of(side.load(source)) }, source.rest] } }
{
  "nil" => ->(_part) {}, "no string" => ->(_part) { 5 }, "a symbol" => ->(_part) { :x },
  "text in UTF-16" => ->(part) { part.dup.force_encoding("UTF-16LE") }, "an object like a string" => ->(part) { Struct.new(:to_str).new(part) },
  "an exception" => ->(_part) { raise IOError, "the disk says no" }
}.each { |name, answer| compare("read returns #{name}") { |side| shape_of(side.load(Source.new(bytes, read: answer))) } }
{
  "nil" => ->(_byte) {}, "a string" => ->(byte) { byte.chr }, "300" => ->(byte) { byte + 256 }, "a float" => ->(byte) { byte.to_f }, "an exception" => ->(_byte) { raise IOError, "the disk says no" }
}.each { |name, answer| compare("getbyte returns #{name}") { |side| shape_of(side.load(Source.new(bytes, byte: answer))) } }

# Ruby's result for these is random (strings of the subclass, or frozen too early): ours reads
# the data, or reports that it is too short.
{ "more" => ->(part) { "#{part}more" }, "less" => ->(part) { part.byteslice(0, part.bytesize - 1) }, "nothing" => ->(_part) { "" } }.each do |name, answer|
  outcome = Outcome.of { Ours.load(Source.new(bytes, read: answer)) }
  Check.ok("read returns #{name}", outcome.error? ? [ArgumentError, TypeError, EOFError].any? { |type| outcome.error.is_a?(type) } : name == "more", outcome.to_s)
end
unless STAND_IN
  { "something frozen" => ->(part) { part.dup.freeze }, "a subclass" => ->(part) { Chance::Str.new(part) } }
    .each { |name, answer| Check.equal("read returns #{name}", shape_of(Oracle.load(bytes)), shape_of(Ours.load(Source.new(bytes, read: answer)))) }
end

# During each call another load runs; the source is closed while it is read.
compare("a read method that loads another dump") { |side| shape_of(side.load(Source.new(bytes, read: ->(part) { side.load(side.dump([1])).then { part } }))) }
compare("a read method that throws") { |side| catch(:out) { side.load(Source.new(bytes, read: ->(_part) { throw :out, 5 })) } }
compare("a read method that changes the strings it returned") do |side|
  given = []
  shape_of(side.load(Source.new(bytes, read: ->(part) { part.tap { given.each(&:clear).clear << part } })))
end

no_read = Object.new.tap { |source| def source.getbyte = 4 }
no_byte = Object.new.tap { |source| def source.read(_count) = "" }
like_string = Struct.new(:to_str)
{ "nothing" => nil, "5" => 5, "a symbol" => :a, "an array" => [4, 8], "no read" => no_read, "no getbyte" => no_byte, "like a string" => like_string.new(bytes), "not quite like a string" => like_string.new(5) }
  .each { |name, source| compare("load of #{name}") { |side| shape_of(side.load(source)) } }
compare("an object with binmode") do |side|
  source = Source.new(bytes)
  def source.binmode = @calls << :binmode
  side.load(source)
  source.calls
end

# -- Strings ------------------------------------------------------------------

[bytes.dup.force_encoding("UTF-8"), bytes.dup.force_encoding("UTF-16LE"), bytes.dup.freeze, Chance::Str.new(bytes), "#{bytes}trailing".b].each_with_index do |text, index|
  compare("a string, #{index}") { |side| shape_of(side.load(text)) + [text.encoding, text.bytesize] }
end
# A smaller minor version is read, with a warning if they are enabled.
compare("the warning of a smaller version") do |side|
  old_stderr, $stderr, verbose, $VERBOSE = $stderr, StringIO.new, $VERBOSE, true
  [side.load("\x04\x07i\x06".b), $stderr.string.include?("incompatible marshal file format (can be read)")]
ensure
  $stderr = old_stderr
  $VERBOSE = verbose
end
verbose = $VERBOSE
$VERBOSE = false
["", "\x04", "\x04\x08", "\x04\x07i\x06", "\x04\x09i\x06", "\x03\x08i\x06", "\x05\x08i\x06", "\x00\x00", "x", "\x04\x08\xff", "BAh7AA=="].each do |text|
  compare("the string #{text.inspect}") { |side| side.load(text.b) }
  compare("the string #{text.inspect} from a StringIO") { |side| StringIO.new(text.b).then { |io| [side.load(io), io.pos] } }
end
$VERBOSE = verbose
short = Oracle.dump([1, "text", :sym, 1.5, { "k" => 2**70 }, Time.at(0).utc, Chance::Pair.new(1, 2), Chance::Dumped.new(1)])
(0...short.bytesize).each do |length|
  cut = short.byteslice(0, length)
  compare("a string of #{length} bytes") { |side| side.load(cut) }
  compare("StringIO of #{length} bytes") { |side| side.load(StringIO.new(cut)) }
  compare("a source of #{length} bytes") { |side| side.load(Source.new(cut)) }
  compare("a File of #{length} bytes") { |side| File.binwrite(path, cut).then { File.open(path, "rb") { |file| side.load(file) } } } if length % 3 == 0
end

# -- Targets of a dump --------------------------------------------------------

compare("a target with only write") { |side| Target.new.tap { |target| side.dump(list, target) }.parts.join.b }
compare("a target with write and binmode") { |side| BinaryTarget.new.tap { |target| side.dump(list, target) }.then { |target| [target.parts.join.b, target.binary] } }
compare("a write method that returns nil") { |side| Target.new { nil }.tap { |target| side.dump(list, target) }.parts.join.b }
compare("a write method that raises") { |side| side.dump(list, Target.new { raise IOError, "the disk is full" }) }
compare("a write method that throws") { |side| catch(:out) { side.dump(list, Target.new { throw :out, 5 }) } }
compare("the encoding of the strings that write gets") { |side| Target.new.tap { |target| side.dump("caf\u00e9", target) }.parts.map(&:encoding).uniq }
compare("the return value of dump with a target") { |side| Target.new.then { |target| side.dump(1, target).equal?(target) } }
compare("an object that can't be dumped, into a file") { |side| side.dump([1, proc {}], Target.new) }
compare("a target without write") { |side| side.dump(1, Object.new) }
{ "a string" => "x", "a symbol" => :x, "an array" => [], "a float" => 1.5, "nil" => nil }.each { |name, target| compare("dump into #{name}") { |side| side.dump([1], target) } }
{ "io and nil" => [StringIO.new, nil], "io and text" => [StringIO.new, "x"], "nil and limit" => [nil, 5], "limit and io" => [5, StringIO.new], "three" => [StringIO.new, 1, 2], "large limit" => [2**70] }
  .each { |name, more_arguments| compare("dump with #{name}") { |side| side.dump([1], *more_arguments).class } }
[-2, -1, 0, 1, 2, 3].each { |limit| compare("limit #{limit}") { |side| side.dump([[1]], limit) } }

# -- The proc, and other arguments --------------------------------------------

compare("a Method as the proc") { |side| [].tap { |values| side.load(bytes, values.method(:push)) }.size }
compare("an object with call as the proc") { |side| side.load(Oracle.dump([1, 2]), Struct.new(:call_count) { def call(value) = value.is_a?(Array) ? value : 7 }.new(0)) }
compare("a proc of two arguments") { |side| side.load(Oracle.dump([1, 2]), proc { |value, more| [value, more] }) }
compare("a lambda of two arguments") { |side| side.load(Oracle.dump([1, 2]), ->(value, more) { [value, more] }) }
compare("a number as the proc") { |side| side.load(Oracle.dump([1, 2]), 5) }
compare("nil as the proc") { |side| side.load(Oracle.dump([1, 2]), nil) }
compare("freeze: nil") { |side| side.load(Oracle.dump(["a"]), freeze: nil).frozen? }
compare("freeze: 1") { |side| side.load(Oracle.dump(["a"]), freeze: 1).frozen? }
compare("freeze: true with an IO") { |side| shape_of(side.load(StringIO.new(bytes), freeze: true)) }
compare("a proc that breaks out") { |side| [1].each { break side.load(Oracle.dump([1, 2]), ->(value) { value }) } }
compare("an unknown keyword") { |side| side.load(bytes, nil, frozen: true) }
compare("a proc that reads the next document") do |side|
  io = StringIO.new(Oracle.dump([1, 2]) + Oracle.dump(:inner))
  [side.load(io, ->(value) { value.is_a?(Array) ? [value, side.load(io)] : value }), io.pos]
end
Check.equal("restore loads like load", [1], IMPL.restore(IMPL.dump([1])))
Check.finish
