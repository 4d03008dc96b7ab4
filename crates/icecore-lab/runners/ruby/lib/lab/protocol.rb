# frozen_string_literal: true

require "json"

module Lab
  # Questions on standard input, answers on standard output, one a line.
  class Protocol
    def initialize(runner)
      @runner = runner
      @answers = $stdout.dup
      @answers.sync = true
      $stdout.reopen($stderr) # output of libraries must not be taken for an answer
    end

    def serve
      while (line = $stdin.gets)
        @answers.puts(JSON.generate(answer(JSON.parse(line))))
      end
    end

    private

    def answer(question)
      @runner.answer(question)
    rescue Cannot => e
      { cannot: words(e) }
    rescue StandardError, ScriptError, SystemStackError, NoMemoryError => e
      { error: "#{e.class}: #{words(e)}" }
    end

    def words(error)
      error.message.dup.force_encoding(Encoding::UTF_8).scrub.lines.first.to_s.chomp[0, 200]
    end
  end
end
