"""What people who mean harm, and programs that mean well, write into files."""

NUMBERS = (
    b"0", b"-1", b"1", b"2", b"-0.0", b"0.5", b"5", b"50", b"98", b"99", b"-99", b"1000", b"1e9", b"1000000000",
    b"1e30", b"1e38", b"-1e38", b"1e39", b"-1e39", b"1e308", b"1e999", b"1e-308", b"nan", b"NaN", b"inf", b"-inf",
    b"Infinity", b"2147483647", b"2147483648", b"-2147483649", b"4294967295", b"4294967296", b"9223372036854775808",
    b"18446744073709551616", b"0x10", b"1_000", b"9" * 5000, b"1" + b"0" * 400, b"0." + b"0" * 3000 + b"1",
    "\u0661\u0662".encode(), "\u00b2".encode(), b"+1", b"1.", b".5", b"1e", b"--1",
)  # fmt: skip

NAMES = (
    b"../x", b"/abs", b"/etc/passwd", b".", b"..", b"file", b"allow_pickle", b";;x", b"#x", b"~x", b"-", b"|", b"x|",
    b"a/b", b"a\\b", b"a\0b", b"x" * 300, b"x" * 5000, "\u00e4\u00f6".encode(), "\u202eabc".encode(),
    "\u200bx".encode(), "\ufeffx".encode(), b"\xe4\xf6", b"\xed\xa0\x80", b"\x1b[2J\x1b]0;owned\x07", b"(x)", b"<s>",
    b"</s>", b"<unk>", b"#0", b"SIL", b"SP", b"sil", b"sp", b"SENTENCE-END", b">x", b"{", b"}", b"x(2)", b"[", b"]",
    b"_lock", b"con", b"a:b", b"x" * 255, ("\u00e4" * 150).encode(), b"__proto__", b"None", b"%s%n", b"$(id)", b"`id`",
)  # fmt: skip

SPACES = (
    b" ", b"\t", b"\r", b"\r\n", b"\n", b"\n\n", b"\v", b"\f", b"\x1c", b"\x85", "\u00a0".encode(), "\u2028".encode(),
    "\u3000".encode(), "\u0085".encode(),
)  # fmt: skip

MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\0", b"\x1b[31m", b"\x1f\x8b", b"\xff", b"\x07", b"\x08" * 20)
