# Reads lines `FORMAT HEX` and prints what Ruby reads from each, one line per value.
require 'bigdecimal'
$stdout.sync = true
class A; class B; end; end
class C; end
module My; class Thing; end; end
module App; class User; end; end

def hex(text) = text.b.unpack1('H*')

def said(value)
  case value
  when nil then 'n'
  when true then 't'
  when false then 'f'
  when Integer then "i#{value}"
  when Float then value.nan? ? 'dnan' : 'd' + [value].pack('G').unpack1('H*')
  when String
    mark = value.ascii_only? ? 's' : { Encoding::UTF_8 => 's', Encoding::BINARY => 'b' }.fetch(value.encoding, 'e')
    mark + hex(value)
  when Symbol then ':' + hex(value.name)
  when Array then '[' + value.map { |item| said(item) }.join(',') + ']'
  when Hash then '{' + value.map { |key, item| "#{said(key)}=#{said(item)}" }.sort.join(',') + '}'
  when A, A::B, C, My::Thing, App::User
    members = value.instance_variables.map { |name| ":#{hex(name.name)}=#{said(value.instance_variable_get(name))}" }
    "o#{hex(value.class.name)}{#{members.sort.join(',')}}"
  else '?'
  end
end

while (line = gets)
  _, blob = line.split
  begin
    puts said(Marshal.load([blob.to_s].pack('H*')))
  rescue StandardError => error
    puts "error #{error.message.lines.first.to_s.strip}"
  end
end
