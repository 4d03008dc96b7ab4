# frozen_string_literal: true

require_relative "../pending"

module Pending
  # The article's model without a mapper: a document of MongoDB holds an object, as Marshal dumps it, in a field
  # of bytes or, as Base64, in a string. Mappers of that time sent only text.
  module Collection
    class << self
      attr_accessor :marshal

      def create(place)
        @place = place
        @objects = place.connect[:pending_objects]
        @marshal ||= Marshal
      end

      def store(object) = @objects.insert_one(object: frozen_form(object))
      def store_all(objects) = @objects.insert_many(objects.map { |object| { object: frozen_form(object) } })
      def each = @objects.find.map { |record| restore(record["object"]) }
      def empty = @place.empty([:pending_objects])
      def stored = @place.column(:pending_objects, "object", "_id")

      private

      def frozen_form(object)
        bytes = @marshal.dump(object)
        @place.base64? ? [bytes].pack("m0") : BSON::Binary.new(bytes)
      end

      def restore(value) = @marshal.load(@place.base64? ? value.unpack1("m0") : value.data)
    end

    SETTINGS = { open: method(:create), each: method(:each), empty: method(:empty), stored: method(:stored) }.freeze
  end
end
