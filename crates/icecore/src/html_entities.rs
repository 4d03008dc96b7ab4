//! HTML entities, as `htmlspecialchars()` and `htmlentities()` write them.

/// The names of the characters from U+00A0 to U+00FF.
const LATIN1: [&str; 96] = [
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo", "not", "shy",
    "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot", "cedil", "sup1", "ordm",
    "raquo", "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig",
    "Ccedil", "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH", "Ntilde", "Ograve",
    "Oacute", "Ocirc", "Otilde", "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN",
    "szlig", "agrave", "aacute", "acirc", "atilde", "auml", "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc",
    "euml", "igrave", "iacute", "icirc", "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml",
    "divide", "oslash", "ugrave", "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml",
];

/// Other names of HTML 4.
const OTHERS: [(&str, char); 152] = [
    ("OElig", 'Œ'),
    ("oelig", 'œ'),
    ("Scaron", 'Š'),
    ("scaron", 'š'),
    ("Yuml", 'Ÿ'),
    ("fnof", 'ƒ'),
    ("circ", 'ˆ'),
    ("tilde", '˜'),
    ("Alpha", 'Α'),
    ("Beta", 'Β'),
    ("Gamma", 'Γ'),
    ("Delta", 'Δ'),
    ("Epsilon", 'Ε'),
    ("Zeta", 'Ζ'),
    ("Eta", 'Η'),
    ("Theta", 'Θ'),
    ("Iota", 'Ι'),
    ("Kappa", 'Κ'),
    ("Lambda", 'Λ'),
    ("Mu", 'Μ'),
    ("Nu", 'Ν'),
    ("Xi", 'Ξ'),
    ("Omicron", 'Ο'),
    ("Pi", 'Π'),
    ("Rho", 'Ρ'),
    ("Sigma", 'Σ'),
    ("Tau", 'Τ'),
    ("Upsilon", 'Υ'),
    ("Phi", 'Φ'),
    ("Chi", 'Χ'),
    ("Psi", 'Ψ'),
    ("Omega", 'Ω'),
    ("alpha", 'α'),
    ("beta", 'β'),
    ("gamma", 'γ'),
    ("delta", 'δ'),
    ("epsilon", 'ε'),
    ("zeta", 'ζ'),
    ("eta", 'η'),
    ("theta", 'θ'),
    ("iota", 'ι'),
    ("kappa", 'κ'),
    ("lambda", 'λ'),
    ("mu", 'μ'),
    ("nu", 'ν'),
    ("xi", 'ξ'),
    ("omicron", 'ο'),
    ("pi", 'π'),
    ("rho", 'ρ'),
    ("sigmaf", 'ς'),
    ("sigma", 'σ'),
    ("tau", 'τ'),
    ("upsilon", 'υ'),
    ("phi", 'φ'),
    ("chi", 'χ'),
    ("psi", 'ψ'),
    ("omega", 'ω'),
    ("thetasym", 'ϑ'),
    ("upsih", 'ϒ'),
    ("piv", 'ϖ'),
    ("ensp", '\u{2002}'),
    ("emsp", '\u{2003}'),
    ("thinsp", '\u{2009}'),
    ("zwnj", '\u{200C}'),
    ("zwj", '\u{200D}'),
    ("lrm", '\u{200E}'),
    ("rlm", '\u{200F}'),
    ("ndash", '–'),
    ("mdash", '—'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("sbquo", '‚'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bdquo", '„'),
    ("dagger", '†'),
    ("Dagger", '‡'),
    ("bull", '•'),
    ("hellip", '…'),
    ("permil", '‰'),
    ("prime", '′'),
    ("Prime", '″'),
    ("lsaquo", '‹'),
    ("rsaquo", '›'),
    ("oline", '‾'),
    ("frasl", '⁄'),
    ("euro", '€'),
    ("image", 'ℑ'),
    ("weierp", '℘'),
    ("real", 'ℜ'),
    ("trade", '™'),
    ("alefsym", 'ℵ'),
    ("larr", '←'),
    ("uarr", '↑'),
    ("rarr", '→'),
    ("darr", '↓'),
    ("harr", '↔'),
    ("crarr", '↵'),
    ("lArr", '⇐'),
    ("uArr", '⇑'),
    ("rArr", '⇒'),
    ("dArr", '⇓'),
    ("hArr", '⇔'),
    ("forall", '∀'),
    ("part", '∂'),
    ("exist", '∃'),
    ("empty", '∅'),
    ("nabla", '∇'),
    ("isin", '∈'),
    ("notin", '∉'),
    ("ni", '∋'),
    ("prod", '∏'),
    ("sum", '∑'),
    ("minus", '−'),
    ("lowast", '∗'),
    ("radic", '√'),
    ("prop", '∝'),
    ("infin", '∞'),
    ("ang", '∠'),
    ("and", '∧'),
    ("or", '∨'),
    ("cap", '∩'),
    ("cup", '∪'),
    ("int", '∫'),
    ("there4", '∴'),
    ("sim", '∼'),
    ("cong", '≅'),
    ("asymp", '≈'),
    ("ne", '≠'),
    ("equiv", '≡'),
    ("le", '≤'),
    ("ge", '≥'),
    ("sub", '⊂'),
    ("sup", '⊃'),
    ("nsub", '⊄'),
    ("sube", '⊆'),
    ("supe", '⊇'),
    ("oplus", '⊕'),
    ("otimes", '⊗'),
    ("perp", '⊥'),
    ("sdot", '⋅'),
    ("lceil", '⌈'),
    ("rceil", '⌉'),
    ("lfloor", '⌊'),
    ("rfloor", '⌋'),
    ("lang", '〈'),
    ("rang", '〉'),
    ("loz", '◊'),
    ("spades", '♠'),
    ("clubs", '♣'),
    ("hearts", '♥'),
    ("diams", '♦'),
];

/// Maximum length of an entity, without `&` and `;`.
const MAX_NAME_LEN: usize = 10;

/// Returns the text with its entities decoded. Returns `None` if the text was not encoded as a whole, because it has
/// no entities, or because it has characters that would be encoded.
pub(crate) fn decode_entities(text: &[u8]) -> Option<Vec<u8>> {
    if memchr::memchr(b'&', text).is_none() || memchr::memchr2(b'<', b'>', text).is_some() {
        return None;
    }
    let mut out = Vec::with_capacity(text.len());
    let (mut offset, mut has_quotes) = (0, false);
    while let Some(next) = memchr::memchr(b'&', &text[offset..]) {
        out.extend_from_slice(&text[offset..offset + next]);
        offset += next + 1;
        let name = &text[offset..text.len().min(offset + MAX_NAME_LEN)];
        let len = memchr::memchr(b';', name)?;
        let letter = decode_entity(&name[..len])?;
        has_quotes |= letter == '"';
        out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        offset += len + 1;
    }
    out.extend_from_slice(&text[offset..]);
    (!has_quotes || memchr::memchr(b'"', text).is_none()).then_some(out)
}

/// Returns the character of an entity.
fn decode_entity(name: &[u8]) -> Option<char> {
    let name = std::str::from_utf8(name).ok()?;
    if let Some(number) = name.strip_prefix('#') {
        let number = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        };
        return char::from_u32(number.ok()?);
    }
    match name {
        "quot" => Some('"'),
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "apos" => Some('\''),
        _ => match LATIN1.iter().position(|known| *known == name) {
            Some(index) => char::from_u32(0xA0 + index as u32),
            None => OTHERS.iter().find(|(known, _)| *known == name).map(|(_, letter)| *letter),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::decode_entities;

    #[test]
    fn only_completely_encoded_texts_are_decoded() {
        let decoded = |text: &str| decode_entities(text.as_bytes()).map(|text| String::from_utf8(text).unwrap());
        assert_eq!(decoded("&quot;a&amp;b&quot; &lt;i&gt; &#039;&#x27;").as_deref(), Some("\"a&b\" <i> ''"));
        assert_eq!(decoded("&uuml;&euro;&Omega;&thetasym;").as_deref(), Some("ü€Ωϑ"));
        for text in ["plain", "a & b", "&quot; and \"", "&lt;i>", "&unknown;", "&amp"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }
}
