# frozen_string_literal: true

require_relative "memory"
require_relative "reference"

module Lab
  # What `load` said.
  Load = Struct.new(:scenario, :medium, :file, :code, :folder, :parameters, :value, keyword_init: true)

  # Answers questions with the blocks of one competitor.
  class Runner
    PROTOCOL = 1

    def initialize(name, settings, missing)
      @name = name
      @version, @prepare, @build, @scenarios = settings.values_at(:version, :prepare, :build, :scenarios)
      @write, @read, @to_json = settings.values_at(:write, :read, :to_json)
      @before, @stored = settings.values_at(:before, :stored)
      @missing = missing
    end

    def answer(question)
      case question["do"]
      when "hello" then hello
      when "load" then load(question)
      when "check" then check(question["answer"], question["bytes"])
      when "time" then { ns: time(question["operation"], Integer(question["times"])) }
      when "memory" then { steps: memory }
      else { error: "there is nothing called #{question["do"]}" }
      end
    end

    # What `to-json` starts: this script again.
    def to_json_file(from, to)
      bytes = File.binread(from)
      return File.write(to, @to_json.call(bytes)) if @to_json.respond_to?(:call)

      require "json"
      File.write(to, JSON.generate(@read.call(bytes)))
    end

    private

    def hello
      return @missing if @missing

      answer = { protocol: PROTOCOL, name: @name, version: @version.call.to_s, runtime: RUBY_VERSION,
                 reference: "marshal", operations: operations }
      answer[:role] = "floor" if @build
      answer[:scenarios] = @scenarios if @scenarios
      answer
    end

    def operations
      return ["read"] if @build

      ["write", "read", "round-trip"] + (@to_json ? ["to-json"] : [])
    end

    def load(question)
      @memory = Memory.new
      @memory.step("start")
      @load = Load.new(**question.slice(*Load.members.map(&:to_s)).transform_keys(&:to_sym))
      @sample = @writer = @reader = nil
      require @load.code if @load.code
      @load.value = Reference.read(@load.file)
      @memory.step("data")
      @prepare&.call(@load)
      choose_medium
      { ok: true }
    end

    # From here on there is one block that writes and one that reads, whatever the medium.
    def choose_medium
      return @reader = @build.call(@load.value) if @build

      @writer, @reader = @write, @read
      return unless @load.medium == "file"

      write, read, path = @write, @read, File.join(@load.folder, "value")
      @writer = lambda do |value|
        File.binwrite(path, Runner.one(write.call(value)))
        path
      end
      @reader = ->(file) { read.call(File.binread(file)) }
    end

    # A file holds one string.
    def self.one(written)
      written.is_a?(String) ? written : raise(Cannot, "it writes many strings, which one file does not hold")
    end

    # Written once, for reading; not before it is needed, so that it is in no memory step.
    def sample
      return @sample if @sample
      return @sample = "" if @build

      @before&.call
      @sample = @writer.call(@load.value)
    end

    def loaded
      @reader ? @load : raise("nothing is loaded")
    end

    def check(answer, bytes)
      loaded
      written = sample
      written = File.binread(written) if @load.medium == "file" && !@build
      written = Array(@stored ? @stored.call : written).join
      File.binwrite(bytes, written)
      File.binwrite(answer, Marshal.dump(@reader.call(sample)))
      { size: written.bytesize }
    end

    def time(operation, times)
      value, writer, reader = loaded.value, @writer, @reader
      raise Cannot, "#{operation}: it only builds values" if @build && operation != "read"

      case operation
      when "write" then clock_writing(times) { writer.call(value) }
      when "read"
        bytes = sample
        clock(times) { reader.call(bytes) }
      when "round-trip" then clock_writing(times) { reader.call(writer.call(value)) }
      when "to-json" then to_json(times)
      else raise Cannot, "#{operation} is not for Ruby"
      end
    end

    def clock(times)
      i = 0
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
      while i < times
        yield
        i += 1
      end
      Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - start
    end

    # What has to be done before an execution is not timed.
    def clock_writing(times, &execution)
      return clock(times, &execution) unless @before

      Array.new(times) do
        @before.call
        clock(1, &execution)
      end.sum
    end

    def to_json(times)
      raise Cannot, "to-json: it does not offer that" unless @to_json
      raise Cannot, "to-json: what JSON is to an object, its class would have to say" if @load.code

      from, to = File.join(@load.folder, "value"), File.join(@load.folder, "json")
      File.binwrite(from, Runner.one(sample)) unless @load.medium == "file" && sample
      command = [RbConfig.ruby, $PROGRAM_NAME, "--to-json", from, to]
      clock(times) { system(*command) or raise "the process for JSON failed" }
    end

    def memory
      raise Cannot, "memory: it only builds values" if @build

      bytes = @writer.call(loaded.value)
      @memory.step("written")
      @load.value = nil
      @memory.step("freed")
      back = @reader.call(bytes)
      @memory.step("read")
      back && bytes ? @memory.steps : []
    end
  end
end
