# frozen_string_literal: true

require "icecore"
require "securerandom"
require_relative "client/error"
require_relative "client/connections"
require_relative "client/requests"
require_relative "client/plain"
require_relative "client/record"
require_relative "client/job"
require_relative "client/worker"

module Icecore
  # Jobs and objects of a daemon (`icecore serve`), frozen and restored by this module.
  #
  #   client = Icecore::Client.new("http://127.0.0.1:7340", classes: [Order])
  #   client.push("mail", order, delay: 60)
  #   client.work("mail") { |job| Mailer.send(job.value) }
  #   client.store(order, key: "order-7", expires: "30d")
  #   client.each { |record, order| ... }
  #
  # Several threads may use it at once.
  class Client
    DEFAULT_URL = "http://127.0.0.1:7340"

    # url: default ICECORE_URL. token: default the first line of token_file, or ICECORE_TOKEN.
    # classes: the classes that may be built, as for Icecore::Marshal.load. format: the format
    # of frozen values; "json" takes plain data. timeout: time limit of an answer in seconds.
    # patience: for how many seconds a repeatable request is repeated while the daemon is away.
    # longest: maximum size of an answer in bytes.
    def initialize(url = nil, token: nil, token_file: nil, classes: nil, format: "marshal", timeout: 30, patience: 10,
                   longest: 64 << 20)
      token ||= token_file ? File.open(token_file) { |file| file.gets.to_s.strip } : presence(ENV["ICECORE_TOKEN"])
      connections = Connections.new(url || presence(ENV["ICECORE_URL"]) || DEFAULT_URL, token, timeout, longest)
      @requests = Requests.new(connections, patience)
      @classes, @format = classes, format.to_s
    end

    # Queues a job; returns its id when it is durable. The id is made here, and sent again if a
    # connection breaks, so a repeated push is one job. delay: seconds, or "5m". after: the id
    # of a job; this one is handed out when that one is done.
    def push(queue, value, format: @format, **options)
      push_bytes(queue, freeze_value(value, format.to_s), format: bare(format), **options)
    end

    # The same with frozen bytes.
    def push_bytes(queue, bytes, format: nil, id: nil, priority: nil, delay: nil, unique: nil, max_attempts: nil, after: nil)
      send_new("/jobs", bytes, format, id, queue: named(queue), priority: priority, delay: seconds(delay), unique: unique,
                                           max_attempts: max_attempts, after: after)
    end

    # Calls the block with each job, and reports its result: see Worker.
    def work(queue, classes: @classes, **options, &block)
      raise ::ArgumentError, "work needs a block" unless block
      thaw = ->(bytes, format) { thaw_value(bytes, format, classes) }
      Worker.new(@requests, named(queue), thaw, **options).run(&block)
    end

    # Returns information about a job as a Hash, or nil.
    def job(id) = found { @requests.insist(:get, "/jobs/#{name_of(id)}") }

    # Queues a job again; returns the new id.
    def replay(id) = @requests.ask(:post, "/jobs/#{name_of(id)}/replay").fetch("id")

    # Stores an object; returns its id when it is durable. expires: seconds, or "7d".
    def store(object, format: @format, **options)
      store_bytes(freeze_value(object, format.to_s), format: bare(format), **options)
    end

    # The same with frozen bytes.
    def store_bytes(bytes, format: nil, id: nil, key: nil, expires: nil)
      send_new("/objects", bytes, format, id, key: key, expires: seconds(expires))
    end

    # Returns the object, or nil.
    def fetch(id, classes: @classes)
      said = found { @requests.insist(:get, "/objects/#{name_of(id)}", query: WHOLE) }
      said && thaw_record(Record.of(said), classes)
    end

    # Returns the object with this key, or nil.
    def fetch_named(key, classes: @classes)
      said = list(@requests.insist(:get, "/objects", query: { **WHOLE, key: named(key) })).first
      said && thaw_record(Record.of(said), classes)
    end

    # Yields each record and its object, in the order in which they were stored; one request
    # fetches a page. If an object can't be restored, it is nil, and its record has a problem.
    # class: only those with an object of this class; problem: true or false; after: only those
    # after this sequence.
    def each(classes: @classes, page: 100, after: 0, **options)
      return enum_for(:each, classes: classes, page: page, after: after, **options) unless block_given?
      unknown = options.keys - %i[class problem]
      raise ::ArgumentError, "unknown keyword: #{unknown.join(', ')}" unless unknown.empty?
      while after
        answer = @requests.insist(:get, "/objects", query: { **WHOLE, limit: page, after: after, **options })
        list(answer).each { |said| yield(*restored(said, classes)) }
        last, after = after, answer["next"]
        # Each page begins after the previous one.
        raise ClientError.new(:answer, "the list does not end") unless after.nil? || (after.is_a?(Integer) && after > last)
      end
      self
    end

    # Removes an object; returns whether it existed.
    def remove(id) = !found { @requests.ask(:delete, "/objects/#{name_of(id)}") }.nil?

    def inspect = "#<#{self.class}>"

    private

    WHOLE = { brief: true, bytes: true }.freeze
    private_constant :WHOLE

    # Sends data that has an id from now on: a repeated request has the same one.
    def send_new(path, bytes, format, id, **query)
      type = format.to_s == "json" ? "application/json" : "application/octet-stream"
      query = { **query, format: format, id: id || uuid }
      said = @requests.insist(:post, path, query: query, body: bytes, type: type)["id"]
      said.is_a?(String) ? said : raise(ClientError.new(:answer, "the answer has no id"))
    end

    def found
      yield
    rescue ClientError => error
      raise unless error.status == 404
    end

    def list(answer)
      objects = answer["objects"]
      objects.is_a?(Array) ? objects.grep(Hash) : []
    end

    def restored(said, classes)
      record = Record.of(said)
      return record, nil if record.problem
      object = begin
        thaw_record(record, classes)
      rescue StandardError => error
        # An error of a hook of an allowed class is a problem of the object, too.
        record.problem = error.message
        nil
      end
      [record, object]
    end

    def freeze_value(value, format)
      case format
      when "marshal" then Icecore::Marshal.dump(value)
      when "json" then Plain.json(value) || raise(ClientError.new(:unrepresentable, "JSON has plain data only"))
      else Icecore.encode(value, format)
      end
    end

    def thaw_record(record, classes) = thaw_value(record.bytes, record.format, classes)

    def thaw_value(bytes, format, classes)
      return Icecore::Marshal.load(bytes, classes: classes) if format == "marshal"
      Icecore.decode(bytes, format, classes: classes)
    end

    # Returns the name of a format without its options, which are for writing.
    def bare(format) = format.to_s.gsub(%r{:[^/]*}, "")

    def seconds(time) = time.is_a?(String) || time.nil? ? time : time.to_f

    def named(name)
      name = name.to_s
      name.empty? ? raise(ClientError.new(:usage, "a name is needed")) : name
    end

    def name_of(id) = Requests.escaped(named(id))

    def presence(text) = text.nil? || text.empty? ? nil : text

    # Returns a UUID of version 7: ids sort by the time of their creation.
    def uuid
      hex = format("%012x", Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)) + SecureRandom.hex(10)
      hex[12] = "7"
      hex[16] = (8 | (hex[16].hex & 3)).to_s(16)
      hex.unpack("a8a4a4a4a12").join("-")
    end
  end
end
