//! Data of the originals: made by php and ruby, each time.

use std::process::Command;

pub struct Set {
    pub name: &'static str,
    pub blob: Vec<u8>,
}

fn made(name: &'static str, program: &str, args: &[&str], code: &str, records: usize) -> Set {
    let output = Command::new(program).args(args).arg(code).arg(records.to_string()).output();
    let output = output.unwrap_or_else(|error| panic!("{program} is needed: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Set { name, blob: output.stdout }
}

const PHP: &str = "ini_set('memory_limit', -1); $n = (int)$argv[1]; $a = [];
    class Employee { public function __construct(public int $id, public string $name, public int $age) {} }
    for ($i = 0; $i < $n; $i++) { $a[] = VALUE; } echo serialize($a);";

pub fn php(records: usize) -> Vec<Set> {
    let set = |name, value: &str| made(name, "php", &["-r"], &PHP.replace("VALUE", value), records);
    vec![
        set("PHP records", "['id' => $i, 'name' => \"Employee_$i\", 'age' => 20 + $i % 40]"),
        set("PHP objects", "new Employee($i, \"Employee_$i\", 20 + $i % 40)"),
        set("PHP integers", "$i * 7919 % 1000003"),
        set(
            "PHP mixed",
            "['id' => $i, 'tags' => [\"a$i\", 'b', [1, 2.5, $i / 8]], 'meta' => ['ok' => $i % 2 == 0, 'none' => null, 'list' => [$i, $i + 1]]]",
        ),
    ]
}

const RUBY: &str =
    "$stdout.binmode; class Employee; def initialize(i) @id = i; @name = \"Employee_#{i}\"; @age = 20 + i % 40 end end
    print Marshal.dump((0...ARGV[0].to_i).map { |i| VALUE })";

pub fn marshal(records: usize) -> Vec<Set> {
    let set = |name, value: &str| made(name, "ruby", &["-e"], &RUBY.replace("VALUE", value), records);
    vec![
        set("Ruby records, string keys", "{'id' => i, 'name' => \"Employee_#{i}\", 'age' => 20 + i % 40}"),
        set("Ruby records, symbol keys", "{id: i, name: \"Employee_#{i}\", age: 20 + i % 40}"),
        set("Ruby objects", "Employee.new(i)"),
        set("Ruby integers", "i * 7919 % 1_000_003"),
        set("Ruby strings", "\"string number #{i}\""),
        set(
            "Ruby mixed",
            "{id: i, 'tags' => [\"a#{i}\", 'b', [1, i / 4.0]], meta: {owner: Employee.new(i), ok: i.odd?, none: nil, list: [i, i + 1]}}",
        ),
    ]
}
