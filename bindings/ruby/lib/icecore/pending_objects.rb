# frozen_string_literal: true

require "icecore"

module Icecore
  # Objects that wait in a database: frozen in a column of any model, and restored later.
  #
  #   pending = Icecore::PendingObjects.new(PendingJob, column: :object, classes: [Order])
  #   record = pending.store(order, queue: "mail")
  #   pending.restore(record)
  #   pending.each { |record, order| ... }
  #
  # A binary column contains the bytes; a text column contains strict Base64. With a model that
  # has no `columns_hash` (such as one of Mongoid), Base64 is used unless `base64: false` is
  # given. When reading, the form is detected: both forms are read from both kinds of columns.
  class PendingObjects
    include Enumerable

    attr_reader :model, :column

    # model: an object with create! and find_each (or each): a class of ActiveRecord, a
    # relation, a class of Mongoid. classes: as for Icecore::Marshal.load.
    def initialize(model, column: :object, classes: nil, base64: nil, batch_size: 1000)
      @model = model
      @column = column.to_sym
      @classes = classes
      @base64 = base64
      @batch_size = batch_size
    end

    # Creates and returns a record with the object and these attributes.
    def store(object, **attributes)
      @model.create!(**attributes, @column => freeze_object(object))
    end

    # Returns the object of a record. Raises for classes that are not allowed.
    def restore(record)
      frozen = record[@column]
      raise Icecore::TypeError, "there is no object" unless frozen.is_a?(String)
      Icecore::Marshal.load(bytes_of(frozen), classes: @classes)
    rescue Icecore::Error => error
      raise error.exception("#{error.message} (in #{@column} of #{describe(record)})")
    end

    # Yields each record with its object, in batches if the model has find_each.
    def each
      return enum_for(:each) unless block_given?
      records { |record| yield record, restore(record) }
      self
    end

    private

    # The first bytes of a dump: version 4.8.
    MARSHAL_HEAD = "\x04\x08"
    private_constant :MARSHAL_HEAD

    def freeze_object(object)
      bytes = Icecore::Marshal.dump(object)
      base64? ? [bytes].pack("m0") : bytes
    end

    def bytes_of(frozen)
      return frozen if frozen.byteslice(0, 2) == MARSHAL_HEAD
      # Base64.encode64 writes line breaks, and strict Base64 ("m0") does not accept them.
      frozen = frozen.delete("\r\n") if frozen.include?("\n")
      frozen.unpack1("m0")
    rescue ::ArgumentError
      raise Icecore::TypeError, "neither a dump of Marshal nor its Base64"
    end

    # Determined at the first use, because a model may be passed before its database exists.
    def base64?
      return @base64 unless @base64.nil?
      column = @model.columns_hash[@column.to_s] if @model.respond_to?(:columns_hash)
      @base64 = column.nil? || column.type != :binary
    end

    def records(&block)
      if @model.respond_to?(:find_each)
        @model.find_each(batch_size: @batch_size, &block)
      else
        @model.each(&block)
      end
    end

    def describe(record)
      id = record.respond_to?(:id) ? record.id : nil
      [record.class.name, id].compact.join(" ")
    end
  end
end
