//! Templates that are only written to do harm.

/// Returns short templates that ask for much, and some whose length grows with `size`.
pub fn templates(size: usize) -> Vec<String> {
    let deep = |open: &str, inside: &str, close: &str| format!("{}{inside}{}", open.repeat(size), close.repeat(size));
    let mut templates = vec![deep("(", "a", ")"), deep("x[", "a", "]"), deep("x[(", "a", ")]"), "(".repeat(10 * size)];
    templates.extend(["C/".repeat(3 * size), "a,".repeat(3 * size), "%1".repeat(3 * size), "#".repeat(10 * size)]);
    let small = [
        "x1000000000",
        "a1000000000",
        "x9223372036854775807",
        "@9223372036854775807",
        "X9223372036854775807",
        "(a0)1000000000000",
        "()9223372036854775807",
        "()*",
        "(x0)*",
        "((a0)*)*",
        "(((a0)*)*)*",
        "(a@0)*",
        "((a@0)*)*",
        "(.)1000000000000",
        "(N)9223372036854775807",
        "%9223372036854775807C*",
        "%64d",
        "(a1000000X1000000)*",
        "(b*@0)*",
        "(Z*@0)*",
        "u*",
        "(u@0)*",
        "(w@0)*",
        "w*",
        "U0(x!8a)*",
        "U0(.*x)*",
        "U0(@*X!7)*",
        "x[x9223372036854775807]",
        "x[(x9223372036854775807)9223372036854775807]",
        "(%32C*@0)*",
        "U0 C0 (a*@0)*",
        "B9223372036854775807",
        "n/(a0)*",
        "N/(a0)*",
    ];
    templates.extend(small.map(str::to_owned));
    templates
}
