// Values of libraries: a script shows what the program itself prints, by every compiler and library, optimised or not.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileWith, missing, runTool } from "../support/compilers.ts";
import { partOf } from "../support/part-of.ts";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
let objects = "";

before(() => {
  objects = bpfObjects();
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

function source(name: string): string {
  copyFileSync(join("test/live/values", name), join(folder.path, name));
  return readFileSync(join("test/live/values", name), "utf8");
}

/** What a program printed, and what a script over it did. */
async function over(
  path: string,
  script: string,
  ...options: readonly string[]
): Promise<{ readonly program: string; readonly script: string }> {
  const output = join(folder.path, "output");
  const { stdout, stderr, code } = await strobe(["-q", ...options, "-o", output, "-c", path, "-e", script]);
  assert.equal(code, 0, stderr);
  assert.equal(stderr, "");
  return { program: stdout.trim(), script: readFileSync(output, "utf8").trim() };
}

const libraries = [
  ["g++", "libstdc++"],
  ["clang++", "libstdc++"],
  ["clang++", "libc++"],
] as const;

const builds = [["-O2"], ["-O0"], ["-O2", "-flto"], ["-O2", "-flto=thin"]].flatMap((optimised) =>
  libraries
    .filter(([compiler]) => compiler !== "g++" || !optimised.includes("-flto=thin"))
    .map((library) => [optimised, ...library] as const),
);

for (const [optimised, compiler, library] of partOf("values", builds)) {
  const level = optimised.join(" ");
  test(`values of C++: ${library} by ${compiler} ${level}`, { skip: missing(compiler) }, async () => {
    const text = source("library.cpp");
    const flags = library === "libc++" ? ["-stdlib=libc++", "-fno-limit-debug-info"] : [];
    const path = compileWith(
      compiler,
      folder.path,
      "library.cpp",
      `${library}-${compiler}${optimised.join("")}`,
      "-std=c++17",
      ...optimised,
      ...(optimised.length > 1 && compiler === "clang++" ? ["-fuse-ld=lld"] : []),
      ...flags,
    );
    const numbers = [...text.matchAll(/SEE\((\d+)/g)].map(([, number]) => number);
    assert.equal(numbers.length, 32);
    const { program, script } = await over(
      path,
      numbers.map((number) => `uprobe:${path}:see_${number} { print(args.v) }`).join("\n"),
    );
    assert.deepEqual(script.split("\n"), program.split("\n"));
  });
}

for (const flags of partOf("values", [
  ["opt-level=3", "lto=fat"],
  ["opt-level=0"],
  ["opt-level=3"],
  ["opt-level=2", "lto=thin", "codegen-units=8"],
])) {
  test(`values of Rust, -C ${flags.join(" -C ")}`, { skip: missing("rustc") }, async () => {
    const text = source("library.rs");
    const path = compileWith(
      "rustc",
      folder.path,
      "library.rs",
      `rust${flags.join("")}`,
      "--edition",
      "2021",
      ...flags.flatMap((flag) => ["-C", flag]),
    );
    const numbers = [...text.matchAll(/^see!\(see_(\d+)/gm)].map(([, number]) => number);
    assert.equal(numbers.length, 29);
    const { program, script } = await over(
      path,
      numbers.map((number) => `uprobe:${path}:see_${number} { print(args.v) }`).join("\n"),
    );
    assert.deepEqual(script.split("\n"), program.split("\n"));
  });
}

/** Maps of Go have no order; which elements of a large one are shown is left to chance. */
const inOrder = (line: string): string => {
  const some = /^\{(.*), … (\d+ more)\}$/.exec(line);
  if (some === null) return sorted(line);
  const pairs = new Map(some[1].split(", ").map((pair) => pair.split(": ").map(Number) as [number, number]));
  for (const [key, value] of pairs) assert.equal(value, 3 * key, line);
  return `${pairs.size} triples and ${some[2]}`;
};

const sorted = (line: string): string =>
  /^\{\d/.test(line)
    ? `{${line
        .slice(1, -1)
        .split(/, (?=\d+: )/)
        .sort()
        .join(", ")}}`
    : line;

for (const flags of [["-gcflags=-N -l"], []]) {
  test(
    `values of Go, ${flags.join(" ") || "optimised"}`,
    { skip: spawnSync("go", ["version"]).status !== 0 && "needs go" },
    async () => {
      source("library.go");
      const path = join(folder.path, `go${flags.length}`);
      runTool(folder.path, "go", ["build", ...flags, "-o", path, "library.go"]);
      const shown = [1, 2, 3, 4, 5, 7, 9].map((number) => `uprobe:${path}:main.see${number} { print(args.v) }`);
      const { program, script } = await over(
        path,
        [
          ...shown,
          `uprobe:${path}:main.see6 { print(*args.v) }`,
          `uprobe:${path}:main.see8 { print(len(args.v)) }`,
        ].join("\n"),
      );
      assert.deepEqual(script.split("\n").map(inOrder), program.split("\n").map(inOrder));
    },
  );
}

for (const flags of [["-gcflags=-N -l"], []]) {
  test(
    `interfaces of Go are what is in them, ${flags.join(" ") || "optimised"}`,
    { skip: spawnSync("go", ["version"]).status !== 0 && "needs go" },
    async () => {
      source("interfaces.go");
      const path = join(folder.path, `interfaces${flags.length}`);
      runTool(folder.path, "go", ["build", ...flags, "-o", path, "interfaces.go"]);
      const { program, script } = await over(
        path,
        `uprobe:${path}:main.anything, uprobe:${path}:main.shape, uprobe:${path}:main.fails { print(args.v) }
        uprobe:${path}:main.holds { print(*args.v) } uprobe:${path}:main.receives { print(args.v) }`,
      );
      // What the compiler knows of an interface does not name all types.
      const known = (line: string): string => line.replace(/^another type \{ \._type = \w+, \.data = \w+ \}$/, "map");
      assert.deepEqual(script.split("\n").map(known), program.split("\n"));
      const json = await strobe(["-q", "-f", "json", "-c", path, "-e", `uprobe:${path}:main.fails { print(args.v) }`]);
      assert.deepEqual(
        json.stdout
          .split("\n")
          .filter((line) => line.startsWith("{"))
          .slice(-2)
          .map((line) => (JSON.parse(line) as { data: unknown }).data),
        [{ "*errors.errorString": { s: "oops" } }, null],
      );
    },
  );
}

test("the page's own types are shown as the page says", { skip: missing("g++") }, async () => {
  const page = readFileSync("docs/values.md", "utf8");
  const block = (language: string): string =>
    new RegExp(`^\\\`\\\`\\\`${language}\\n(.*?)^\\\`\\\`\\\``, "ms").exec(page)?.[1] ?? "";
  writeFileSync(join(folder.path, "shelf.cpp"), block("cpp"));
  const path = compileWith("g++", folder.path, "shelf.cpp", "shelf", "-O1");
  const types = join(folder.path, "own.values");
  writeFileSync(types, block("values"));
  const { script } = await over(
    path,
    `uprobe:${path}:take { print(*args.s); printf("%s has %d\\n", args.s->name, len(args.s->books)) }`,
    "--types",
    types,
  );
  assert.deepEqual(script.split("\n"), [block("text").trim(), "maps has 3"]);
  const plain = await over(path, `uprobe:${path}:take { print(*args.s) }`);
  assert.match(
    plain.script,
    /^\{ \.name = \{ \.length = 4, \.chars = 0x[0-9a-f]+ \}, \.books = \{ \.top = 0x[0-9a-f]+, \.size = 3 \} \}$/,
  );
});

test("descriptions that are wrong, or do anything but read, are refused with their place", async () => {
  const refusal = async (text: string): Promise<string> => {
    const file = join(folder.path, "wrong.values");
    writeFileSync(file, text);
    const { stderr, code } = await strobe(["--types", file, "-e", "begin { exit() }"]);
    assert.equal(code, 1);
    return stderr.replaceAll(`${folder.path}/`, "");
  };
  assert.equal(
    await refusal('x\n  text\n  data system("id")\n  length 1\n'),
    "strobe: wrong.values:3: data: expressions of descriptions read memory, and do nothing else\n",
  );
  assert.equal(
    await refusal("x\n  text\n  data @a\n  length 1\n"),
    "strobe: wrong.values:3: data: expressions of descriptions read memory, and do nothing else\n",
  );
  assert.match(await refusal("x\n  lists\n"), /^strobe: wrong\.values:2: `lists` is none of text, list, /);
  assert.equal(
    await refusal("x\n  list\n  data $self.a\n"),
    "strobe: wrong.values:2: list needs data, length; or length, begin, next, item\n",
  );
  assert.equal(
    await refusal("  list\n"),
    "strobe: wrong.values:1: expected the name of a type, at the beginning of its line\n",
  );
  assert.match(
    await refusal(`x\n  text ${"y".repeat(5000)}\n`),
    /^strobe: wrong\.values:2: the line is longer than 4096 characters\n/,
  );
});

test("objects that are garbage say so", { skip: missing("g++") }, async () => {
  writeFileSync(
    join(folder.path, "garbage.cpp"),
    `
    #include <cstring>
    #include <map>
    #include <string>
    #include <vector>
    extern "C" __attribute__((noinline)) void take(std::vector<int> *v, std::string *s, std::map<int, int> *m, std::vector<int> *u) {
      asm volatile("" :: "r"(v), "r"(s), "r"(m), "r"(u) : "memory");
    }
    int main() {
      static unsigned long bytes[3][16];
      memset(bytes, 0x5a, sizeof bytes);
      // Elements where nothing is.
      static unsigned long nowhere[3] = { 0x1000, 0x1010, 0x1010 };
      take((std::vector<int> *)bytes[0], (std::string *)bytes[1], (std::map<int, int> *)bytes[2], (std::vector<int> *)nowhere);
      bytes[0][1] = 0;
      take((std::vector<int> *)bytes[0], (std::string *)bytes[1], (std::map<int, int> *)bytes[2], (std::vector<int> *)nowhere);
    }`,
  );
  const path = compileWith("g++", folder.path, "garbage.cpp", "garbage", "-O1");
  const { script } = await over(
    path,
    `uprobe:${path}:take { print(*args.v); print(*args.s); print(*args.m); print(*args.u); }`,
  );
  const rest = ["<impossible length>", "{<impossible length>}", "[<4 unreadable>]"];
  assert.deepEqual(script.split("\n"), ["[]", ...rest, "[<impossible length>]", ...rest]);
  const json = await over(path, `uprobe:${path}:take { print(*args.m); print(*args.u); exit() }`, "-f", "json");
  assert.deepEqual(
    json.script.split("\n").map((line) => (JSON.parse(line) as { data: unknown }).data),
    ["<impossible length>", ["<4 unreadable>"]],
  );
});

test(
  "texts that are not in memory say so, and texts behind zero bytes are read",
  { skip: missing("g++") },
  async () => {
    writeFileSync(
      join(folder.path, "absent.cpp"),
      `
    #include <string_view>
    #include <vector>
    #include <sys/mman.h>
    extern "C" __attribute__((noinline)) void take(const std::string_view &v, const std::vector<std::string_view> &all) {
      asm volatile("" :: "r"(&v), "r"(&all) : "memory");
    }
    int main() {
      char *p = (char *)mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      for (int i = 0; i < 4096; i++) p[i] = i % 5 || i > 99 ? 'a' : 0;
      mprotect(p + 4096, 4096, PROT_NONE);
      std::vector<std::string_view> all = {{p + 4090, 20}, {p + 4096, 5}, {p + 1, 9}, {p + 4096, 0}};
      for (auto &v : all) take(v, all);
    }`,
    );
    const path = compileWith("g++", folder.path, "absent.cpp", "absent", "-O1", "-std=c++17");
    const { script } = await over(
      path,
      `uprobe:${path}:take { printf("%s|%d|%d\\n", args.v, args.v == "", args.v == "aaaa"); @[args.v] = 1; }
    uprobe:${path}:take { @calls++; if (@calls == 1) { print(args.all); } } end { clear(@calls); print(@["aaaa\\xc0\\x80aaaa"]); clear(@); }`,
    );
    assert.deepEqual(script.split("\n"), [
      "<unreadable>|0|0",
      '["<unreadable>", "<unreadable>", "aaaa\\u0000aaaa", ""]',
      "<unreadable>|0|0",
      "aaaa\\x00aaaa|0|0",
      "|1|0",
      "1",
    ]);
  },
);

test(
  "values are JSON as JSON has them, texts that maps have for keys, and counted",
  { skip: missing("clang++") },
  async () => {
    writeFileSync(
      join(folder.path, "people.cpp"),
      `
    #include <map>
    #include <optional>
    #include <string>
    #include <vector>
    struct person { std::string name; std::optional<int> age; std::map<std::string, std::vector<int>> marks; };
    extern "C" __attribute__((noinline)) void take(const person &p, const std::vector<person> &all) { asm volatile("" :: "r"(&p), "r"(&all) : "memory"); }
    int main() {
      person ann = { "Ann", 33, {{"maths", {1, 2}}, {"music", {}}} }, bob = { "Bob", {}, {} };
      take(ann, {ann, bob});
      take(bob, {});
    }`,
    );
    const path = compileWith("clang++", folder.path, "people.cpp", "people", "-O1", "-std=c++17");
    const shown = await over(
      path,
      `uprobe:${path}:take { printf("%s %d %d\\n", args.p.name, len(args.all), args.p.name == "Bob"); @[args.p.name] = len(args.p.marks); if (len(args.all) == 2) { print(args.all[1].name); $all = args.all; print(len($all)); } }`,
    );
    assert.deepEqual(
      shown.script.split("\n").filter((line) => line !== ""),
      ["Ann 2 0", "Bob", "2", "Bob 0 1", "@[Bob]: 0", "@[Ann]: 2"],
    );
    const json = await over(path, `uprobe:${path}:take { print(args); }`, "-f", "json");
    const ann = { name: "Ann", age: 33, marks: { maths: [1, 2], music: [] } };
    const bob = { name: "Bob", age: null, marks: {} };
    assert.deepEqual(
      json.script.split("\n").map((line) => (JSON.parse(line) as { data: unknown }).data),
      [
        { p: ann, all: [ann, bob] },
        { p: bob, all: [] },
      ],
    );
  },
);

test("-v names types that no description of their name fits", { skip: missing("g++") }, async () => {
  writeFileSync(
    join(folder.path, "other.cpp"),
    `
    #include <string>
    namespace std { namespace __1 { template <class T> struct vector { T *first; unsigned long count; struct inner { T *at; } in; }; } }
    namespace std { namespace __1 { template <class T> struct forward_list { struct { struct { T *at; } __next_; } __before_begin_; }; } }
    extern "C" __attribute__((noinline)) void take(const std::__1::vector<int> &v, const std::string &s, const std::__1::forward_list<int> &l) { asm volatile("" :: "r"(&v), "r"(&s), "r"(&l) : "memory"); }
    int main() { std::__1::vector<int> v = { nullptr, 0, { nullptr } }; take(v, "text", {}); }`,
  );
  const path = compileWith("g++", folder.path, "other.cpp", "other", "-O1");
  const { stderr, code } = await strobe([
    "-v",
    "-c",
    path,
    "-e",
    `uprobe:${path}:take { print(args.v); print(args.v.in); print(args.s); print(args.l) }`,
  ]);
  assert.equal(code, 0, stderr);
  const said = stderr.split("\n").filter((line) => line.includes("description"));
  assert.deepEqual(
    said,
    ["vector", "forward_list"].map(
      (name) => `std::__1::${name}<int>: no description of this name fits; it is shown as its members`,
    ),
  );
});

test("members of one name are those of their classes", { skip: missing("g++") }, async () => {
  writeFileSync(
    join(folder.path, "bases.cpp"),
    `
    #include <string>
    struct one { std::string x; };
    struct two { std::string x; };
    struct top { std::string x; };
    struct left : top { std::string l; };
    struct right : top { std::string r; };
    struct all : one, two { long x; };
    struct both : left, right { };
    extern "C" __attribute__((noinline)) void take(const all &a, const both &b) { asm volatile("" :: "r"(&a), "r"(&b) : "memory"); }
    int main() {
      all a; a.one::x = "first"; a.two::x = "second"; a.x = 3;
      both b; b.left::x = "of left"; b.right::x = "of right"; b.l = "l"; b.r = "r";
      take(a, b);
    }`,
  );
  const path = compileWith("g++", folder.path, "bases.cpp", "bases", "-O1");
  const { script } = await over(
    path,
    `uprobe:${path}:take { print(args.a); print(args.a.x); print(args.b); print(args.b.x) }`,
  );
  assert.deepEqual(script.split("\n"), [
    "{ .one::x = first, .two::x = second, .x = 3 }",
    "3",
    "{ .x = of left, .l = l, .top::x = of right, .r = r }",
    "of left",
  ]);
});

for (const [compiler, ...flags] of [["g++"], ["clang++", "-stdlib=libc++", "-fno-limit-debug-info"]]) {
  test(
    `loops over elements, as the program has them in its own: ${compiler}`,
    { skip: missing(compiler) },
    async () => {
      writeFileSync(
        join(folder.path, "loops.cpp"),
        `
      #include <cstdio>
      #include <map>
      #include <set>
      #include <string>
      #include <unordered_map>
      #include <vector>
      using namespace std;
      extern "C" __attribute__((noinline)) void take(const vector<int> &v, const vector<string> &t, const map<string, int> &m, const set<long> &s, const unordered_map<int, int> &u) {
        asm volatile("" :: "r"(&v), "r"(&t), "r"(&m), "r"(&s), "r"(&u) : "memory");
      }
      int main() {
        vector<int> v; for (int i = 0; i < 40; i++) v.push_back(i * i);
        vector<string> t = { "one", "two", "three" };
        map<string, int> m = { { "x", 1 }, { "y", -2 } };
        set<long> s = { 5, 1, 3 };
        unordered_map<int, int> u = { { 1, 10 }, { 2, 20 } };
        take(v, t, m, s, u);
        take({}, {}, {}, {}, {});
        long sum = 0; int n = 0;
        for (auto x : v) { if (n++ == 16) break; if (x != 9) sum += x; }
        printf("%ld\\n", sum);
        for (auto &x : t) { if (x == "three") break; printf("%s\\n", x.c_str()); }
        for (auto &[k, x] : m) printf("%s=%d\\n", k.c_str(), x);
        for (auto x : s) printf("%ld\\n", x);
        for (auto &[k, x] : u) printf("%d=%d\\n", k, x);
      }`,
      );
      const path = compileWith(compiler, folder.path, "loops.cpp", `loops-${compiler}`, "-O1", "-std=c++17", ...flags);
      const { program, script } = await over(
        path,
        `uprobe:${path}:take {
      $sum = 0;
      for ($x : args.v) { if ($x == 9) { continue; } $sum += $x; }
      if (len(args.v) > 0) { printf("%d\\n", $sum); }
      for ($x : args.t) { if ($x == "three") { break; } printf("%s\\n", $x); }
      for ($kv : args.m) { printf("%s=%d\\n", $kv.0, $kv.1); }
      for ($x : args.s) { printf("%d\\n", $x); }
      for ($kv : args.u) { printf("%d=%d\\n", $kv.0, $kv.1); }
    }`,
      );
      assert.deepEqual(script.split("\n"), program.split("\n"));
      const { stderr, code } = await strobe(["-e", `uprobe:${path}:take { for ($x : args.v[0]) { @ = count(); } }`]);
      assert.equal(code, 1);
      assert.match(stderr, /`for` expects a map, a range or a value with elements, got an int32/);
    },
  );
}
