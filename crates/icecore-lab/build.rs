//! The scenarios and runners are part of the library: it is made anew when one of them comes or goes.

fn main() {
    println!("cargo:rerun-if-changed=scenarios");
    println!("cargo:rerun-if-changed=runners");
}
