# frozen_string_literal: true

# Damaged dumps, with all classes allowed: each dump is cut at every place, and each of its bytes is
# changed. Ours must not crash, and must raise if Marshal raises. Data that ours refuses and Marshal
# accepts is counted.
#
#   ruby damaged.rb [--only NAME]
#
# Each dump has a process of its own, because Ruby's own Marshal may crash.

require_relative "helper"
require "tempfile"
require_relative "damaged/dumps"
require_relative "damaged/judge"

module Damaged
  # Each byte is replaced by the tags of all types, and by itself with some bits flipped. With
  # ICECORE_LONG it is replaced by all other bytes.
  TYPES = "0TFi:;fl\"/[{}oSUdu@cmMIeC".bytes.freeze
  XORS = [1, 2, 0x20, 0x80, 0xff].freeze

  # Returns the bytes and all their damaged variants: cut off, with another byte, without a byte, with a
  # byte twice.
  def self.variants_of(bytes)
    variants = (0...bytes.bytesize).map { |length| bytes.byteslice(0, length) }
    (0...bytes.bytesize).each do |index|
      old_byte = bytes.getbyte(index)
      new_bytes = LONG.positive? ? (0..255).to_a : XORS.map { |xor| old_byte ^ xor } + TYPES + [0, old_byte + 1 & 255, old_byte - 1 & 255]
      (new_bytes.uniq - [old_byte]).each { |byte| variants << bytes.dup.tap { |text| text.setbyte(index, byte) } }
      variants << (bytes.byteslice(0, index) + bytes.byteslice(index + 1..)) << (bytes.byteslice(0, index) + bytes.byteslice(index, 1) + bytes.byteslice(index..))
    end
    [bytes] + variants.uniq
  end

  # Judges all variants of one dump in child processes, and yields the counts and failures of each
  # process. After a crash, another process continues with the next variant.
  #
  # `trace` is a file of nine bytes: which library runs (judge.rb), and the index of the variant.
  def self.each_process(variants, trace)
    from = 0
    while from < variants.size
      reader, writer = IO.pipe(binmode: true)
      child = fork do
        reader.close
        writer.write(Oracle.dump(judge_from(variants, from, trace)))
        writer.close
        exit!(0)
      end
      writer.close
      result = reader.read
      reader.close
      Process.wait(child)
      return yield(Oracle.load(result)) if $?.success? && !result.empty?
      side, index = trace.pread(9, 0).unpack("aq<")
      yield([{ "Ruby's own died" => 1 }, []]) if side == "M"
      yield([{ "failures" => 1 }, [["ours died", "#{variants[index].inspect}\n#{$?.inspect}"]]]) if side == "I"
      from = index + 1
    end
  end

  # Runs in a child process.
  def self.judge_from(variants, from, trace)
    # Wrong counts must not take the machine's memory; the sanitizer has a limit of its own.
    Process.setrlimit(:AS, 3 << 30) unless SANITIZED
    $stderr.reopen(File::NULL)
    judge = Judge.new(trace)
    (from...variants.size).each do |index|
      trace.pwrite([index].pack("q<"), 1)
      judge.judge(variants[index])
    end
    [judge.counts.to_a.to_h, judge.failures]
  end
end

only = ARGV[0] == "--only" ? ARGV[1] : nil
totals = Hash.new(0)
Tempfile.create("icecore") do |trace|
  trace.binmode
  Damaged::Dumps.all.each do |name, bytes|
    next if only && name != only
    Damaged.each_process(Damaged.variants_of(bytes), trace) do |counts, failures|
      counts.each { |outcome, count| totals[outcome] += count }
      failures.each { |outcome, detail| Check.failure("#{name}: #{outcome}", detail) }
      Check.passed(counts.sum { |outcome, count| outcome.start_with?("failures") ? 0 : count })
    end
  end
end
totals.sort_by { |_, count| -count }.each { |outcome, count| puts "# #{count}: #{outcome}" }
Check.finish
