# frozen_string_literal: true

# The article's model: a record holds an object, as Marshal dumps it, in a column of bytes or,
# as Base64, in one of text.
class PendingObject < ActiveRecord::Base
  class << self
    attr_accessor :base64

    def store(object) = create!(object: frozen_form(object))

    def each
      find_each { |record| yield record, record.restore }
    end

    def frozen_form(object)
      bytes = Marshal.dump(object)
      base64 ? [bytes].pack("m0") : bytes
    end
  end

  def restore
    Marshal.load(self.class.base64 ? object.unpack1("m0") : object)
  end
end
