# frozen_string_literal: true

# Signed and encrypted messages of Rails, with ours instead of Marshal.

require_relative "lib"
needs "active_support/all", "ActiveSupport: ruby-activesupport"
require "active_support/message_verifier"
require "active_support/message_encryptor"
require "icecore"

puts "# ActiveSupport #{ActiveSupport::VERSION::STRING}"
Time.zone = "UTC"

class Note
  attr_reader :text

  def initialize(text) = @text = text
  def ==(other) = other.is_a?(Note) && text == other.text
end

# Records that it was built.
class Hostile
  @built = 0
  class << self
    attr_accessor :built
  end

  def marshal_dump = 1
  def marshal_load(_) = self.class.built += 1
end

OURS = Icecore::Rails::MessageSerializer.new(classes: Note)
VALUES = [nil.to_s, 1, "Grüße", { user_id: 1, "flash" => ["a"] }, Time.zone.at(0), 3.days, Note.new("x")].freeze

ours = ActiveSupport::MessageVerifier.new("secret", serializer: OURS)
theirs = ActiveSupport::MessageVerifier.new("secret", serializer: Marshal)
VALUES.each do |value|
  same("signed: ours generates the same text, #{value.inspect}", theirs.generate(value), ours.generate(value))
  same("signed: theirs verifies ours, #{value.inspect}", value, theirs.verify(ours.generate(value)))
  same("signed: ours verifies theirs, #{value.inspect}", value, ours.verify(theirs.generate(value, purpose: :login), purpose: :login))
end
same("signed: a message for another purpose is invalid", nil, ours.verified(theirs.generate(1, purpose: :login), purpose: :reset))
same("signed: a message with another secret is invalid", nil, ours.verified(ActiveSupport::MessageVerifier.new("other", serializer: Marshal).generate(1)))
error, = raised { ours.verify(theirs.generate([Hostile.new])) }
same("signed: a refused class is not built", [true, 0], [error <= Icecore::ClassError || error <= ActiveSupport::MessageVerifier::InvalidSignature, Hostile.built])

%w[aes-256-gcm aes-256-cbc].each do |cipher|
  key = "k" * ActiveSupport::MessageEncryptor.key_len(cipher)
  ours = ActiveSupport::MessageEncryptor.new(key, cipher: cipher, serializer: OURS)
  theirs = ActiveSupport::MessageEncryptor.new(key, cipher: cipher, serializer: Marshal)
  VALUES.each do |value|
    same("#{cipher}: theirs decrypts ours, #{value.inspect}", value, theirs.decrypt_and_verify(ours.encrypt_and_sign(value)))
    same("#{cipher}: ours decrypts theirs, #{value.inspect}", value, ours.decrypt_and_verify(theirs.encrypt_and_sign(value, expires_in: 100)))
  end
  raises("#{cipher}: a message with a refused class is invalid", ActiveSupport::MessageEncryptor::InvalidMessage, "") { ours.decrypt_and_verify(theirs.encrypt_and_sign(Hostile.new)) }
  same("#{cipher}: a refused class is not built", 0, Hostile.built)
end
raises("classes: [:report] is rejected", ArgumentError, "name the classes") { Icecore::Rails::MessageSerializer.new(classes: [:report]) }
