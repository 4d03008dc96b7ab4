# frozen_string_literal: true

# The same objects.
require_relative "ruby-base64"
