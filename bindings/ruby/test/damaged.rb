# frozen_string_literal: true

# Damaged dumps: cut everywhere, each byte changed, all classes allowed. Ours never crashes; if
# Marshal raises, ours raises. Data that ours refuses and Marshal accepts is counted.
#
#   ruby damaged.rb [--only NAME]
#
# Each dump has a process of its own, because Ruby's own Marshal may crash.

require_relative "helper"
require "tempfile"
require_relative "damaged/dumps"
require_relative "damaged/judge"

module Damaged
  # Changes of a byte; with ICECORE_LONG all 255 of them.
  TYPES = "0TFi:;fl\"/[{}oSUdu@cmMIeC".bytes.freeze
  XORS = [1, 2, 0x20, 0x80, 0xff].freeze

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

  # Judges all texts of one dump in processes; after a crash the next process continues.
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
