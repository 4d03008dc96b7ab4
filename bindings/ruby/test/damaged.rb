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

  def self.changed(bytes)
    texts = (0...bytes.bytesize).map { |length| bytes.byteslice(0, length) }
    (0...bytes.bytesize).each do |at|
      was = bytes.getbyte(at)
      news = LONG.positive? ? (0..255).to_a : XORS.map { |xor| was ^ xor } + TYPES + [0, was + 1 & 255, was - 1 & 255]
      (news.uniq - [was]).each { |byte| texts << bytes.dup.tap { |text| text.setbyte(at, byte) } }
      texts << (bytes.byteslice(0, at) + bytes.byteslice(at + 1..)) << (bytes.byteslice(0, at) + bytes.byteslice(at, 1) + bytes.byteslice(at..))
    end
    [bytes] + texts.uniq
  end

  # Judges all texts of one dump in processes; after a crash the next process continues.
  def self.each_process(texts, trace)
    from = 0
    while from < texts.size
      reader, writer = IO.pipe(binmode: true)
      child = fork do
        reader.close
        writer.write(Oracle.dump(judge_from(texts, from, trace)))
        writer.close
        exit!(0)
      end
      writer.close
      said = reader.read
      reader.close
      Process.wait(child)
      return yield(Oracle.load(said)) if $?.success? && !said.empty?
      side, at = trace.pread(9, 0).unpack("aq<")
      yield([{ "Ruby's own died" => 1 }, []]) if side == "M"
      yield([{ "failures" => 1 }, [["ours died", "#{texts[at].inspect}\n#{$?.inspect}"]]]) if side == "I"
      from = at + 1
    end
  end

  def self.judge_from(texts, from, trace)
    # Wrong counts must not take the machine's memory; the sanitizer has a limit of its own.
    Process.setrlimit(:AS, 3 << 30) unless SANITIZED
    $stderr.reopen(File::NULL)
    judge = Judge.new(trace)
    (from...texts.size).each do |at|
      trace.pwrite([at].pack("q<"), 1)
      judge.judge(texts[at])
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
    Damaged.each_process(Damaged.changed(bytes), trace) do |counts, failures|
      counts.each { |what, count| totals[what] += count }
      failures.each { |what, detail| Check.failure("#{name}: #{what}", detail) }
      Check.passed(counts.sum { |what, count| what.start_with?("failures") ? 0 : count })
    end
  end
end
totals.sort_by { |_, count| -count }.each { |what, count| puts "# #{count}: #{what}" }
Check.finish
