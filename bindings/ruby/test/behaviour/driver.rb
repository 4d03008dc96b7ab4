# frozen_string_literal: true

require_relative "checker"
require_relative "classes"

module Behaviour
  # Runs a line of the behaviour list in Ruby.
  class Driver
    HOST = "ruby"
    FEATURES = %w[bool regexp code freeze-hooks thaw-hooks].freeze
    # The default is smaller, and some lines exceed it.
    DEPTH = { max_depth: 10_000 }.freeze

    def self.lines(file)
      File.foreach(file).map do |text|
        line = JSON.parse(text, max_nesting: false)
        overrides = line.delete(HOST) || {}
        line.merge(overrides).reject { |name, _| overrides.key?(name) && overrides[name].nil? && name == "error" }
      end
    end

    # Returns a verdict (:passed, :failed, :skipped, :open or :other) and its reason.
    def self.run(line)
      return [:other, ""] if line["hosts"] && !line["hosts"].include?(HOST)
      lacks = (line["needs"] || []) - FEATURES - (memory_held ? ["memory"] : [])
      return [:skipped, "Ruby lacks #{lacks.join(' ')}"] unless lacks.empty?
      return [:open, line["open"]] if line["open"]
      LOG.clear
      Classes.define_all_in(line)
      new.steps(line["do"] ? [line] : line["steps"])
      [:passed, ""]
    rescue Mismatch, UnsupportedDescription => mismatch
      [:failed, mismatch.message]
    rescue StandardError, SystemStackError, NoMemoryError => error
      [:failed, "#{error.class}: #{error.message} at #{error.backtrace&.first}"]
    end

    # The action of the hooks of Reenters: another document, while one is being made or read.
    def self.nested
      value = [1, { "a" => 2 }]
      raise Mismatch, "a nested document was not read" unless IMPL.load(IMPL.dump(value)) == value
    end

    def initialize
      @values = {}
      @written = +""
    end

    def steps(steps)
      steps.each_with_index do |step, index|
        verb = :"do_#{step['do']}"
        raise Mismatch, "there is no step #{step['do']}" unless respond_to?(verb, true)
        send(verb, step)
      rescue Mismatch => mismatch
        raise steps.size > 1 ? Mismatch.new("step #{index}, #{step['do']}: #{mismatch.message}") : mismatch
      end
    end

    private

    # Runs the block. If the step expects an error, the block must raise it.
    def run_expecting_error(step)
      log_start = LOG.size
      result = yield
    rescue Icecore::Error, HookError => error
      check_error(step, error, LOG.drop(log_start))
      nil
    else
      raise Mismatch, "it was not refused, but gave #{Checker.describe(result)}" if step["error"]
      result
    end

    def check_error(step, error, hook_calls)
      facts = { "says" => error.message, "kind" => "hook" }
      if error.is_a?(Icecore::Error)
        facts.update("kind" => error.kind.to_s.tr("_", "-"), "offset" => error.offset, "path" => error.path)
        raise Mismatch, "the kind #{facts['kind']} in #{error.class}" if (facts["kind"] == "class") != error.is_a?(Icecore::ClassError)
      end
      raise Mismatch, "refused: #{facts['kind']}, #{facts['says']}" unless step["error"]
      # A refused call has built nothing, and run nothing.
      raise Mismatch, "ran: #{hook_calls.join(', ')}" if hook_calls.any? && facts["kind"] != "hook"
      step["error"].each { |name, expected| check_fact(facts, name, expected) }
    end

    def check_fact(facts, name, expected)
      actual = facts[name]
      is_expected = if expected.is_a?(Array) then expected.include?(actual)
                    # A class may be named as in the data.
                    elsif name == "says" then actual.include?(expected) || actual.include?(Descriptions.name(expected))
                    else actual == expected
                    end
      raise Mismatch, "the error has #{name} #{actual || 'nothing'}, not #{Array(expected).join(' ')}: #{facts['kind']} at offset #{facts['offset'] || 'none'}, #{facts['says']}" unless is_expected
    end

    def bytes(description) = Descriptions.bytes(description, @written)

    # Returns all functions that read a format.
    def readers(step)
      format = step["format"]
      marshal = ->(bytes, options) { IMPL.load(bytes, **options) }
      return [marshal] if format == "own"
      readers = [->(bytes, options) { Icecore.decode(bytes, format, **options) }]
      # Marshal ignores bytes after a document, and so does ours.
      trailing = Array((step["error"] || {})["kind"]).include?("trailing")
      readers << marshal if format == "marshal" && !trailing
      readers
    end

    def writers(step)
      format = step["format"]
      marshal = ->(value) { IMPL.dump(value) }
      return [marshal] if format == "own"
      [->(value) { Icecore.encode(value, format) }] + (format == "marshal" ? [marshal] : [])
    end

    # Patterns are written in Ruby's notation, and names of PHP become those of Ruby's modules.
    def options(step)
      classes = step["classes"]
      return DEPTH.merge(classes: classes.to_sym) if classes.is_a?(String)
      classes = classes&.map { |name| Descriptions.name(name) }
      classes = [*classes, "Regexp"] if step["value"].to_s.include?('"regexp"=>') || step["value"].to_s.include?('"regexp" =>')
      classes ? DEPTH.merge(classes: classes) : DEPTH
    end

    def do_read(step)
      bytes = bytes(step["bytes"])
      readers(step).each do |reader|
        value = run_expecting_error(step) { reader.call(bytes.dup, options(step)) }
        next if step["error"]
        @values[step["as"] || "it"] = value
        Checker.new(ordered: !step["format"].end_with?("json")).check(step["value"], value) if step.key?("value")
      end
    end

    def do_write(step)
      value = step.key?("value") ? Builder.new.build(step["value"]) : @values[step["of"] || "it"]
      writers(step).each do |writer|
        bytes = run_expecting_error(step) { writer.call(value) }
        next if step["error"]
        out = step.key?("out") ? bytes(step["out"]) : bytes
        raise Mismatch, "wrote #{bytes.b.inspect[0, 500]}, not #{out.b.inspect[0, 500]}" if bytes.b != out.b
        @written = bytes
      end
    end

    def do_make(step) = @values[step["as"] || "it"] = Builder.new.build(step["value"])
    def do_match(step) = Checker.new.check(step["value"], @values[step["of"] || "it"])
    def do_forget(_step) = @values.clear

    def do_set(step)
      *parents, last = step["path"]
      parent = parents.reduce(@values[step["of"] || "it"]) { |value, part| part_of(value, part) }
      item = Builder.new.build(step["value"])
      parent.is_a?(Array) || parent.is_a?(Hash) || parent.is_a?(Struct) ? parent[last] = item : parent.instance_variable_set(Descriptions.member(last), item)
    end

    def do_get(step) = Checker.new.check(step["value"], step["path"].reduce(@values[step["of"] || "it"]) { |value, part| part_of(value, part) })

    # Missing parts are found when the value is compared.
    def part_of(value, part)
      case value
      when Array, Hash, Struct then value[part]
      else value.instance_variable_get(Descriptions.member(part))
      end
    end

    def do_log(step)
      log = LOG.join(", ")
      LOG.clear
      raise Mismatch, "the log has (#{log}), not (#{step['log'].join(', ')})" if step["log"] && log != step["log"].join(", ")
    end

    def do_classes(step)
      actual = Icecore.classes(bytes(step["bytes"]), step["format"]).map { |use| "#{use[:class]} #{use[:count]} #{use[:path]}" }
      expected = step["list"].map { |name, count, path| "#{Descriptions.string(name)} #{count} #{path}" }
      raise Mismatch, "the classes are (#{actual.join(', ')}), not (#{expected.join(', ')})" if actual != expected
    end

    def do_times(step) = step["times"].times { steps(step["steps"]) }

    # Cuts the bytes everywhere; all must be refused.
    def do_cut(step)
      all_bytes = bytes(step["bytes"])
      (step["from"] || 0).upto(all_bytes.bytesize - 1) do |length|
        do_read(step.merge("bytes" => { "hex" => all_bytes.byteslice(0, length).unpack1("H*") }, "error" => { "kind" => step["kinds"] || ["truncated"] }))
      rescue Mismatch => mismatch
        raise Mismatch, "#{length} bytes: #{mismatch.message}"
      end
    end

    # Changes each byte: it is refused with an error, or read as some value.
    def do_change(step)
      all_bytes = bytes(step["bytes"])
      readers(step).product((0...all_bytes.bytesize).to_a, [1, 0x20, 0x80, 0xff]).each do |reader, index, xor|
        changed = all_bytes.dup
        changed.setbyte(index, changed.getbyte(index) ^ xor)
        reader.call(changed, options(step))
      rescue Icecore::Error => error
        raise Mismatch, "byte #{index} changed by #{xor}: #{error.message}" if error.kind.nil?
      end
    end

    def do_memory(step)
      do_times("times" => step["times"] / 4, "steps" => step["steps"])
      grown = least_growth { do_times(step) }
      raise Mismatch, "grew by #{grown} bytes" if grown > step["most"]
    end
  end
end
