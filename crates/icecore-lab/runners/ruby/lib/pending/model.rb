# frozen_string_literal: true

require_relative "../pending"

module Pending
  # What the runners with the article's model share: all but how objects are put.
  module Model
    def self.create(place)
      column = place.base64? ? :text : :binary
      place.connect.create_table(:pending_objects) { |table| table.column(:object, column) }
      require_relative "pending_object"
      PendingObject.base64 = place.base64?
    end

    def self.each
      found = []
      PendingObject.each { |_, object| found << object }
      found
    end

    def self.empty = PendingObject.connection.truncate(PendingObject.table_name)
    def self.stored = PendingObject.order(:id).pluck(:object)

    SETTINGS = { open: method(:create), each: method(:each), empty: method(:empty), stored: method(:stored) }.freeze
    # Of putting them one by one in one transaction.
    MOST = 5_000
    WHY = "one statement for each takes so long that the others would wait for it"
  end
end
