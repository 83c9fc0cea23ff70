// Scripts of the language and exactly what they print. Each ends by itself.

export interface LanguageCase {
  readonly name: string;
  readonly script: string;
  readonly output: string;
  readonly stderr?: string;
  readonly args?: readonly string[];
}

/** Wraps statements into a begin probe that exits. */
const begin = (body: string) => `begin { ${body} exit(); }`;

/** Maps are printed behind two blank lines at the end. */
const maps = (text: string) => `\n\n${text}`;

const end = "\n\n";

export const languageCases: readonly LanguageCase[] = [
  // integers
  {
    name: "literals",
    script: begin("print((10, 0x10, 1_000, 1e3, 5ms, 010));"),
    output: `(10, 16, 1000, 1000, 5000000, 8)\n${end}`,
  },
  {
    name: "arithmetic",
    script: begin("print((7 + 3 * 2, (7 + 3) * 2, 7 - 10, 7 / 2, -7 / 2, 7 % 3));"),
    output: `(13, 20, -3, 3, -3, 1)\n${end}`,
  },
  {
    name: "bits",
    script: begin("print((6 & 3, 6 | 3, 6 ^ 3, ~0, 1 << 10, 1024 >> 3));"),
    output: `(2, 7, 5, 18446744073709551615, 1024, 128)\n${end}`,
  },
  {
    name: "relations",
    script: begin("print((1 < 2, 2 <= 1, 3 == 3, 3 != 3, 2 > 1, 1 >= 2));"),
    output: `(true, false, true, false, true, false)\n${end}`,
  },
  {
    name: "logic is short",
    script: begin("$x = 0; if (0 && $x++) { } if (1 || $x++) { } print($x); print((1 && 0, 1 || 0, !1, !0));"),
    output: `0\n(false, true, false, true)\n${end}`,
  },
  {
    name: "negative comparison",
    script: begin('$a = -1; if ($a < 0) { print("neg"); } if ($a > 0) { print("pos"); }'),
    output: `neg\n${end}`,
  },
  {
    name: "ternary",
    script: begin('$x = 5; print($x > 3 ? "big" : "small"); print($x > 7 ? 1 : 2);'),
    output: `big\n2\n${end}`,
  },
  {
    name: "casts cut",
    script: begin("print(((uint8)257, (int8)255, (uint16)65537, (int32)4294967295, (uint64)-1));"),
    output: `(1, -1, 1, -1, 18446744073709551615)\n${end}`,
  },
  {
    name: "increments",
    script: begin("$i = 5; print($i++); print($i); print(++$i); print($i--); print(--$i);"),
    output: `5\n6\n7\n7\n5\n${end}`,
  },
  {
    name: "compound",
    script: begin(
      "$i = 5; $i += 3; $i *= 2; $i -= 1; $i /= 2; $i <<= 2; $i |= 1; $i ^= 3; $i %= 20; $i &= 14; $i >>= 1; print($i);",
    ),
    output: `5\n${end}`,
  },
  {
    name: "sizes of expressions",
    script: begin('print((sizeof(true), sizeof("abcd"), sizeof(((struct task_struct *)0).comm), sizeof((uint16)1)));'),
    output: `(1, 5, 16, 2)\n${end}`,
  },
  {
    name: "sizes",
    script: begin("print((sizeof(uint8), sizeof(int32), sizeof(uint64), sizeof(struct task_struct) > 1000));"),
    output: `(1, 4, 8, true)\n${end}`,
  },
  {
    name: "division by zero is one, and said",
    script: begin("$z = 0; print(5 / $z); @x = 7; @x %= $z;"),
    output: `1\n${maps("@x: 1\n")}`,
    stderr: ["-e:1:23-29", "-e:1:40-48"]
      .map(
        (place) =>
          `${place}: WARNING: Divide or modulo by 0 detected. This can lead to unexpected results. 1 is being used as the result.\n`,
      )
      .join(""),
  },
  {
    name: "errors and warnings end their line",
    script: begin('errorf("a %d", 1); warnf("b\\n");'),
    output: end,
    stderr: "-e:1:9-26: ERROR: a 1\n-e:1:28-40: WARNING: b\n",
  },
  { name: "a value or another", script: begin("$x = 0; print($x ?: 5); print(7 ?: 5);"), output: `5\n7\n${end}` },
  {
    name: "what is known before running",
    script: `macro kind(x) { if comptime is_ptr(x) { "pointer" } else { "value" } } ${begin('print(comptime (1 + 2)); if comptime (sizeof(uint32) == 4 && "a" == "a") { print(4); } else { fail("no"); } print(kind(1)); print(kind((int8 *)0));')}`,
    output: `3\n4\nvalue\npointer\n${end}`,
  },
  {
    name: "the type of an expression",
    script: begin("$x = (uint8)5; $y = (typeof($x))300; print($y); let $z: typeof($x) = 7; print(sizeof($z));"),
    output: `44\n1\n${end}`,
  },

  {
    name: "narrow unsigned numbers wrap at their width",
    script: begin(
      "$a = (uint8)5; $b = (uint32)7; print((-$a, ~$a, -$b, ~$b, ~(uint16)5, -(int8)5, ~(int32)5)); @[~$a] = -$b;",
    ),
    output: `(251, 250, 4294967289, 4294967288, 65530, -5, -6)\n${maps("@[250]: 4294967289\n")}`,
  },
  {
    name: "literals up to 64 bits",
    script: begin("print((1 << 63, 9223372036854775807 + 1, 9223372036854775807 * 2, -9223372036854775808));"),
    output: `(9223372036854775808, 9223372036854775808, 18446744073709551614, -9223372036854775808)\n${end}`,
  },

  {
    name: "a number of a type wraps at its width",
    script: begin("print((-(uint64)1, -(uint32)1, -(uint8)1, -(int8)5));"),
    output: `(18446744073709551615, 4294967295, 255, -5)\n${end}`,
  },
  {
    name: "texts that are written out",
    script: begin('print(("hello" + 1, 2 + "hello", "hello" + 9, "a" < "b", "b" <= "a", "a" > "", "é" >= "e"));'),
    output: `(ello, llo, , true, false, true, true)\n${end}`,
  },
  {
    name: "a map that is made of itself",
    script: begin("@n = @n + 1; @k[1] = @k[1] * 2; print(@n);"),
    output: `@n: 1\n${maps("@k[1]: 0\n@n: 1\n")}`,
  },
  {
    name: "structs and enums declared in a struct",
    output: `(4, 8, 16, 24)\n(B, 5)\n${end}`,
    script: `struct outer { struct inner { int x; } first; struct inner second; enum place { A = 4, B } at; struct inner *many[1]; }; ${begin(
      "print((sizeof(struct inner), offsetof(struct outer, at), offsetof(struct outer, many), sizeof(struct outer))); print(((enum place)5, B + 0));",
    )}`,
  },

  // addresses
  {
    name: "the address of a variable",
    script: begin("$x = 5; $p = &$x; print(*$p); print($p == &$x); $x = 9; print(*$p); $q = &$p; print(**$q);"),
    output: `5\ntrue\n9\n9\n${end}`,
  },
  {
    name: "the address of text, tuples and records",
    script: begin(
      '$s = "abc"; $p = &$s; print(str($p)); $t = (1, 2); print(*&$t); print((*&$t).1); $r = (a=1, b=2); print((&$r).b);',
    ),
    output: `abc\n(1, 2)\n2\n2\n${end}`,
  },
  {
    name: "a pointer to what is narrow",
    script: begin("$x = (uint16)0x1234; $p = &$x; print(sizeof(*$p)); $x = 7; print(*$p);"),
    output: `2\n7\n${end}`,
  },
  {
    name: "addresses in loops",
    script: begin(
      "for ($i : 0..2) { $p = &$i; print(*$p); } @a[1] = 7; $x = 3; for ($kv : @a) { $q = &$kv; print(*$q); $r = &$x; $x = 11; print(*$r); } print($x); clear(@a);",
    ),
    output: `0\n1\n(1, 7)\n11\n11\n${end}`,
  },
  {
    name: "an address for a function",
    script: `fn twice($p: int64*): int64 { return *$p * 2; } ${begin("$x = 21; print(twice(&$x));")}`,
    output: `42\n${end}`,
  },
  {
    name: "the address of a map",
    script: begin(
      '@n = 5; $p = &@n; print(*$p); @n = 7; print(*$p); @t = "text"; print(str(&@t)); @h[1] = 1; print((&@h).max_entries); clear(@n); clear(@t); clear(@h);',
    ),
    output: `5\n7\ntext\n4096\n${end}`,
  },

  {
    name: "pointers to arrays step by the array",
    script: begin(
      "$p = (uint32[4]*)4096; print($p + 1); print((sizeof(*$p), sizeof(uint32[4]*), sizeof(int32*[4]*), sizeof(uint16*[4])));",
    ),
    output: `0x1010\n(16, 8, 8, 32)\n${end}`,
  },

  // control flow
  {
    name: "text is true unless it is empty",
    script: begin(
      '$e = ""; $t = "x"; print((!$e, !$t, (bool)$t, $t && 1, $e || 0)); if ($t) { print("said"); } if ($e) { print("no"); } print($e ? 1 : 2);',
    ),
    output: `(true, false, true, true, false)\nsaid\n2\n${end}`,
  },
  {
    name: "conditions of the preprocessor",
    script: `#define SIZE (2 * 3)\n#if SIZE > 5 && !defined(OTHER)\n#define TEXT "many"\n#elif 1\n#define TEXT "less"\n#endif\n${begin("print(TEXT);")}`,
    output: `many\n${end}`,
  },
  {
    name: "else if",
    script: begin('$x = 2; if ($x == 1) { print("one"); } else if ($x == 2) { print("two"); } else { print("more"); }'),
    output: `two\n${end}`,
  },
  {
    name: "while",
    script: begin("$i = 0; while ($i < 5) { $i++; if ($i == 2) { continue; } if ($i == 4) { break; } print($i); }"),
    output: `1\n3\n${end}`,
  },
  { name: "unroll", script: begin("$i = 0; unroll (4) { $i += 2; } print($i);"), output: `8\n${end}` },
  {
    name: "for a range",
    script: begin("$sum = 0; for ($i : 0..5) { $sum += $i; } print($sum);"),
    output: `10\n${end}`,
  },
  {
    name: "for a map",
    script: begin('@m["a"] = 1; @m["b"] = 2; $n = 0; for ($kv : @m) { $n += $kv.1; } print($n); clear(@m);'),
    output: `3\n${end}`,
  },
  { name: "return", script: "begin { print(1); if (1) { exit(); return; } print(2); }", output: `1\n${end}` },
  {
    name: "predicates",
    script: 'begin /0/ { print("no"); } begin /1/ { print("yes"); exit(); }',
    output: `yes\n${end}`,
  },
  { name: "exit ends the handler", script: 'begin { exit(); } end { print("end"); }', output: `end\n${end}` },
  { name: "scopes", script: begin("$x = 1; if (1) { let $y = 2; $x = $x + $y; } print($x);"), output: `3\n${end}` },
  { name: "block expression", script: begin("let $a = { let $b = 1; $b + 1 }; print($a);"), output: `2\n${end}` },

  // strings, tuples, records
  {
    name: "strings",
    script: begin(
      '$s = "hello"; print($s); print($s == "hello"); print($s != "world"); printf("%s|%10s|%-6s|\\n", $s, $s, $s);',
    ),
    output: `hello\ntrue\ntrue\nhello|     hello|hello |\n${end}`,
  },
  {
    name: "texts together",
    script: begin(
      '$s = str_concat("ab", "cd"); print($s); print(str_concat($s, "") == "abcd"); print(strlen(str_concat($s, $s)));',
    ),
    output: `abcd\ntrue\n8\n${end}`,
  },
  {
    name: "memory in order",
    script: begin(
      'print((memcmp("abc", "abd", 3), memcmp("abc", "abb", 3), memcmp("abcdefghijk", "abcdefghijk", 11)));',
    ),
    output: `(-1, 1, 0)\n${end}`,
  },
  {
    name: "bytes that are no text",
    script: begin('print(buf("a\\xff", 2)); printf("%s\\n", "\\xc3\\xa9");'),
    output: `a\\xff\n\u00e9\n${end}`,
  },
  { name: "escapes", script: begin('printf("a\\tb\\\\ \\"q\\" \\x41\\n");'), output: `a\tb\\ "q" A\n${end}` },
  {
    name: "string functions",
    script: begin(
      'print((strncmp("abc", "abd", 2), strncmp("abc", "abd", 3) != 0, strcontains("hello", "ell"), strcontains("hello", "x")));',
    ),
    output: `(0, true, true, false)\n${end}`,
  },
  { name: "str with a length", script: begin('print(str("hello", 3));'), output: `hel\n${end}` },
  {
    name: "text up to a length",
    script: begin(
      '$s = "hello"; $n = 3; print((str($s, $n), str($s, 3), str($s, 0), str($s, $n - 3), str($s, $n * 100), str("hello", 3))); @m = "text"; print(str(@m, $n) == "te"); clear(@m);',
    ),
    output: `(he, he, , , hello, hel)\ntrue\n${end}`,
  },
  {
    name: "tuples",
    script: begin('$t = (1, "two", (3, 4)); print($t); print(($t.0, $t.1, $t.2.1));'),
    output: `(1, two, (3, 4))\n(1, two, 4)\n${end}`,
  },
  {
    name: "records",
    script: begin('$r = (a=1, b="x"); print($r); print($r.b);'),
    output: `{ .a = 1, .b = x }\nx\n${end}`,
  },
  {
    name: "array cast",
    script: begin("$a = (int8[4])0x01020304; print($a); print($a[1]);"),
    output: `[4,3,2,1]\n3\n${end}`,
  },
  {
    name: "booleans",
    script: begin("$b = true; print($b); if (!$b) { print(1); } else { print(0); } @b = false;"),
    output: `true\n0\n${maps("@b: false\n")}`,
  },
  {
    name: "byte swap",
    script: begin("print((bswap((uint16)0x0102), bswap((uint32)0x01020304), bswap((uint8)7), bswap(1), bswap(300)));"),
    output: `(513, 67305985, 7, 1, 11265)\n${end}`,
  },

  {
    name: "structs without padding",
    script: `struct A { char c; int x; } __attribute__((packed)); struct B { int a : 30; int b : 30; char c; } __attribute__((packed));
      struct C { char a; int b __attribute__((aligned(16))); }; struct D { struct A a; char z; }; struct E { char c; } __aligned(8);
      ${begin("print((sizeof(struct A), offsetof(struct A, x), sizeof(struct B), sizeof(struct C), offsetof(struct C, b), sizeof(struct D), sizeof(struct E)));")}`,
    output: `(5, 1, 9, 32, 16, 6, 8)\n${end}`,
  },

  // printf
  {
    name: "percent signs alone",
    script: begin('printf("100%\\n"); printf("%d% and 5%, %k\\n", 50);'),
    output: `100%\n50% and 5%, %k\n${end}`,
  },
  {
    name: "flags of the allocator",
    script: begin('printf("%gr %gr %gr %gr\\n", (uint64)0xcc0, 0, 0x2800, 0x1);'),
    output: `GFP_KERNEL 0 GFP_NOWAIT GFP_DMA\n${end}`,
  },
  {
    name: "constants of C's headers",
    script: `#include <errno.h>\n#include <signal.h>\n#include <sys/socket.h>\n#include <syscall.h>\n${begin('print((AF_INET6, O_CREAT | O_TRUNC, S_IFDIR, PF_KTHREAD)); printf("%s %s %s\\n", strerror(EPERM), signal_name(SIGINT), syscall_name(__NR_read));')}`,
    output: `(10, 576, 16384, 2097152)\nOperation not permitted Interrupt read\n${end}`,
  },
  {
    name: "a divided histogram",
    script: begin("@h = hist(5); @h = hist(10); @h = hist(10); @h = hist(10); print(@h, 0, 3); clear(@h);"),
    output: `@h:\n[4, 8)                 0 |${" ".repeat(52)}|\n[8, 16)                1 |${"@".repeat(52)}|\n\n${end}`,
  },
  {
    name: "usermode in strobe's own probes",
    script: begin("print(usermode); print((usermode, curtask.pid == pid));"),
    output: `1\n(1, true)\n${end}`,
  },
  {
    name: "printf",
    script: begin(
      'printf("%d %u %x %X %o %c %%|%5d|%-5d|%05d|%+d|%#x\\n", -1, 7, 255, 255, 8, 65, 42, 42, 42, 42, 255);',
    ),
    output: `-1 7 ff FF 10 A %|   42|42   |00042|+42|0xff\n${end}`,
  },
  {
    name: "printf sizes",
    script: begin('printf("%hhd %hd %d %ld %lld %llu %lx\\n", 1, 2, 3, 4, 5, 6, 255);'),
    output: `1 2 3 4 5 6 ff\n${end}`,
  },
  {
    name: "printf modifiers",
    script: begin('printf("%hhx %hd %hhu %lx %x\\n", 0x1234567, 70000, 200, (int8)-1, (int8)-1);'),
    output: `67 4464 200 ffffffffffffffff ffffffff\n${end}`,
  },
  {
    name: "printf texts of numbers",
    script: begin('printf("%s|%4s|%-4s|%s\\n", 1, 2, 3, (1, "x"));'),
    output: `1|   2|3   |(1, x)\n${end}`,
  },
  {
    name: "printf buffers",
    script: begin('printf("%r %rx %rh\\n", buf("a\\x01", 2), buf("a", 1), buf("ab", 2));'),
    output: `a\\x01 \\x61 61 62\n${end}`,
  },
  {
    name: "printf enum",
    script: 'enum color { RED = 1, BLUE = 5 } begin { printf("%d %s\\n", BLUE, BLUE); print(RED); exit(); }',
    output: `5 BLUE\nRED\n${end}`,
  },
  {
    name: "kernel enum",
    script: begin('printf("%d %s\\n", BPF_MAP_TYPE_ARRAY, BPF_MAP_TYPE_ARRAY);'),
    output: `2 BPF_MAP_TYPE_ARRAY\n${end}`,
  },
  {
    name: "buffers compare",
    script: begin('$a = buf("abc", 3); print((buf("abc", 3) == $a, buf("abd", 3) == $a));'),
    output: `(true, false)\n${end}`,
  },
  { name: "a zone", script: begin('print(strftime("%Z", 0));'), output: `UTC\n${end}` },
  {
    name: "addresses",
    script: begin("print((ntop(0x0100007f), ntop(2, 0x08080808)));"),
    output: `(127.0.0.1, 8.8.8.8)\n${end}`,
  },
  {
    name: "error names",
    script: begin(
      "print((strerror(2), strerror(13))); print((syscall_name(1), syscall_name(-1), ntop(5, 1), ntop(2, 1)));",
    ),
    output: `(No such file or directory, Permission denied)\n(write, Unknown syscall, , 1.0.0.0)\n${end}`,
  },
  {
    name: "signal names",
    script: begin("print((signal_name(9), signal_name(1), signal_name(0)));"),
    output: `(Killed, Hangup, Unknown signal 0)\n${end}`,
  },
  { name: "null pointers", script: begin("$p = (uint64 *)0; print($p); print(ksym(0));"), output: `0x0\n0\n${end}` },
  { name: "kernel symbols", script: begin('print(ksym(kaddr("do_exit")));'), output: `do_exit\n${end}` },

  // maps
  { name: "scalar map", script: begin("@x = 1; @x += 4; @x++; print(@x);"), output: `@x: 6\n${maps("@x: 6\n")}` },
  {
    name: "keyed map by value",
    script: begin('@v["b"] = 20; @v["a"] = 10; @v["c"] = 30;'),
    output: maps("@v[a]: 10\n@v[b]: 20\n@v[c]: 30\n"),
  },
  {
    name: "keys of several parts",
    script: begin('@m[1, "x", -2] = "v"; @m[2, "yy", 3] = "w"; print(@m[2, "yy", 3]); delete(@m[2, "yy", 3]);'),
    output: `w\n${maps("@m[1, x, -2]: v\n")}`,
  },
  {
    name: "missing keys read as zero",
    script: begin("@m[1] = 5; print(@m[2]); print(@m[1]); clear(@m);"),
    output: `0\n5\n${end}`,
  },
  {
    name: "has_key and delete",
    script: begin(
      '@m["a"] = 1; print((has_key(@m, "a"), has_key(@m, "b"))); print(delete(@m, "a")); print(has_key(@m, "a"));',
    ),
    output: `(true, false)\ntrue\nfalse\n${end}`,
  },
  {
    name: "text that no key has room for is not found",
    script: begin(
      '@m["abc"] = 7; @n[1, "x"] = 8; $t = (1, "xyz"); print((@m["abcd"], @m["abc"], @m["ab"], has_key(@n, $t), @n[1, "x"])); print(delete(@m, "abcdef")); clear(@m); clear(@n);',
    ),
    output: `(0, 7, 0, false, 8)\nfalse\n${end}`,
  },
  { name: "len", script: begin("@m[1] = 1; @m[2] = 1; print(len(@m)); clear(@m);"), output: `2\n${end}` },
  { name: "zero keeps keys", script: begin("@m[1] = 5; @m[2] = 6; zero(@m);"), output: maps("@m[1]: 0\n@m[2]: 0\n") },
  {
    name: "maps in order of their names",
    script: begin("@z = 1; @a = 2; @m = 3;"),
    output: maps("@a: 2\n@m: 3\n@z: 1\n"),
  },
  {
    name: "tuple values",
    script: begin('@t[1] = (1, "a"); @t[2] = (2, "b"); print(@t[2]); print(@t[1].1); clear(@t);'),
    output: `(2, b)\na\n${end}`,
  },
  { name: "tuple keys", script: begin("@m[(1, 2)] = 3; @m[(4, 5)] = 6;"), output: maps("@m[1, 2]: 3\n@m[4, 5]: 6\n") },
  {
    name: "top and divisor",
    script: begin("@m[1] = 10; @m[2] = 30; @m[3] = 20; print(@m, 2); print(@m, 1, 10); clear(@m);"),
    output: `@m[3]: 20\n@m[2]: 30\n@m[2]: 3\n${end}`,
  },

  {
    name: "a lone map that is empty",
    script: begin(
      '@n = 1; clear(@n); print(@n); @s = "x"; clear(@s); print(@s); @c = count(); clear(@c); print(@c); @h = hist(1); clear(@h); print(@h);',
    ),
    output: `@n: 0\n@s: \n@c: 0\n${end}`,
  },
  {
    name: "a map of many keys: filled, counted, walked, zeroed, ordered, cleared",
    script: `config = { max_map_keys = 10000 } ${begin(
      "for ($i : 0..10000) { @[$i] = $i; } print(len(@)); $s = 0; for ($kv : @) { $s += $kv.1; if ($kv.0 % 2) { delete(@, $kv.0) } } " +
        "print($s); print(len(@)); print(@, 2); zero(@); $s = 0; for ($kv : @) { $s += $kv.0 + $kv.1; } print($s); clear(@); print(len(@)); " +
        "@[1] = 5; @b[1] = 6; @[1] = 7; print((@[1], @b[1])); @[2] = 8; delete(@, 2); clear(@b);",
    )}`,
    output: `10000\n49995000\n5000\n@[9996]: 9996\n@[9998]: 9998\n24995000\n0\n(7, 6)\n${maps("@[1]: 7\n")}`,
  },
  {
    name: "a full map",
    script: `let @a = hash(1); ${begin("@a[1] = 1; @a[2] = 2;")}`,
    output: maps("@a[1]: 1\n"),
    stderr:
      "WARNING: Map full; can't update element: 1 update of @a failed (raise max_map_keys, or declare how many entries it has: let @a = hash(5000))\n",
  },

  // aggregations
  {
    name: "count and sum",
    script: begin("@c = count(); @c = count(); @s = sum(5); @s = sum(-9);"),
    output: maps("@c: 2\n@s: -4\n"),
  },
  {
    name: "minimum, maximum, average",
    script: begin("@i = min(5); @i = min(-3); @x = max(5); @x = max(9); @a = avg(7); @a = avg(8);"),
    output: maps("@a: 7\n@i: -3\n@x: 9\n"),
  },
  {
    name: "stats",
    script: begin("@t = stats(10); @t = stats(21);"),
    output: maps("@t: { .count = 2, .average = 15, .total = 31 }\n"),
  },
  {
    name: "keyed aggregations",
    script: begin('@c["x"] = count(); @c["y"] = count(); @c["y"] = count(); @a[1] = avg(10); @a[1] = avg(20);'),
    output: maps("@a[1]: 15\n@c[x]: 1\n@c[y]: 2\n"),
  },
  {
    name: "one of several stats",
    script: begin("@t[1] = stats(10); @t[2] = stats(21); print(@t[2]); clear(@t);"),
    output: `{ .count = 1, .average = 21, .total = 21 }\n${end}`,
  },
  {
    name: "fine histogram",
    script: begin("@h = hist(8192, 3);"),
    output: maps(`@h:\n[8K, 9K)               1 |${"@".repeat(52)}|\n\n`),
  },
  {
    name: "histogram",
    script: begin("@h = hist(0); @h = hist(1); @h = hist(3); @h = hist(-4);"),
    output: maps(
      `@h:\n(..., 0)               1 |${"@".repeat(52)}|\n[0]                    1 |${"@".repeat(52)}|\n` +
        `[1]                    1 |${"@".repeat(52)}|\n[2, 4)                 1 |${"@".repeat(52)}|\n\n`,
    ),
  },
  {
    name: "linear histogram",
    script: begin("@l = lhist(15, 0, 30, 10); @l = lhist(40, 0, 30, 10);"),
    output: maps(
      `@l:\n[10, 20)               1 |${"@".repeat(52)}|\n[20, 30)               0 |${" ".repeat(52)}|\n[30, ...)              1 |${"@".repeat(52)}|\n\n`,
    ),
  },
  {
    name: "fine histograms in loops in the kernel",
    script: begin(
      "@a[1] = 1; for ($kv : @a) { @h[1] = hist(curtask.pid, 5); } for ($kv : @a) { @h[2] = hist(1, 5); } @h[3] = hist(1, 5); print(len(@h)); clear(@h); clear(@a);",
    ),
    output: `3\n${end}`,
  },
  {
    name: "linear histogram with a rest",
    script: begin("@l = lhist(5, 0, 7, 3); @l = lhist(6, 0, 7, 3); @l = lhist(7, 0, 7, 3);"),
    output: maps(
      `@l:\n[3, 6)                 1 |${"@".repeat(26)}${" ".repeat(26)}|\n[6, ...)               2 |${"@".repeat(52)}|\n\n`,
    ),
  },
  {
    name: "aggregations in expressions",
    script: begin(
      '@c = count(); @c = count(); @s = sum(7); if (@c == 2) { printf("%d %d\\n", (int64)@c, (int64)@s); } clear(@c); clear(@s);',
    ),
    output: `2 7\n${end}`,
  },

  // parameters and configuration
  {
    name: "positional parameters",
    script: begin('printf("%d %s %d\\n", $1, str($2), $#);'),
    args: ["42", "hello"],
    output: `42 hello 2\n${end}`,
  },
  { name: "maps are not printed", script: `config = { print_maps_on_exit = false } ${begin("@x = 1;")}`, output: end },
  {
    name: "a macro",
    script: `macro add($a, $b) { $a + $b } ${begin("$x = 1; $y = 2; print(add($x, $y));")}`,
    output: `3\n${end}`,
  },
  {
    name: "a function",
    script: `fn add($a : int64, $b : int64) : int64 { return $a + $b; } ${begin("print(add(1, 2));")}`,
    output: `3\n${end}`,
  },
  { name: "defines", script: `#define LIMIT 10\n${begin("print(LIMIT * 2);")}`, output: `20\n${end}` },
  {
    name: "comments",
    script: "// one\n/* two */ begin { /* three */ print(1); exit(); } // four",
    output: `1\n${end}`,
  },
  {
    name: "begin looks at the kernel",
    script: begin('print((curtask.pid == pid, *(uint8*)kaddr("do_exit") > 0));'),
    output: `(true, true)\n${end}`,
  },
  { name: "nothing to wait for", script: "begin { print(1); } end { print(2); }", output: `1\n2\n${end}` },
  { name: "names of timers", script: "interval:ms:20 { print(probe); exit(); }", output: `interval:ms:20\n${end}` },
  { name: "probe name", script: begin("print(probe);"), output: `begin\n${end}` },

  // spellings
  {
    name: "the last member goes without its semicolon",
    script: `struct A { int x } union U { int x; char c[6] } struct B { struct A a[2]; union { int y }; ; }; ${begin("print((sizeof(struct A), sizeof(union U), sizeof(struct B)));")}`,
    output: `(4, 8, 12)\n${end}`,
  },
  {
    name: "what is built in has a prefix, too",
    script: begin(
      "print((__builtin_pid == pid, __builtin_ncpus == ncpus, __builtin_probetype, __builtin_is_literal(1))); print(__builtin_comm == comm);",
    ),
    output: `(true, true, special, true)\ntrue\n${end}`,
  },
  {
    name: "types and what they are of in macros",
    output: `6\n256\n4\n1\n15\n2\n14\n${end}`,
    script: `macro next(x) { let $y : typeof(x) = x; $y + 1 } macro width($x) { let $y : typeof($x) = 3; $y + sizeof($x) } macro cast(t, x) { (t)x } macro product(a, b) { (a)*b }
      macro less(a, b) { (a) - b } macro sizes(t) { sizeof(t[3]) + sizeof(t*) }
      ${begin("print(next(5)); print(next((uint8)255)); $q = (uint8)3; print(width($q)); print(cast(typeof(uint8), 257)); print(product(5, 3)); print(less(5, 3)); print(sizes(typeof(uint16)));")}`,
  },
  {
    name: "an attach point in a parameter",
    script: "$1, $2:s:1 { print(probe); exit(); }",
    args: ["interval:ms:1", "interval"],
    output: `interval:ms:1\n${end}`,
  },
  {
    name: "parts of an attach point in a parameter",
    script: "inter$1 { print(probe); exit(); }",
    args: ["val:ms:2"],
    output: `interval:ms:2\n${end}`,
  },
  {
    name: "an aggregation as a block's value",
    output: maps("@a: 2\n@b[1]: 5\n@c: 3\n@d: 1\n@e: 4\n"),
    script: `macro one() { count() } macro total(x) { let $q = x; sum($q) } ${begin("@a = { count() }; @a = { { count() } }; @b[1] = { let $x = 5; sum($x) }; @c = { $y = 3; { max($y) } }; @d = one(); @e = total(4);")}`,
  },
  {
    name: "a block in a block has its value",
    script: begin("$x = { { 5 } }; $y = { $z = 1; { $z + 1 } }; print(($x, $y)); { { $a = 1; print($a) } }"),
    output: `(5, 2)\n1\n${end}`,
  },
  {
    name: "truths of the command line in any case",
    script: begin('print((getopt("a"), getopt("b"), getopt("c", true)));'),
    args: ["--", "--a=False", "--b=TRUE", "--c=0"],
    output: `(false, true, false)\n${end}`,
  },
  {
    name: "sizes of constants",
    script: `enum E { A = 4, B }; ${begin("print((sizeof(A), sizeof(B + 1), sizeof(TASK_COMM_LEN)));")}`,
    output: `(8, 8, 8)\n${end}`,
  },
  {
    name: "the probe's name as text",
    output: `interval:ms:3 13\n${end}`,
    script:
      'interval:ms:3, interval:s:10 { if (strcontains(probe, ":ms:") && probe != "interval:s:10" && strncmp(probe, "interval:ms", 11) == 0) { printf("%s %d\\n", probe, strlen(probe)); exit(); } }',
  },
  {
    name: "structs, and arrays of them, are keys and parts of keys",
    script: `struct A { int x; int y; }; struct B { struct A as[2]; }; ${begin(
      "$b = (struct B*)0; @[*$b] = 1; @a[$b.as] = 2; @p[$b.as[0], 1] = 3; @c[$b.as[1]] = count(); for ($kv : @p) { print(($kv.0.0.x, $kv.0.1)); } print((@p[$b.as[0], 1], has_key(@a, $b.as), len(@c))); delete(@p, ($b.as[0], 1)); print(len(@p));",
    )}`,
    output: `(0, 1)\n(3, true, 1)\n0\n${maps("@[{ .as = [{ .x = 0, .y = 0 },{ .x = 0, .y = 0 }] }]: 1\n@a[[{ .x = 0, .y = 0 },{ .x = 0, .y = 0 }]]: 2\n@c[{ .x = 0, .y = 0 }]: 1\n")}`,
  },
  {
    name: "a long text as key, value and loop's variable",
    output: `9999\n9999\ntrue\n7\n1\n${end}`,
    script: begin(
      `$t = "${"A".repeat(9999)}"; @k[$t] = 7; for ($kv : @k) { print(strlen($kv.0)); } @v[1] = $t; for ($kv : @v) { print(strlen($kv.1)); } @s = $t; print(@s == $t); print(@k[$t]); print(delete(@k, $t) ? 1 : 0); clear(@k); clear(@v); clear(@s);`,
    ),
  },
  {
    name: "floating-point members have their place",
    script: `struct S { float f; double d; int x; }; ${begin("$s = (struct S*)0; print((sizeof(struct S), offsetof(struct S, x), sizeof(float))); print(*$s); print($s.d);")}`,
    output: `(24, 16, 4)\n{ .f = 0, .d = 0, .x = 0 }\n0\n${end}`,
  },
  {
    name: "a negative number of entries is all of them",
    script: begin("@m[1] = 1; @m[2] = 2; print(@m, -1); clear(@m);"),
    output: `@m[1]: 1\n@m[2]: 2\n${end}`,
  },
  {
    name: "signals that there are not",
    script: begin("print((signal_name(1024), signal_name(65), signal_name(-1), signal_name(0), signal_name(64)));"),
    output: `(N/A, N/A, N/A, Unknown signal 0, Real-time signal 30)\n${end}`,
  },
  {
    name: "sizes of what is written out are bpftrace's",
    output: `(1, 2, 4, 8, 1)\n(2, 4, 8, 2)\n(1, 2, 8, 8, 1)\n(4, 8, 2, 4)\n${end}`,
    script:
      begin(`print((sizeof(1), sizeof(1000), sizeof(100000), sizeof(5000000000), sizeof(-1))); print((sizeof((1, 2)), sizeof((1, "ab")), sizeof((1, 1000, "ab")), sizeof((a=1, b=2))));
      $x = 1; $y = 1000; @m[1] = 5; print((sizeof($x), sizeof($y), sizeof($x + $y), sizeof($x * 2), sizeof(@m[1]))); clear(@m); $w = 1; $w = 70000; $i = 1; $i++; $t = (1, 2); @u = (1, 300); print((sizeof($w), sizeof($i), sizeof($t), sizeof(@u))); clear(@u);`),
  },
  {
    name: "negative numbers of an int's size in hexadecimal",
    output: `ffffffff 4294967295 37777777777 -1|ffffffffffffffff|  ffffffff|0xffffffff\n80000000 ffffffff7fffffff ffffffffffffffff 12a05f200\n${end}`,
    script: begin(
      '$x = -1; printf("%x %u %o %d|%lx|%10x|%#x\\n", $x, $x, $x, $x, $x, $x, $x); printf("%x %x %x %x\\n", -2147483648, -2147483649, (uint64)-1, 5000000000);',
    ),
  },
];
