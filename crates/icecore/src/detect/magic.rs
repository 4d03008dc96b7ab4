//! Formats with a signature at a fixed offset.

/// A signature.
pub(super) struct Magic {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) offset: usize,
    pub(super) bytes: &'static [u8],
    pub(super) variant: &'static str,
}

const fn new_signature(name: &'static str, title: &'static str, bytes: &'static [u8]) -> Magic {
    Magic { name, title, offset: 0, bytes, variant: "" }
}

impl Magic {
    const fn at_offset(mut self, offset: usize) -> Magic {
        self.offset = offset;
        self
    }

    const fn with_variant(mut self, variant: &'static str) -> Magic {
        self.variant = variant;
        self
    }

    pub(super) fn matches_input(&self, input: &[u8]) -> bool {
        input.get(self.offset..).is_some_and(|rest| rest.starts_with(self.bytes))
    }
}

/// All signatures; the first match counts. Two-byte signatures are not here: they need a further check, see
/// `recognized.rs`.
pub(super) static MAGIC: &[Magic] = &[
    // Data.
    new_signature(
        "dotnet",
        ".NET BinaryFormatter",
        b"\x00\x01\x00\x00\x00\xff\xff\xff\xff\x01\x00\x00\x00\x00\x00\x00\x00",
    ),
    new_signature("plist", "Apple property list", b"bplist00").with_variant("binary"),
    new_signature("cbor", "CBOR", b"\xd9\xd9\xf7").with_variant("self-described"),
    new_signature("avro", "Apache Avro container", b"Obj\x01"),
    new_signature("parquet", "Apache Parquet", b"PAR1"),
    new_signature("arrow", "Apache Arrow file", b"ARROW1\0\0"),
    new_signature("orc", "Apache ORC", b"ORC\x08"),
    new_signature("hdf5", "HDF5", b"\x89HDF\r\n\x1a\n"),
    new_signature("ion", "Amazon Ion", b"\xe0\x01\x00\xea").with_variant("binary"),
    new_signature("smile", "Smile (binary JSON)", b":)\n"),
    new_signature("rdb", "Redis dump", b"REDIS0"),
    new_signature("sqlite", "SQLite database", b"SQLite format 3\0"),
    new_signature("dbm-deep", "DBM::Deep database", b"DPDB"),
    new_signature("berkeley-db", "Berkeley DB", b"\x62\x31\x05\x00").at_offset(12).with_variant("btree"),
    new_signature("berkeley-db", "Berkeley DB", b"\x61\x15\x06\x00").at_offset(12).with_variant("hash"),
    new_signature("gdbm", "GNU dbm", b"\xce\x9a\x57\x13"),
    new_signature("gdbm", "GNU dbm", b"\xcf\x9a\x57\x13"),
    new_signature("tdb", "Trivial database", b"TDB file\n"),
    new_signature("pcap", "packet capture", b"\xd4\xc3\xb2\xa1"),
    // Compressed data and archives. Gzip, zlib and Zstandard are wrappers, see
    // `wrapper.rs`.
    new_signature("xz", "xz", b"\xfd7zXZ\0"),
    new_signature("lz4", "LZ4 frame", b"\x04\x22\x4d\x18"),
    new_signature("lzop", "lzop", b"\x89LZO\0\r\n\x1a\n"),
    new_signature("snappy", "Snappy frames", b"\xff\x06\0\0sNaPpY"),
    new_signature("zip", "zip archive", b"PK\x03\x04"),
    new_signature("zip", "zip archive", b"PK\x05\x06").with_variant("empty"),
    new_signature("7z", "7z archive", b"7z\xbc\xaf\x27\x1c"),
    new_signature("rar", "RAR archive", b"Rar!\x1a\x07"),
    new_signature("ar", "ar archive", b"!<arch>\n"),
    new_signature("tar", "tar archive", b"ustar").at_offset(257),
    new_signature("cpio", "cpio archive", b"070701"),
    new_signature("rpm", "RPM package", b"\xed\xab\xee\xdb"),
    new_signature("git-pack", "git pack", b"PACK\0\0\0\x02"),
    new_signature("git-index", "git index", b"DIRC\0\0\0"),
    // Programs.
    new_signature("elf", "ELF program or library", b"\x7fELF"),
    new_signature("wasm", "WebAssembly module", b"\0asm\x01\0\0\0"),
    new_signature("java-class", "Java class or Mach-O binary", b"\xca\xfe\xba\xbe"),
    new_signature("mach-o", "Mach-O binary", b"\xcf\xfa\xed\xfe"),
    new_signature("lua", "Lua bytecode", b"\x1bLua"),
    new_signature("llvm", "LLVM bitcode", b"BC\xc0\xde"),
    // Pictures, sound, documents, fonts.
    new_signature("png", "PNG image", b"\x89PNG\r\n\x1a\n"),
    new_signature("jpeg", "JPEG image", b"\xff\xd8\xff"),
    new_signature("gif", "GIF image", b"GIF87a"),
    new_signature("gif", "GIF image", b"GIF89a"),
    new_signature("tiff", "TIFF image", b"II*\0"),
    new_signature("tiff", "TIFF image", b"MM\0*"),
    new_signature("webp", "WebP image", b"WEBP").at_offset(8),
    new_signature("wav", "WAVE sound", b"WAVE").at_offset(8),
    new_signature("ogg", "Ogg", b"OggS\0"),
    new_signature("flac", "FLAC sound", b"fLaC"),
    new_signature("mp4", "MP4", b"ftyp").at_offset(4),
    new_signature("matroska", "Matroska or WebM", b"\x1a\x45\xdf\xa3"),
    new_signature("pdf", "PDF document", b"%PDF-"),
    new_signature("postscript", "PostScript", b"%!PS"),
    new_signature("woff", "web font", b"wOFF"),
    new_signature("woff", "web font", b"wOF2"),
    new_signature("opentype", "OpenType font", b"OTTO\0"),
    new_signature("mo", "gettext catalogue", b"\xde\x12\x04\x95"),
    new_signature("terminfo", "compiled terminfo", b"\x1a\x01"),
    new_signature("terminfo", "compiled terminfo", b"\x1e\x02"),
];
