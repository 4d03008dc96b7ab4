//! The scenarios and runners are part of the library: it is rebuilt when one of them is added or removed.

fn main() {
    println!("cargo:rerun-if-changed=scenarios");
    println!("cargo:rerun-if-changed=runners");
}
