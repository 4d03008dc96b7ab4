# frozen_string_literal: true

require "rbconfig"
require "securerandom"
require "uri"

module Pending
  # A database with a column of bytes, or one of text, which takes Base64. Each process makes
  # a database of its own, which is gone when the process has ended.
  class Place
    # The variants: these names, and the same with -base64.
    def self.of(variant)
      name, form = variant.split("-", 2)
      { "sqlite" => Sqlite, "postgres" => Postgres, "mariadb" => MariaDB }.fetch(name).new(form == "base64")
    end

    def initialize(base64)
      @base64 = base64
    end

    def base64? = @base64
    def title = base64? ? "#{self.class::TITLE}, Base64" : self.class::TITLE
    def driver = self.class::DRIVER

    # The answer to `hello`, if there is no such database.
    def missing = nil

    # ActiveRecord's connection.
    def connect
      require "active_record"
      ActiveRecord::Base.establish_connection(settings)
      ActiveRecord::Base.connection
    end
  end

  # A file.
  class Sqlite < Place
    TITLE = "SQLite"
    DRIVER = "sqlite3"

    def ready(folder)
      @file = File.join(folder, "pending-#{Process.pid}.db")
      self
    end

    # Where it is, as the command `icecore` understands it.
    def address = "sqlite:#{@file}"

    # Newer versions of Rails let a commit return before it is on the disk.
    def connect
      super.tap { |connection| connection.execute("PRAGMA synchronous = FULL") }
    end

    private

    def settings = { adapter: "sqlite3", database: @file }
  end

  # A server whose address is in the environment; its user may make databases.
  class Server < Place
    def missing
      return unless ENV.fetch(self.class::VARIABLE, "").empty?

      { missing: "a #{self.class::TITLE} that #{self.class::VARIABLE} names",
        install: "scripts/servers.sh run icecore bench pending-store" }
    end

    def ready(_)
      @address = server = ENV.fetch(self.class::VARIABLE)
      name = "icecore_lab_#{Process.pid}_#{SecureRandom.hex(4)}"
      drop_at_end(name)
      connect.execute("CREATE DATABASE #{name}")
      @address = server.sub(%r{\A(\w+://[^/?]*)(/[^?]*)?}) { "#{$1}/#{name}" }
      self
    end

    # All are on one machine, and none is to pay for encryption that another has not.
    def address
      @address.include?("?") ? @address : "#{@address}?sslmode=disable"
    end

    private

    # The lab may end this process in the middle of anything. Another one sees that, and takes the
    # database away.
    def drop_at_end(name)
      cleaner = [RbConfig.ruby, File.join(__dir__, "cleaner.rb")]
      @cleaner = IO.popen(cleaner, "w", out: File::NULL, err: File::NULL)
      @cleaner.puts(self.class::VARIANT, name)
      @cleaner.flush
    end

    def settings
      { **self.class::MORE, url: @address.sub(/\A\w+/, self.class::ADAPTER) }
    end
  end

  class Postgres < Server
    TITLE = "PostgreSQL"
    DRIVER = "pg"
    VARIANT = "postgres"
    VARIABLE = "ICECORE_TEST_POSTGRES"
    ADAPTER = "postgresql"
    MORE = { sslmode: "disable" }.freeze

    # For the process that stays behind, which does not load ActiveRecord while others are measured.
    def drop(server, name)
      PG.connect(server) { |connection| connection.exec("DROP DATABASE IF EXISTS #{name} WITH (FORCE)") }
    end
  end

  class MariaDB < Server
    TITLE = "MariaDB"
    DRIVER = "mysql2"
    VARIANT = "mariadb"
    VARIABLE = "ICECORE_TEST_MYSQL"
    ADAPTER = "mysql2"
    MORE = { encoding: "utf8mb4" }.freeze

    def drop(server, name)
      at = URI(server)
      user, password = [at.user, at.password].map { |text| text && URI::DEFAULT_PARSER.unescape(text) }
      client = Mysql2::Client.new(host: at.host, port: at.port || 3306, username: user, password: password)
      client.query("DROP DATABASE IF EXISTS #{name}")
    end
  end
end
