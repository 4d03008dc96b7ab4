#!/usr/bin/env ruby
# frozen_string_literal: true

# Times Icecore against Marshal, Oj, MessagePack and JSON: in one process, alternately; the
# results are compared first. Medians of paired ratios. Garbage is collected between the turns,
# and the collector stays on during them.

require "optparse"

options = { rounds: 9 }
OptionParser.new do |parser|
  parser.banner = "Usage: ruby bench.rb [options]\n\n" \
                  "A line for each set that has a goal says what was wanted; `<` stands behind what misses it.\n\n"
  parser.on("--only WORD", "only what has it in its name: load, dump, objects, hashes, ints, small, base64") do |word|
    options[:only] = word
  end
  parser.on("--rounds N", Integer, "samples of each, an odd number is best (default 9)") do |count|
    raise OptionParser::InvalidArgument, count.to_s unless count.positive?

    options[:rounds] = count
  end
  parser.on("--json FILE", "writes everything to the file as well") { |file| options[:json] = file }
  parser.on("--markdown", "tables for a page in the place of text") { options[:markdown] = true }
  parser.parse!
  abort("Unknown argument: #{ARGV.first}") unless ARGV.empty?
rescue OptionParser::ParseError => e
  abort("#{e.message}; --help says what there is")
end

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
begin
  require "icecore"
rescue LoadError => e
  abort("The module is missing: make modules (#{e.message})")
end
%w[sets participants timing report].each { |part| require_relative part }

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
      say @report.heading if SETS.any? { |name, _| wanted(name).any? }
      SETS.each_key { |name| sets(name) if wanted(name).any? }
      base64 = IN_BASE64.select { |name| wanted(name, "base64").any? }
      say @report.base64_heading if base64.any?
      base64.each { |name| base64(name) }
      @report
    end

    private

    def wanted(name, more = nil)
      %i[load dump].select { |operation| [operation, name, *more].join(", ").include?(@only) }
    end

    def say(text)
      puts text unless @silent
      $stdout.flush
    end

    def sets(name)
      sample = IcecoreBench.sample(name)
      texts = IcecoreBench.same_or_stop(sample)
      bytes = { ICECORE => texts, MARSHAL => texts }.merge(IcecoreBench.rivals(sample.values))
      wanted(name).each do |operation|
        taken = IcecoreBench.measure(operation, inputs(name, operation, bytes), @rounds)
        say @report.line(@report.add(sample, operation, taken, bytes))
      end
    end

    # Each is compared with itself without Base64.
    def base64(name)
      sample = IcecoreBench.sample(name)
      IcecoreBench.same_base64_or_stop(sample)
      all = [ICECORE, ICECORE_BASE64, MARSHAL, MARSHAL_BASE64]
      bytes = all.to_h { |who| [who, sample.values.map { |value| who.write(value) }] }
      wanted(name, "base64").each do |operation|
        taken = IcecoreBench.measure(operation, inputs(name, operation, bytes), @rounds)
        say @report.base64_line(@report.add_base64(sample, operation, taken))
      end
    end

    # Each writes values of its own: MessagePack leaves a singleton class at each object, which
    # the others would then have to inspect.
    def inputs(name, operation, bytes)
      operation == :load ? bytes : bytes.to_h { |who, _| [who, IcecoreBench.sample(name).values] }
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
