# frozen_string_literal: true

module Chance
  # Times and dates.
  module Times
    YEARS = [2026, 1970, 1900, 1899, 2038, 2106, 0, -1, 1, 1582, 67_435, 67_436, 99_999, 2_138].freeze

    def time
      second = pick([0, 1, 59, 30]) + pick([0, Rational(1, 2), Rational(1, 1_000_000), Rational(123_456_789, 1_000_000_000), Rational(1, 3), Rational(1, 10**12), Rational(999_999_999, 1_000_000_000)])
      parts = [pick(YEARS), 1 + below(12), 1 + below(28), below(24), below(60), second]
      case below(7)
      when 0 then Time.utc(*parts)
      when 1 then Time.local(*parts)
      when 2 then Time.new(*parts, pick(["+01:00", "-05:30", "+00:00", "+14:00", "-00:00", "+09:21", "+01:02:03"]))
      when 3 then Time.new(*parts, pick(["UTC", "Z", "A", "-00:00", 3600, -1]))
      when 4 then Time.at(integer.clamp(-2**40, 2**40), pick([0, 1, 999, Rational(1, 7)]), :nsec)
      when 5 then Time.at(below(2**31), in: Zone.new(pick(["Here/There", "Caf\u00e9", "X"])))
      else Tim.at(below(2**31), below(10**9), :nsec)
      end
    end

    def date
      start = pick([Date::ITALY, Date::ENGLAND, Date::GREGORIAN, Date::JULIAN])
      case below(5)
      when 0 then Date.new(pick(YEARS), 1 + below(12), 1 + below(28), start)
      when 1 then DateTime.new(pick(YEARS), 1 + below(12), 1 + below(28), below(24), below(60), pick([0, 1.5, Rational(1, 3), 59]), pick(%w[+00:00 +01:00 -12:30]), start)
      when 2 then Date.jd(pick([0, 1, -1, 2_299_160, 2_299_161, 10**9, 10**20]), start)
      when 3 then Dat.new(pick(YEARS), 1, 1)
      else Date.new(2001, 2, 3) >> below(20)
      end
    rescue Date::Error
      # Days that the calendar of that country skipped.
      Date.new(2001, 2, 3)
    end
  end
end
