# Errors of these functions name the function: a filter may call many that need a string.
def _in(name; f): try f catch error("\(name): \(.)");
def _startswith($part): startswith($part);
def startswith($part): _in("startswith"; _startswith($part));
def _endswith($part): endswith($part);
def endswith($part): _in("endswith"; _endswith($part));
def _trim: trim;
def trim: _in("trim"; _trim);
def _ltrim: ltrim;
def ltrim: _in("ltrim"; _ltrim);
def _rtrim: rtrim;
def rtrim: _in("rtrim"; _rtrim);
def _explode: explode;
def explode: _in("explode"; _explode);
def _implode: implode;
def implode: _in("implode"; _implode);
def _utf8bytelength: utf8bytelength;
def utf8bytelength: _in("utf8bytelength"; _utf8bytelength);
def _reverse: reverse;
def reverse: _in("reverse"; _reverse);
def _sort: sort;
def sort: _in("sort"; _sort);
def _floor: floor;
def floor: _in("floor"; _floor);
def _ceil: ceil;
def ceil: _in("ceil"; _ceil);
def _round: round;
def round: _in("round"; _round);
def _sqrt: sqrt;
def sqrt: _in("sqrt"; _sqrt);
def _pow($base; $exponent): pow($base; $exponent);
def pow($base; $exponent): _in("pow"; _pow($base; $exponent));
def _fromdateiso8601: fromdateiso8601;
def fromdateiso8601: _in("fromdateiso8601"; _fromdateiso8601);
def fromdate: _in("fromdate"; _fromdateiso8601);
def _todateiso8601: todateiso8601;
def todateiso8601: _in("todateiso8601"; _todateiso8601);
def todate: _in("todate"; _todateiso8601);
def _strptime($format): strptime($format);
def strptime($format): _in("strptime"; _strptime($format));
def _strftime($format): strftime($format);
def strftime($format): _in("strftime"; _strftime($format));
def _mktime: mktime;
def mktime: _in("mktime"; _mktime);
def _gmtime: gmtime;
def gmtime: _in("gmtime"; _gmtime);
def @base64d: tostring | _in("@base64d"; decode_base64);
def split($separator):
  if isstring and ($separator | isstring) then . / $separator
  else error("split: input and separator must be strings, and they are \(type) and \($separator | type)") end;

# Conversion
def _not_parsed($name; $kind):
  error("\($name): cannot parse \(tojson | if length > 200 then .[:200] + "…" else . end) as \($kind)");
def tonumber:
  if isnumber then . else (try (fromjson | numbers) catch empty) // _not_parsed("tonumber"; "a number") end;
def toboolean:
  if isboolean then .
  elif . == "true" then true
  elif . == "false" then false
  else _not_parsed("toboolean"; "a boolean") end;
def toarray: if isarray then . else [.] end;
def ascii: [.] | implode;

# Places
def in(object): . as $key | object | has($key);
def inside(all): . as $part | all | contains($part);
def index($part):  indices($part) | if . == null then . else .[0]  end;
def rindex($part): indices($part) | if . == null then . else .[-1] end;
def transpose: [range([.[] | length] | max // 0) as $at | [.[][$at]]];
def leaf_paths: paths(scalars);
def IN(values): any(values == .; .);
def IN(source; values): any(source == values; .);
def INDEX(source; key): reduce source as $row ({}; .[$row | key | tostring] |= $row);
def INDEX(key): INDEX(.[]; key);
def from_entries:
  reduce .[] as $entry ({};
    ($entry
      | if isobject
        then if .key == null then .k // .name // .Name // .K // .Key else .key end
        else .[0] end
      | if isstring then . elif . == null then "null" else tojson end) as $key
    | .[$key] = ($entry
      | if isobject | not then .[1]
        elif has("value") then .value
        elif has("v") then .v
        else .Value end));
def with_entries(f): to_entries | map(f) | from_entries;

# As NaN is not equal to itself
def isnan: isnumber and . != .;
def isnormal: isnumber and . != 0 and (isnan or isinfinite | not);
def normals: select(isnormal);

# As the C library, where gamma is another name of lgamma
def gamma: lgamma;

def _range($from; $to; $by): range($from; $to; $by);
# A step of zero leads nowhere
def range($from; $to; $by): if $by == 0 then empty else _range($from; $to; $by) end;

# The last first: what is taken out moves nothing that is still to be taken out
def delpaths($paths): reduce ($paths | unique | reverse[]) as $path (.; getpath($path) |= empty);
def del(f): delpaths([path(f)]);

# Regular expressions
def    test(re; flags): _in("test"; matches(re; flags)) | any;
def   match(re; flags): _in("match"; matches(re; flags))[] | .[0] + {captures: .[1:]};
def capture(re; flags): _in("capture"; matches(re; flags))[] | capture_of_match;
def    scan(re; flags): _in("scan"; matches(re; "g" + flags))[]
  | [.[].string] | if .[1] then .[1:] else .[0] end;
def   split(re; flags): _in("split"; split_(re; flags + "g"));
def  splits(re; flags): _in("splits"; split_(re; flags + "g"))[];
def    test(re): test(re; "");
def   match(re): match(re; "");
def capture(re): capture(re; "");
def    scan(re): scan(re; "");
def  splits(re): splits(re; "");

# Text: the parts are joined at the end, as each step of a reduction would keep the text before it
def _sub(name; re; f; flags):
  [_in(name; split_matches(re; flags))[] | if isarray then [capture_of_match | f] else [.] end]
  | if any(.[]; length != 1) then reduce .[] as $parts (""; . + $parts[])
    else reduce .[][0] as $part (""; . + $part) end;
def sub(re; f; flags): _sub("sub"; re; f; flags);
def gsub(re; f; flags): _sub("gsub"; re; f; "g" + flags);
def sub(re; f): sub(re; f; "");
def gsub(re; f): gsub(re; f; "");

# Other values than strings stay as they are
def _ltrimstr($part): ltrimstr($part);
def _rtrimstr($part): rtrimstr($part);
def ltrimstr($part): if isstring and ($part | isstring) then _ltrimstr($part) else . end;
def rtrimstr($part): if isstring and ($part | isstring) then _rtrimstr($part) else . end;

def _flatten($depth): flatten($depth);
def flatten($depth): if $depth < 0 then error("flatten depth must not be negative") else _flatten($depth) end;

# Streams
# An event with one part ends a container; one of a path of one step, or with an empty path, ends the document.
def fromstream(events):
  foreach events as $event ({};
    (if .is_done then {} else . end)
      | .is_done = (($event | length) + ($event[0] | length) == 2)
      | if $event | length == 2 then getpath(["whole"] + $event[0]) = $event[1] else . end;
    if .is_done then .whole else empty end);
def truncate_stream(events):
  . as $depth | null | events | select(.[0] | length > $depth) | .[0] |= .[$depth:];

# Text
def @json: tojson;
def @csv: [.[] | if isstring then "\"" + (split("\"") | join("\"\"")) + "\""
                 elif . == null then ""
                 elif . >= [] then error("no cell: \(.)")
                 else tostring end] | join(",");
def @tsv: [.[] | if isstring then split("\\") | join("\\\\") | split("\t") | join("\\t")
                   | split("\n") | join("\\n") | split("\r") | join("\\r")
                 elif . == null then ""
                 elif . >= [] then error("no cell: \(.)")
                 else tostring end] | join("\t");
