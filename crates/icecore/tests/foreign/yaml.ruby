--- !ruby/object:Employee
name: Bob
