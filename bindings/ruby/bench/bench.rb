#!/usr/bin/env ruby
# frozen_string_literal: true

# Times Icecore against Marshal, Oj, MessagePack and JSON, after comparing the results. All run in one
# process and take turns; the printed ratios are medians of the ratios of each round. Garbage is
# collected before each sample, and the collector stays on during it.

require "optparse"

options = { rounds: 9 }
OptionParser.new do |parser|
  parser.banner = "Usage: ruby bench.rb [options]\n\n" \
                  "For a set with a target, the column `wanted` has the target, and `<` marks a result that misses it.\n\n"
  parser.on("--only WORD", "only sets with this in their name: load, dump, objects, hashes, ints, small, base64") do |word|
    options[:only] = word
  end
  parser.on("--rounds N", Integer, "samples of each, an odd number is best (default 9)") do |count|
    raise OptionParser::InvalidArgument, count.to_s unless count.positive?

    options[:rounds] = count
  end
  parser.on("--json FILE", "also writes all results to a file") { |file| options[:json] = file }
  parser.on("--markdown", "prints tables for a page instead of text") { options[:markdown] = true }
  parser.parse!
  abort("Unknown argument: #{ARGV.first}") unless ARGV.empty?
rescue OptionParser::ParseError => e
  abort("#{e.message}; see --help")
end

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
begin
  require "icecore"
rescue LoadError => e
  abort("The module is missing: make modules (#{e.message})")
end
%w[sets participants timing report].each { |file| require_relative file }

module IcecoreBench
  # Runs the sets, and prints each line.
  class Run
    def initialize(options)
      @only = options[:only].to_s
      @rounds = options[:rounds]
      @silent = options[:markdown]
      @report = Report.new(@rounds)
    end

    def call
      print_line @report.heading if SETS.any? { |name, _| selected_operations(name).any? }
      SETS.each_key { |name| measure_set(name) if selected_operations(name).any? }
      base64_sets = BASE64_SETS.select { |name| selected_operations(name, "base64").any? }
      print_line @report.base64_heading if base64_sets.any?
      base64_sets.each { |name| measure_base64_set(name) }
      @report
    end

    private

    def selected_operations(name, suffix = nil)
      %i[load dump].select { |operation| [operation, name, *suffix].join(", ").include?(@only) }
    end

    def print_line(text)
      puts text unless @silent
      $stdout.flush
    end

    def measure_set(name)
      sample = IcecoreBench.sample(name)
      dumps = IcecoreBench.check_same_or_abort(sample)
      bytes = { ICECORE => dumps, MARSHAL => dumps }.merge(IcecoreBench.competitor_dumps(sample.values))
      selected_operations(name).each do |operation|
        times = IcecoreBench.measure(operation, inputs(name, operation, bytes), @rounds)
        print_line @report.line(@report.add(sample, operation, times, bytes))
      end
    end

    # Each participant is compared with itself without Base64.
    def measure_base64_set(name)
      sample = IcecoreBench.sample(name)
      IcecoreBench.check_same_base64_or_abort(sample)
      participants = [ICECORE, ICECORE_BASE64, MARSHAL, MARSHAL_BASE64]
      bytes = participants.to_h { |participant| [participant, sample.values.map { |value| participant.write(value) }] }
      selected_operations(name, "base64").each do |operation|
        times = IcecoreBench.measure(operation, inputs(name, operation, bytes), @rounds)
        print_line @report.base64_line(@report.add_base64(sample, operation, times))
      end
    end

    # Each participant writes values of its own, because MessagePack adds a singleton class to each
    # object, which slows down the others.
    def inputs(name, operation, bytes)
      operation == :load ? bytes : bytes.to_h { |participant, _| [participant, IcecoreBench.sample(name).values] }
    end
  end
end

report = IcecoreBench::Run.new(options).call
abort("No set has this in its name: #{options[:only]}") if report.empty?
puts report.markdown if options[:markdown]
if options[:json]
  require "json"
  File.write(options[:json], JSON.pretty_generate(report.to_h) << "\n")
end
