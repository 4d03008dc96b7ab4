# frozen_string_literal: true

require_relative "checker"
require_relative "classes"

module Behaviour
  # Runs a line of the behaviour list in Ruby.
  class Driver
    HOST = "ruby"
    HAS = %w[bool regexp code freeze-hooks thaw-hooks].freeze
    # The default is smaller, and some lines exceed it.
    DEPTH = { max_depth: 10_000 }.freeze

    def self.lines(file)
      File.foreach(file).map do |text|
        line = JSON.parse(text, max_nesting: false)
        here = line.delete(HOST) || {}
        line.merge(here).reject { |name, _| here.key?(name) && here[name].nil? && name == "error" }
      end
    end

    # [verdict, why]: :passed, :failed, :skipped, :open, :other
    def self.run(line)
      return [:other, ""] if line["hosts"] && !line["hosts"].include?(HOST)
      lacks = (line["needs"] || []) - HAS - (memory_held ? ["memory"] : [])
      return [:skipped, "Ruby lacks #{lacks.join(' ')}"] unless lacks.empty?
      return [:open, line["open"]] if line["open"]
      LOG.clear
      Classes.all_of(line)
      new.steps(line["do"] ? [line] : line["steps"])
      [:passed, ""]
    rescue Part, Unsaid => part
      [:failed, part.message]
    rescue StandardError, SystemStackError, NoMemoryError => error
      [:failed, "#{error.class}: #{error.message} at #{error.backtrace&.first}"]
    end

    # The action of the hooks of Reenters: another document, while one is being made or read.
    def self.nested
      value = [1, { "a" => 2 }]
      raise Part, "a nested document was not read" unless IMPL.load(IMPL.dump(value)) == value
    end

    def initialize
      @values = {}
      @written = +""
    end

    def steps(steps)
      steps.each_with_index do |step, at|
        verb = :"do_#{step['do']}"
        raise Part, "there is no step #{step['do']}" unless respond_to?(verb, true)
        send(verb, step)
      rescue Part => part
        raise steps.size > 1 ? Part.new("step #{at}, #{step['do']}: #{part.message}") : part
      end
    end

    private

    # Calls code that may be refused, and compares the error with the one that the step expects.
    def guarded(step)
      logged = LOG.size
      result = yield
    rescue Icecore::Error, HookSaysNo => error
      hold(step, error, LOG.drop(logged))
      nil
    else
      raise Part, "it was not refused, but gave #{Checker.shown(result)}" if step["error"]
      result
    end

    def hold(step, error, ran)
      found = { "says" => error.message, "kind" => "hook" }
      if error.is_a?(Icecore::Error)
        found.update("kind" => error.kind.to_s.tr("_", "-"), "offset" => error.offset, "path" => error.path)
        raise Part, "the kind #{found['kind']} in #{error.class}" if (found["kind"] == "class") != error.is_a?(Icecore::ClassError)
      end
      raise Part, "refused: #{found['kind']}, #{found['says']}" unless step["error"]
      # A refused call has built nothing, and run nothing.
      raise Part, "ran: #{ran.join(', ')}" if ran.any? && found["kind"] != "hook"
      step["error"].each { |fact, want| fact(found, fact, want) }
    end

    def fact(found, fact, want)
      got = found[fact]
      good = if want.is_a?(Array) then want.include?(got)
             # A class may be named as in the data.
             elsif fact == "says" then got.include?(want) || got.include?(Words.name(want))
             else got == want
             end
      raise Part, "the error has #{fact} #{got || 'nothing'}, not #{Array(want).join(' ')}: #{found['kind']} at offset #{found['offset'] || 'none'}, #{found['says']}" unless good
    end

    def bytes(said) = Words.bytes(said, @written)

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
      classes = classes&.map { |name| Words.name(name) }
      classes = [*classes, "Regexp"] if step["value"].to_s.include?('"regexp"=>') || step["value"].to_s.include?('"regexp" =>')
      classes ? DEPTH.merge(classes: classes) : DEPTH
    end

    def do_read(step)
      bytes = bytes(step["bytes"])
      readers(step).each do |reader|
        value = guarded(step) { reader.call(bytes.dup, options(step)) }
        next if step["error"]
        @values[step["as"] || "it"] = value
        Checker.new(ordered: !step["format"].end_with?("json")).check(step["value"], value) if step.key?("value")
      end
    end

    def do_write(step)
      value = step.key?("value") ? Builder.new.build(step["value"]) : @values[step["of"] || "it"]
      writers(step).each do |writer|
        bytes = guarded(step) { writer.call(value) }
        next if step["error"]
        out = step.key?("out") ? bytes(step["out"]) : bytes
        raise Part, "wrote #{bytes.b.inspect[0, 500]}, not #{out.b.inspect[0, 500]}" if bytes.b != out.b
        @written = bytes
      end
    end

    def do_make(step) = @values[step["as"] || "it"] = Builder.new.build(step["value"])
    def do_match(step) = Checker.new.check(step["value"], @values[step["of"] || "it"])
    def do_forget(_step) = @values.clear

    def do_set(step)
      *way, last = step["path"]
      holder = way.reduce(@values[step["of"] || "it"]) { |value, part| place(value, part) }
      item = Builder.new.build(step["value"])
      holder.is_a?(Array) || holder.is_a?(Hash) || holder.is_a?(Struct) ? holder[last] = item : holder.instance_variable_set(Words.member(last), item)
    end

    def do_get(step) = Checker.new.check(step["value"], step["path"].reduce(@values[step["of"] || "it"]) { |value, part| place(value, part) })

    # Missing parts are found when the value is compared.
    def place(value, part)
      case value
      when Array, Hash, Struct then value[part]
      else value.instance_variable_get(Words.member(part))
      end
    end

    def do_log(step)
      log = LOG.join(", ")
      LOG.clear
      raise Part, "the log has (#{log}), not (#{step['log'].join(', ')})" if step["log"] && log != step["log"].join(", ")
    end

    def do_classes(step)
      found = Icecore.classes(bytes(step["bytes"]), step["format"]).map { |one| "#{one[:class]} #{one[:count]} #{one[:path]}" }
      want = step["list"].map { |name, count, path| "#{Words.string(name)} #{count} #{path}" }
      raise Part, "the classes are (#{found.join(', ')}), not (#{want.join(', ')})" if found != want
    end

    def do_times(step) = step["times"].times { steps(step["steps"]) }

    # Cuts the bytes everywhere; all must be refused.
    def do_cut(step)
      whole = bytes(step["bytes"])
      (step["from"] || 0).upto(whole.bytesize - 1) do |length|
        do_read(step.merge("bytes" => { "hex" => whole.byteslice(0, length).unpack1("H*") }, "error" => { "kind" => step["kinds"] || ["truncated"] }))
      rescue Part => part
        raise Part, "#{length} bytes: #{part.message}"
      end
    end

    # Changes each byte: it is refused with an error, or read as some value.
    def do_change(step)
      whole = bytes(step["bytes"])
      readers(step).product((0...whole.bytesize).to_a, [1, 0x20, 0x80, 0xff]).each do |reader, at, xor|
        changed = whole.dup
        changed.setbyte(at, changed.getbyte(at) ^ xor)
        reader.call(changed, options(step))
      rescue Icecore::Error => error
        raise Part, "byte #{at} changed by #{xor}: #{error.message}" if error.kind.nil?
      end
    end

    def do_memory(step)
      do_times("times" => step["times"] / 4, "steps" => step["steps"])
      grown = least_growth { do_times(step) }
      raise Part, "grew by #{grown} bytes" if grown > step["most"]
    end
  end
end
