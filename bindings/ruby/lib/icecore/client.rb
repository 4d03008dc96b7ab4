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
  # Several threads may use a client at once.
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

    # Queues a job; returns its id when the job is durable. The client creates the id. If a
    # connection breaks, it sends the same id again, so a repeated push adds no second job.
    # delay: seconds, or "5m". after: the id of a job that must be done first.
    def push(queue, value, format: @format, **options)
      push_bytes(queue, freeze_value(value, format.to_s), format: without_options(format), **options)
    end

    # Queues a job whose payload is frozen already.
    def push_bytes(queue, bytes, format: nil, id: nil, priority: nil, delay: nil, unique: nil, max_attempts: nil, after: nil)
      post_new("/jobs", bytes, format, id, queue: require_name(queue), priority: priority, delay: seconds(delay),
                                           unique: unique, max_attempts: max_attempts, after: after)
    end

    # Calls the block with each job, and reports the result of the block: see Worker.
    def work(queue, classes: @classes, **options, &block)
      raise ::ArgumentError, "work needs a block" unless block
      thaw = ->(bytes, format) { thaw_value(bytes, format, classes) }
      Worker.new(@requests, require_name(queue), thaw, **options).run(&block)
    end

    # Returns information about a job as a Hash, or nil.
    def job(id) = nil_if_missing { @requests.send_with_retries(:get, "/jobs/#{path_segment(id)}") }

    # Queues a job again; returns the new id.
    def replay(id) = @requests.send_once(:post, "/jobs/#{path_segment(id)}/replay").fetch("id")

    # Stores an object; returns its id when it is durable. expires: seconds, or "7d".
    def store(object, format: @format, **options)
      store_bytes(freeze_value(object, format.to_s), format: without_options(format), **options)
    end

    # Stores bytes that are frozen already.
    def store_bytes(bytes, format: nil, id: nil, key: nil, expires: nil)
      post_new("/objects", bytes, format, id, key: key, expires: seconds(expires))
    end

    # Returns the object, or nil.
    def fetch(id, classes: @classes)
      fields = nil_if_missing { @requests.send_with_retries(:get, "/objects/#{path_segment(id)}", query: WHOLE) }
      fields && thaw_record(Record.of(fields), classes)
    end

    # Returns the object with this key, or nil.
    def fetch_named(key, classes: @classes)
      answer = @requests.send_with_retries(:get, "/objects", query: { **WHOLE, key: require_name(key) })
      fields = objects_in(answer).first
      fields && thaw_record(Record.of(fields), classes)
    end

    # Yields each record and its object, in the order in which they were stored. Each request
    # fetches `page` objects. If an object can't be restored, it is nil, and its record has a
    # problem. class: only objects of this class. problem: only objects with a problem (true) or
    # without (false). after: only objects after this sequence number.
    def each(classes: @classes, page: 100, after: 0, **options)
      return enum_for(:each, classes: classes, page: page, after: after, **options) unless block_given?
      unknown = options.keys - %i[class problem]
      raise ::ArgumentError, "unknown keyword: #{unknown.join(', ')}" unless unknown.empty?
      while after
        answer = @requests.send_with_retries(:get, "/objects", query: { **WHOLE, limit: page, after: after, **options })
        objects_in(answer).each { |fields| yield(*restore(fields, classes)) }
        previous, after = after, answer["next"]
        # Each page must begin after the previous one. Otherwise this loop would not end.
        is_valid = after.nil? || (after.is_a?(Integer) && after > previous)
        raise ClientError.new(:answer, "the list does not end") unless is_valid
      end
      self
    end

    # Removes an object. Returns true if it existed.
    def remove(id) = !nil_if_missing { @requests.send_once(:delete, "/objects/#{path_segment(id)}") }.nil?

    def inspect = "#<#{self.class}>"

    private

    # Query parameters: records without details, but with their bytes.
    WHOLE = { brief: true, bytes: true }.freeze
    private_constant :WHOLE

    # Posts a new job or object, and returns its id. A repeated request has the same id.
    def post_new(path, bytes, format, id, **query)
      type = format.to_s == "json" ? "application/json" : "application/octet-stream"
      query = { **query, format: format, id: id || uuid }
      id = @requests.send_with_retries(:post, path, query: query, body: bytes, type: type)["id"]
      id.is_a?(String) ? id : raise(ClientError.new(:answer, "the answer has no id"))
    end

    # Returns the result of the block, or nil if the daemon answers 404.
    def nil_if_missing
      yield
    rescue ClientError => error
      raise unless error.status == 404
    end

    def objects_in(answer)
      objects = answer["objects"]
      objects.is_a?(Array) ? objects.grep(Hash) : []
    end

    # Returns a record and its object.
    def restore(fields, classes)
      record = Record.of(fields)
      return record, nil if record.problem
      object = begin
        thaw_record(record, classes)
      rescue StandardError => error
        # The error may also come from a hook of an allowed class.
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

    # Returns a format without its options. They are needed only for writing.
    def without_options(format) = format.to_s.gsub(%r{:[^/]*}, "")

    def seconds(time) = time.is_a?(String) || time.nil? ? time : time.to_f

    # Returns a name as a String; raises if it is empty.
    def require_name(name)
      name = name.to_s
      name.empty? ? raise(ClientError.new(:usage, "a name is needed")) : name
    end

    # Returns an id as a part of a URL.
    def path_segment(id) = Requests.escape(require_name(id))

    def presence(text) = text.nil? || text.empty? ? nil : text

    # Returns a UUID of version 7, so that ids sort by the time of their creation.
    def uuid
      hex = format("%012x", Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)) + SecureRandom.hex(10)
      hex[12] = "7"
      hex[16] = (8 | (hex[16].hex & 3)).to_s(16)
      hex.unpack("a8a4a4a4a12").join("-")
    end
  end
end
