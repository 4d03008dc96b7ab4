# frozen_string_literal: true

require_relative "../pending"

module Pending
  # The command `icecore` with its store, as a program in Ruby uses it: frozen objects go in and
  # come out by a pipe, each with its length before it. Marshal stays Ruby's.
  module Command
    PROGRAM = ENV["LAB_COMMAND"]
    FRAME = "u32be"

    class << self
      def version = IO.popen([PROGRAM, "--version"], &:read).split.last

      def create(place)
        @address = place.address
        @put = ["put", "--each=#{FRAME}", "--from=marshal", *("--base64" if place.base64?)]
        @column = place.base64? ? "base64" : "bytes"
        run(*@put, "wb") { |input| input.close_write } # makes the tables
        @place = place
        place.connect
      end

      def put(objects)
        run(*@put, "wb") do |input|
          objects.each do |object|
            bytes = Marshal.dump(object)
            input << [bytes.bytesize].pack("N") << bytes
          end
        end
      end

      def each
        found = []
        run("each", "--bytes=#{FRAME}", "rb") do |output|
          while (size = output.read(4))
            found << Marshal.load(output.read(size.unpack1("N")))
          end
        end
        found
      end

      def empty = @place.empty(%w[icecore_object_classes icecore_objects])

      # The table is the store's, which says so in its page.
      def stored = @place.column("icecore_objects", @column, "seq")

      private

      # Runs `icecore store`, with a pipe to it or from it.
      def run(*words, mode, &block)
        said = mode == "wb" ? { out: File::NULL } : {}
        IO.popen([{ "ICECORE_DB" => @address }, PROGRAM, "--quiet", "store", *words, { err: "store.said", **said }], mode, &block)
        raise "icecore store #{words.first}: #{File.read("store.said").lines.last}" unless $?.success?
      end
    end

    Lab.lacks({ missing: "the command icecore", install: "make install" }) unless PROGRAM
    SETTINGS = %i[version put each empty stored].to_h { |name| [name, method(name)] }.merge(open: method(:create)).freeze
  end
end
