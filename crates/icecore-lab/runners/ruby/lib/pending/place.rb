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
      { "sqlite" => Sqlite, "postgres" => Postgres, "mariadb" => MariaDB, "mongodb" => MongoDB }.fetch(name).new(form == "base64")
    end

    def initialize(base64)
      @base64 = base64
    end

    def base64? = @base64
    def title = base64? ? "#{self.class::TITLE}, Base64" : self.class::TITLE
    def driver = self.class::DRIVER
    def libraries = ["active_record", driver]

    # Of what a program in Ruby uses there.
    def version
      require "active_record/gem_version"
      ActiveRecord.gem_version
    end

    # The answer to `hello`, if there is no such database.
    def missing = nil

    # ActiveRecord's connection.
    def connect
      require "active_record"
      ActiveRecord::Base.establish_connection(settings)
      ActiveRecord::Base.connection
    end

    def empty(tables) = tables.each { |table| ActiveRecord::Base.connection.truncate(table) }

    # What lies in this column, in the order of another one.
    def column(table, name, order)
      Class.new(ActiveRecord::Base) { self.table_name = table }.order(order).pluck(name)
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
      create(name)
      @address = server.sub(%r{\A(\w+://[^/?]*)(/[^?]*)?}) { "#{$1}/#{name}" }
      self
    end

    # All are on one machine, and none is to pay for encryption that another has not.
    def address
      @address.include?("?") ? @address : "#{@address}?sslmode=disable"
    end

    private

    def create(name) = connect.execute("CREATE DATABASE #{name}")

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

  # A database there is when something is put into it.
  class MongoDB < Server
    TITLE = "MongoDB"
    DRIVER = "mongo"
    VARIANT = "mongodb"
    VARIABLE = "ICECORE_TEST_MONGODB"

    def libraries = [driver]

    def version
      require "mongo/version"
      Mongo::VERSION
    end

    def address = @address

    # The connection of the driver. Its settings match those of most servers.
    def connect
      @connect ||= self.class.client(@address)
    end

    def empty(collections) = collections.each { |name| connect[name].delete_many }

    def column(collection, name, order)
      found = connect[collection].find.sort(order => 1).projection(name => 1)
      found.map { |record| record[name].then { |value| value.is_a?(BSON::Binary) ? value.data : value } }
    end

    def drop(server, name)
      client = self.class.client(server)
      client.use(name).database.drop
    end

    def self.client(address)
      require "mongo"
      Mongo::Logger.logger.level = Logger::WARN
      at = URI(address)
      Mongo::Client.new(["#{at.host}:#{at.port || 27_017}"], database: at.path.delete_prefix("/"), write: { w: :majority, j: true })
    end

    private

    def create(_) = nil
  end
end
