# Conversion
def tonumber:
  if isnumber then .
  elif isstring then fromjson | if isnumber then . else error("cannot parse as number") end
  else error("cannot parse as number") end;
def toboolean:
  if isboolean then .
  elif . == "true" then true
  elif . == "false" then false
  else error("cannot parse as boolean") end;
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

# Text: the parts are joined at the end, as each step of a reduction would keep the text before it
def sub(re; f; flags):
  [split_matches(re; flags)[] | if isarray then [capture_of_match | f] else [.] end]
  | if any(.[]; length != 1) then reduce .[] as $parts (""; . + $parts[])
    else reduce .[][0] as $part (""; . + $part) end;
def gsub(re; f; flags): sub(re; f; "g" + flags);
def sub(re; f): sub(re; f; "");
def gsub(re; f): sub(re; f; "g");

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
