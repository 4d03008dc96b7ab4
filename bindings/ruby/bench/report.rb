# frozen_string_literal: true

module IcecoreBench
  # Formats the measurements for printing.
  class Report
    # Limit for the time of Base64, in percent of Icecore's own time.
    MAX_BASE64_PERCENT = 5

    def initialize(rounds)
      @rounds = rounds
      @rows = []
      @base64 = []
      @versions = ALL.to_h { |participant| [participant.name, participant.version] }
      @names = @versions.keys
    end

    def empty? = @rows.empty? && @base64.empty?

    # `times` is the result of measure(), `bytes` the output of each participant.
    def add(sample, operation, times, bytes)
      ours = times.fetch(ICECORE)
      others = times.reject { |participant, _| participant == ICECORE }
      row = {
        operation: operation, set: sample.name, unit: sample.unit, objects: sample.objects,
        bytes: bytes.to_h { |participant, measured| [participant.name, sample.size_of(measured)] },
        ns: times.to_h { |participant, measured| [participant.name, IcecoreBench.median(measured) / sample.objects] },
        times: others.to_h { |participant, measured| [participant.name, IcecoreBench.median_ratio(measured, ours)] },
        wanted: sample[operation]
      }
      @rows << row
      row
    end

    def add_base64(sample, operation, times)
      percent = ->(with, without) { (IcecoreBench.median_ratio(times.fetch(with), times.fetch(without)) - 1) * 100 }
      row = {
        operation: operation, set: sample.name, unit: sample.unit, objects: sample.objects,
        ns: times.to_h { |participant, measured| [participant.name, IcecoreBench.median(measured) / sample.objects] },
        times: IcecoreBench.median_ratio(times.fetch(MARSHAL_BASE64), times.fetch(ICECORE_BASE64)),
        percent: { MARSHAL.name => percent[MARSHAL_BASE64, MARSHAL], ICECORE.name => percent[ICECORE_BASE64, ICECORE] },
        most: MAX_BASE64_PERCENT
      }
      @base64 << row
      row
    end

    def to_h
      { ruby: RUBY_DESCRIPTION, versions: @versions, rounds: @rounds, sets: @rows, base64: @base64 }
    end

    # -- Plain text, each line as soon as it is measured -----------------------------

    def heading
      others = @names.drop(2).map { |name| format(" %11s %6s", name, "times") }
      <<~TEXT
        #{@versions.map { |name, version| "#{name} #{version}" }.join(", ")}; #{@rounds} rounds
        ns an object, hash, int or call; times: how many times as fast Icecore is

        #{format("%-4s %-26s %9s %9s %9s %6s %6s ", "", "", "bytes", *@names.take(2), "times", "wanted")}#{others.join}
      TEXT
    end

    def line(row)
      ns, times, wanted = row.values_at(:ns, :times, :wanted)
      base = MARSHAL.name
      left = format("%-4s %-26s %9d %9.1f %9.1f %6.2f %6s%s", row[:operation], row[:set], row[:bytes][base], ns[ICECORE.name],
                    ns[base], times[base], wanted || "-", misses_target?(row) ? "<" : " ")
      left + @names.drop(2).map { |name| format(" %11s %6s", number(ns[name], 1), number(times[name], 2)) }.join
    end

    def base64_heading
      "\n" + format("%-4s %-26s %9s %9s %8s %9s %9s %8s %6s %6s", "", "+ Base64", "Icecore", "+ Base64", "percent", "Marshal",
                    "+ Base64", "percent", "times", "most")
    end

    def base64_line(row)
      ns, percent = row.values_at(:ns, :percent)
      format("%-4s %-26s %9.1f %9.1f %+8.1f %9.1f %9.1f %+8.1f %6.2f %5d%%%s", row[:operation], row[:set],
             ns[ICECORE.name], ns[ICECORE_BASE64.name], percent[ICECORE.name],
             ns[MARSHAL.name], ns[MARSHAL_BASE64.name], percent[MARSHAL.name], row[:times], row[:most],
             exceeds_limit?(row) ? " <" : "")
    end

    # -- The tables of a page -----------------------------------------------------

    # A target is in brackets if it was not reached.
    def markdown
      [*(sets_table if @rows.any?), *(base64_table if @base64.any?)].join("\n")
    end

    private

    def misses_target?(row) = row[:wanted] && row[:times][MARSHAL.name] < row[:wanted]
    def exceeds_limit?(row) = row[:percent][ICECORE.name] > row[:most]
    def number(value, digits) = value ? format("%.#{digits}f", value) : "-"
    def table_head(head) = "| #{head.join(" | ")} |\n|---|#{"--:|" * (head.size - 1)}\n"

    def sets_table
      others = @names.drop(1)
      rows = @rows.map do |row|
        cells = others.map do |name|
          number(row[:times][name], 2) + (name == MARSHAL.name && misses_target?(row) ? " (#{row[:wanted]})" : "")
        end
        "| #{row[:operation]}, #{row[:set]} | #{number(row[:ns][ICECORE.name], 1)} | #{cells.join(" | ")} |\n"
      end
      table_head(["times as fast as", "Icecore, ns", *others]) + rows.join
    end

    def base64_table
      rows = @base64.map do |row|
        ours = format("%+.1f %%", row[:percent][ICECORE.name]) + (exceeds_limit?(row) ? " (#{row[:most]})" : "")
        format("| %s, %s | %s | %+.1f %% | %.2f |\n", row[:operation], row[:set], ours, row[:percent][MARSHAL.name], row[:times])
      end
      table_head(["+ Base64", "Icecore", "Marshal", "times as fast, both with it"]) + rows.join
    end
  end
end
