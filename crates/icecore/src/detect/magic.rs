//! Formats with a signature at a fixed offset.

/// A signature.
pub(super) struct Magic {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) offset: usize,
    pub(super) bytes: &'static [u8],
    pub(super) variant: &'static str,
}

const fn magic(name: &'static str, title: &'static str, bytes: &'static [u8]) -> Magic {
    Magic { name, title, offset: 0, bytes, variant: "" }
}

impl Magic {
    const fn at(mut self, offset: usize) -> Magic {
        self.offset = offset;
        self
    }

    const fn of(mut self, variant: &'static str) -> Magic {
        self.variant = variant;
        self
    }

    pub(super) fn fits(&self, input: &[u8]) -> bool {
        input.get(self.offset..).is_some_and(|rest| rest.starts_with(self.bytes))
    }
}

/// All signatures; the first match counts. Two-byte signatures are not here: they need a further check, see
/// `recognized.rs`.
pub(super) static MAGIC: &[Magic] = &[
    // Data.
    magic("dotnet", ".NET BinaryFormatter", b"\x00\x01\x00\x00\x00\xff\xff\xff\xff\x01\x00\x00\x00\x00\x00\x00\x00"),
    magic("plist", "Apple property list", b"bplist00").of("binary"),
    magic("cbor", "CBOR", b"\xd9\xd9\xf7").of("self-described"),
    magic("avro", "Apache Avro container", b"Obj\x01"),
    magic("parquet", "Apache Parquet", b"PAR1"),
    magic("arrow", "Apache Arrow file", b"ARROW1\0\0"),
    magic("orc", "Apache ORC", b"ORC\x08"),
    magic("hdf5", "HDF5", b"\x89HDF\r\n\x1a\n"),
    magic("ion", "Amazon Ion", b"\xe0\x01\x00\xea").of("binary"),
    magic("smile", "Smile (binary JSON)", b":)\n"),
    magic("rdb", "Redis dump", b"REDIS0"),
    magic("sqlite", "SQLite database", b"SQLite format 3\0"),
    magic("dbm-deep", "DBM::Deep database", b"DPDB"),
    magic("berkeley-db", "Berkeley DB", b"\x62\x31\x05\x00").at(12).of("btree"),
    magic("berkeley-db", "Berkeley DB", b"\x61\x15\x06\x00").at(12).of("hash"),
    magic("gdbm", "GNU dbm", b"\xce\x9a\x57\x13"),
    magic("gdbm", "GNU dbm", b"\xcf\x9a\x57\x13"),
    magic("tdb", "Trivial database", b"TDB file\n"),
    magic("pcap", "packet capture", b"\xd4\xc3\xb2\xa1"),
    // Compressed data and archives. Gzip, zlib and Zstandard are wrappers, see
    // `wrapper.rs`.
    magic("xz", "xz", b"\xfd7zXZ\0"),
    magic("lz4", "LZ4 frame", b"\x04\x22\x4d\x18"),
    magic("lzop", "lzop", b"\x89LZO\0\r\n\x1a\n"),
    magic("snappy", "Snappy frames", b"\xff\x06\0\0sNaPpY"),
    magic("zip", "zip archive", b"PK\x03\x04"),
    magic("zip", "zip archive", b"PK\x05\x06").of("empty"),
    magic("7z", "7z archive", b"7z\xbc\xaf\x27\x1c"),
    magic("rar", "RAR archive", b"Rar!\x1a\x07"),
    magic("ar", "ar archive", b"!<arch>\n"),
    magic("tar", "tar archive", b"ustar").at(257),
    magic("cpio", "cpio archive", b"070701"),
    magic("rpm", "RPM package", b"\xed\xab\xee\xdb"),
    magic("git-pack", "git pack", b"PACK\0\0\0\x02"),
    magic("git-index", "git index", b"DIRC\0\0\0"),
    // Programs.
    magic("elf", "ELF program or library", b"\x7fELF"),
    magic("wasm", "WebAssembly module", b"\0asm\x01\0\0\0"),
    magic("java-class", "Java class or Mach-O binary", b"\xca\xfe\xba\xbe"),
    magic("mach-o", "Mach-O binary", b"\xcf\xfa\xed\xfe"),
    magic("lua", "Lua bytecode", b"\x1bLua"),
    magic("llvm", "LLVM bitcode", b"BC\xc0\xde"),
    // Pictures, sound, documents, fonts.
    magic("png", "PNG image", b"\x89PNG\r\n\x1a\n"),
    magic("jpeg", "JPEG image", b"\xff\xd8\xff"),
    magic("gif", "GIF image", b"GIF87a"),
    magic("gif", "GIF image", b"GIF89a"),
    magic("tiff", "TIFF image", b"II*\0"),
    magic("tiff", "TIFF image", b"MM\0*"),
    magic("webp", "WebP image", b"WEBP").at(8),
    magic("wav", "WAVE sound", b"WAVE").at(8),
    magic("ogg", "Ogg", b"OggS\0"),
    magic("flac", "FLAC sound", b"fLaC"),
    magic("mp4", "MP4", b"ftyp").at(4),
    magic("matroska", "Matroska or WebM", b"\x1a\x45\xdf\xa3"),
    magic("pdf", "PDF document", b"%PDF-"),
    magic("postscript", "PostScript", b"%!PS"),
    magic("woff", "web font", b"wOFF"),
    magic("woff", "web font", b"wOF2"),
    magic("opentype", "OpenType font", b"OTTO\0"),
    magic("mo", "gettext catalogue", b"\xde\x12\x04\x95"),
    magic("terminfo", "compiled terminfo", b"\x1a\x01"),
    magic("terminfo", "compiled terminfo", b"\x1e\x02"),
];
