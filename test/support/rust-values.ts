// A Rust program of many types, each passed and returned by functions of its own, that prints what it passes; and the
// script that reads the same.

/**
 * What is read of a value, and what the program itself says of it. `is`: the whole value as text has this in it (a
 * variant's name).
 */
interface Leaf {
  readonly read: string;
  readonly says: string;
}
interface Kind {
  readonly type: string;
  /** Values, made of `k`. */
  readonly values: readonly { readonly value: string; readonly leaves: readonly Leaf[]; readonly variant?: string }[];
  /** It is in a vector register at calls and returns. */
  readonly vector?: true;
}

const leaf = (path: string, rust: string): Leaf => ({ read: path, says: rust });
const plain = (type: string, value: string, says = "x as i64"): Kind => ({
  type,
  values: [{ value, leaves: [leaf("", says)] }],
});
const one = (type: string, value: string, ...leaves: readonly Leaf[]): Kind => ({ type, values: [{ value, leaves }] });

export const kinds: readonly Kind[] = [
  plain("u8", "200 + k as u8"),
  plain("i8", "-3 - k as i8"),
  plain("u16", "60000 + k as u16"),
  plain("i16", "-300 - k as i16"),
  plain("u32", "4000000000 + k"),
  plain("i32", "-70000 - k as i32"),
  plain("u64", "(1 << 40) + k as u64"),
  plain("i64", "-(1 << 40) - k as i64"),
  plain("usize", "12345 + k as usize"),
  plain("bool", "k == 1"),
  plain("char", "char::from_u32(0x20ac + k).unwrap()", "x as u32"),
  one("u128", "(7u128 << 64) + 9 + k as u128", leaf("[0]", "x as u64"), leaf("[1]", "(x >> 64) as u64")),
  { ...plain("f64", "1.5 + k as f64", "0"), vector: true },
  { ...one("(f64, u64)", "(2.5, 77 + k as u64)", leaf(".__1", "x.1")), vector: true },
  plain("&'static i32", "&NUMBERS[k as usize]", "*x"),
  plain("&'static u64", "&WIDE[k as usize]", "*x"),
  one("&'static Pair", "&PAIRS[k as usize]", leaf(".a", "x.a"), leaf(".b", "x.b")),
  one(
    "&'static [i32]",
    "&NUMBERS[..2 + k as usize]",
    leaf(".length", "x.len()"),
    leaf("[0]", "x[0]"),
    leaf("[1]", "x[1]"),
  ),
  one("&'static [Pair]", "&PAIRS[..]", leaf(".length", "x.len()"), leaf("[1].a", "x[1].a"), leaf("[1].b", "x[1].b")),
  one("&'static str", 'if k == 0 { "zero" } else { "ones and more" }', leaf(".length", "x.len()")),
  one("String", 'format!("text {}", k)', leaf(".vec.len", "x.len()")),
  one(
    "Vec<i32>",
    "vec![10, 2000 + k as i32, 300000]",
    leaf(".len", "x.len()"),
    leaf("[0]", "x[0]"),
    leaf("[1]", "x[1]"),
    leaf("[2]", "x[2]"),
  ),
  one("Vec<u8>", "vec![1, 2 + k as u8, 3]", leaf(".len", "x.len()"), leaf("[1]", "x[1]"), leaf("[2]", "x[2]")),
  one(
    "Vec<Pair>",
    "vec![Pair { a: 1, b: 2 }, Pair { a: 3 + k as i32, b: 4 }]",
    leaf("[1].a", "x[1].a"),
    leaf("[1].b", "x[1].b"),
  ),
  one("Vec<(u16, u64)>", "vec![(1, 2), (3, 4 + k as u64)]", leaf("[1].__0", "x[1].0"), leaf("[1].__1", "x[1].1")),
  one("Box<[u16]>", "vec![5, 600 + k as u16].into_boxed_slice()", leaf(".length", "x.len()"), leaf("[1]", "x[1]")),
  one("[u8; 3]", "[1, 2, 3 + k as u8]", leaf("[0]", "x[0]"), leaf("[2]", "x[2]")),
  one("[i32; 2]", "[-1, k as i32]", leaf("[0]", "x[0]"), leaf("[1]", "x[1]")),
  one("[i32; 3]", "[4, 5, k as i32]", leaf("[0]", "x[0]"), leaf("[1]", "x[1]"), leaf("[2]", "x[2]")),
  one("[u16; 8]", "[0, 1, 2, 3, 4, 5, 6, 70 + k as u16]", leaf("[1]", "x[1]"), leaf("[7]", "x[7]")),
  one("[u64; 4]", "[9, 8, 7, 6 + k as u64]", leaf("[0]", "x[0]"), leaf("[3]", "x[3]")),
  one("(u8, u32)", "(250, 70000 + k)", leaf(".__0", "x.0"), leaf(".__1", "x.1")),
  one("(u32, u32)", "(1 + k, 2)", leaf(".__0", "x.0"), leaf(".__1", "x.1")),
  one("(i16, i16)", "(-1 - k as i16, -2)", leaf(".__0", "x.0"), leaf(".__1", "x.1")),
  one("(u64, u64)", "(1 << 50, 3 + k as u64)", leaf(".__0", "x.0"), leaf(".__1", "x.1")),
  one("(u8, u16, u32)", "(1, 2, 3 + k)", leaf(".__0", "x.0"), leaf(".__1", "x.1"), leaf(".__2", "x.2")),
  one("(u64, u8, u8)", "(1 << 33, 2, 3 + k as u8)", leaf(".__0", "x.0"), leaf(".__1", "x.1"), leaf(".__2", "x.2")),
  one("Pair", "Pair { a: -5 - k as i32, b: -(1 << 41) }", leaf(".a", "x.a"), leaf(".b", "x.b")),
  one("New", "New(9 + k)", leaf(".__0", "x.0")),
  one(
    "Big",
    "Big { words: [1, 2, 3, 4 + k as u64], last: 5 }",
    leaf(".words[3]", "x.words[3]"),
    leaf(".last", "x.last"),
  ),
  one("Packed", "Packed { a: 1, b: 70000 + k }", leaf(".a", "{ x.a }"), leaf(".b", "{ x.b }")),
  one("Aligned", "Aligned { a: 3 + k }", leaf(".a", "x.a")),
  one("AsC", "AsC { a: 1, b: 2 + k, c: 3 }", leaf(".a", "x.a"), leaf(".b", "x.b"), leaf(".c", "x.c")),
  one(
    "Nested",
    "Nested { at: (1, 2 + k), on: true }",
    leaf(".at.__0", "x.at.0"),
    leaf(".at.__1", "x.at.1"),
    leaf(".on", "x.on as u8"),
  ),
  plain("Level", "if k == 0 { Level::Low } else { Level::High }", "x as u16"),
  options("Option<u32>", "5 + k", ["", "*x"]),
  options("Option<u8>", "5 + k as u8", ["", "*x"]),
  options("Option<u64>", "(1 << 39) + k as u64", ["", "*x"]),
  options("Option<bool>", "k == 0", ["", "*x as u8"]),
  options("Option<char>", "'a'", ["", "*x as u32"]),
  options("Option<&'static i32>", "&NUMBERS[1]", ["", "*x as *const i32 as usize"]),
  options("Option<Box<i32>>", "Box::new(4)", ["", "&**x as *const i32 as usize"]),
  options("Option<std::num::NonZeroU16>", "std::num::NonZeroU16::new(500).unwrap()"),
  options("Option<(u32, u32)>", "(8, 9 + k)", [".__0", "x.0"], [".__1", "x.1"]),
  options("Option<[u8; 3]>", "[1, 2, 3]", ["[2]", "x[2]"]),
  options("Option<&'static str>", '"four"', [".length", "x.len()"]),
  options("Option<String>", 'String::from("seven 7")', [".vec.len", "x.len()"]),
  options("Option<Vec<i32>>", "vec![40, 50000]", ["[1]", "x[1]"], [".len", "x.len()"]),
  options("Option<Pair>", "Pair { a: 3, b: -4 }", [".a", "x.a"], [".b", "x.b"]),
  options("Option<(u8, &'static i32)>", "(3, &NUMBERS[0])", [".__0", "x.0"]),
  results("Result<u32, u32>", "7 + k", ["", "*x"], "8", ["", "*x"]),
  results("Result<i32, u32>", "-7", ["", "*x"], "8", ["", "*x"]),
  results("Result<u32, u8>", "7", ["", "*x"], "8", ["", "*x"]),
  results("Result<u64, &'static u64>", "1 << 40", ["", "*x"], "&WIDE[0]", ["", "*x as *const u64 as usize"]),
  results("Result<String, u8>", 'String::from("good")', [".vec.len", "x.len()"], "8", ["", "*x"]),
  results("Result<Vec<i32>, String>", "vec![1, 2000]", ["[1]", "x[1]"], 'format!("bad {}", k)', [
    ".vec.len",
    "x.len()",
  ]),
  results("Result<(u64, u64), u8>", "(1, 2)", [".__1", "x.1"], "8", ["", "*x"]),
  results("Result<u16, Level>", "700", ["", "*x"], "Level::High", ["", "*x as u16"]),
  {
    type: "Shape",
    values: [
      {
        value: "Shape::Circle { radius: 5 + k }",
        leaves: [leaf(".Circle.radius", "match x { Shape::Circle { radius } => *radius, _ => 0 }")],
        variant: "Circle",
      },
      {
        value: "Shape::Rect(6, 7 + k as u16)",
        leaves: [
          leaf(".Rect.__0", "match x { Shape::Rect(a, _) => *a, _ => 0 }"),
          leaf(".Rect.__1", "match x { Shape::Rect(_, b) => *b, _ => 0 }"),
        ],
        variant: "Rect",
      },
      { value: "Shape::Empty", leaves: [], variant: "Empty" },
    ],
  },
  {
    type: "Wide",
    values: [
      {
        value: "Wide::One(1 << 40)",
        leaves: [leaf(".One.__0", "match x { Wide::One(a) => *a, _ => 0 }")],
        variant: "One",
      },
      {
        value: "Wide::Two(3, 4)",
        leaves: [
          leaf(".Two.__0", "match x { Wide::Two(a, _) => *a, _ => 0 }"),
          leaf(".Two.__1", "match x { Wide::Two(_, b) => *b, _ => 0 }"),
        ],
        variant: "Two",
      },
    ],
  },
];

type Path = readonly [string, string];

function options(type: string, some: string, ...paths: readonly Path[]): Kind {
  return {
    type,
    values: [
      {
        value: `Some(${some})`,
        leaves: paths.map(([path, rust]) => leaf(`.Some.__0${path}`, `{ let x = x.as_ref().unwrap(); ${rust} }`)),
        variant: "Some",
      },
      { value: "None", leaves: [], variant: "None" },
    ],
  };
}

function results(type: string, ok: string, [okPath, okRust]: Path, err: string, [errPath, errRust]: Path): Kind {
  return {
    type,
    values: [
      {
        value: `Ok(${ok})`,
        leaves: [leaf(`.Ok.__0${okPath}`, `{ let x = x.as_ref().ok().unwrap(); ${okRust} }`)],
        variant: "Ok",
      },
      {
        value: `Err(${err})`,
        leaves: [leaf(`.Err.__0${errPath}`, `{ let x = x.as_ref().err().unwrap(); ${errRust} }`)],
        variant: "Err",
      },
    ],
  };
}

const declarations = String.raw`
#![allow(dead_code, unused_variables, unused_braces, unused_parens)]
static NUMBERS: [i32; 3] = [11, 2200, 330000];
static WIDE: [u64; 2] = [1 << 45, 3];
static PAIRS: [Pair; 2] = [Pair { a: 21, b: 22 }, Pair { a: -23, b: 1 << 44 }];
pub struct Pair { a: i32, b: i64 }
pub struct New(u32);
pub struct Big { words: [u64; 4], last: u8 }
#[repr(C, packed)] pub struct Packed { a: u8, b: u32 }
#[repr(align(16))] pub struct Aligned { a: u32 }
#[repr(C)] pub struct AsC { a: u8, b: u32, c: u16 }
pub struct Nested { at: (u32, u32), on: bool }
#[derive(Clone, Copy)] #[repr(u16)] pub enum Level { Low = 1, High = 700 }
pub enum Shape { Circle { radius: u32 }, Rect(u16, u16), Empty }
pub enum Wide { One(u64), Two(u32, u32) }
/// What the compiler cannot look through.
#[inline(always)]
fn seen<T>(t: &T) { unsafe { std::arch::asm!("/* {0} */", in(reg) t) } }
#[inline(never)]
fn given() -> u32 { let zero = 0; seen(&zero); zero }
`;

/** A type's values may differ in what there is to read: each has functions of its own. */
interface Case {
  readonly name: string;
  readonly kind: Kind;
  readonly value: Kind["values"][number];
}

const cases: readonly Case[] = kinds.flatMap((kind, i) =>
  kind.values.map((value, j) => ({ name: `t${i}_${j}`, kind, value })),
);

/**
 * Functions: `first` and `kept` by what they do with it (read it; give its address away), `last` by where it stands;
 * `back` returns one.
 */
export function rustValuesSource(): string {
  const lines = [declarations];
  const main: string[] = [];
  for (const [
    i,
    {
      name,
      kind: { type },
      value: { value, leaves, variant },
    },
  ] of cases.entries()) {
    // Equal functions would be merged.
    const own = `seen(&${i}u32);`;
    // Where it takes a reference, a leaf is of what that refers to.
    const byReference = variant !== undefined;
    const reads = leaves.map(({ says }) => (byReference ? `{ let x = &x; ${says} }` : says));
    const sum = reads.length === 0 ? "0" : reads.map((read) => `(${read}) as u64`).join(" ^ ");
    lines.push(
      `#[inline(never)] fn first_${name}(x: ${type}, n: u32) -> u64 { ${own} let sum = (${sum}) ^ n as u64; println!("- {}", sum); sum }`,
      `#[inline(never)] fn kept_${name}(n: u32, x: ${type}) -> u32 { ${own} seen(&n); seen(&x); n }`,
      `#[inline(never)] fn last_${name}(a: &[i32], b: &str, c: &[u64], x: ${type}, n: u32) -> u64 { ${own} seen(&a); seen(&b); seen(&x); (${sum}) ^ n as u64 ^ c.len() as u64 }`,
      `#[inline(never)] fn back_${name}(k: u32) -> ${type} { ${own} seen(&k); ${value} }`,
    );
    for (const label of ["first", "kept", "last"]) {
      const call =
        label === "first" ? "(x, 40 + k)" : label === "kept" ? "(41 + k, x)" : '(&NUMBERS, "text", &WIDE, x, 42 + k)';
      main.push(
        `    { let x: ${type} = ${value}; println!("${label}_${name}${" {}".repeat(leaves.length)}"${reads.map((read) => `, ${read}`).join("")}); std::mem::drop(${label}_${name}${call}); }`,
      );
    }
    main.push(
      `    { let x = back_${name}(k); seen(&x); println!("back_${name}${" {}".repeat(leaves.length)}"${reads.map((read) => `, ${read}`).join("")}); }`,
    );
  }
  return `${lines.join("\n")}\nfn run(k: u32) {\n${main.join("\n")}\n}\nfn main() { run(given()); run(given() + 1); }\n`;
}

/** One probe a line: a value by its leaves, and by its text where it has variants. */
export function rustValuesScript(path: string): string[] {
  const lines: string[] = [];
  for (const {
    name,
    value: { leaves, variant },
  } of cases) {
    for (const label of ["first", "kept", "last", "back"]) {
      const [kind, value] = label === "back" ? ["uretprobe", "retval"] : ["uprobe", "args.x"];
      const probe = `${kind}:${path}:${label}_${name}`;
      const whole = label === "back" && leaves.some(({ read }) => read === "");
      // Where the value is one number it is shown by itself: `retval` as a number is a register.
      if (whole || (variant !== undefined && label === "back"))
        lines.push(`${probe} { printf("${label}_${name} is "); print(retval); }`);
      if (leaves.length > 0 && !whole)
        lines.push(
          `${probe} { printf("${label}_${name}${" %d".repeat(leaves.length)}\\n", ${leaves.map(({ read }) => value + read).join(", ")}); }`,
        );
      if (variant !== undefined && label !== "back")
        lines.push(`${probe} { printf("${label}_${name} is %s\\n", ${value}); }`);
      if (label !== "back") lines.push(`${probe} { printf("${label}_${name} n %d\\n", args.n); }`);
      if (label === "last")
        lines.push(
          `${probe} { printf("${label}_${name} abc %d %d %d %s %d\\n", args.a.length, args.a[1], args.b.length, args.b, args.c.length); }`,
        );
    }
  }
  return lines;
}

/** What the script should have printed of a name, by what the program said of it. */
export function expectedOf(name: string): { readonly variant?: string; readonly n?: number } {
  const [label, rest] = [name.slice(0, name.indexOf("_")), name.slice(name.indexOf("_") + 1)];
  const found = cases.find((one) => one.name === rest);
  const n = { first: 40, kept: 41, last: 42 }[label];
  return {
    ...(found?.value.variant === undefined ? {} : { variant: found.value.variant }),
    ...(n === undefined ? {} : { n }),
  };
}

/** Methods of types and traits. */
export const methodsSource = String.raw`
#[inline(never)] fn bb<T>(t: &T) { unsafe { std::arch::asm!("/* {0} */", in(reg) t) } }
pub trait Speak { fn speak(&self, n: u32) -> u32; fn twice(&self) -> u32 { self.speak(2) } }
pub struct Dog { age: u32 }
pub struct Cat { age: u32 }
impl Speak for Dog { #[inline(never)] fn speak(&self, n: u32) -> u32 { bb(&n); self.age + n } }
impl Speak for Cat { #[inline(never)] fn speak(&self, n: u32) -> u32 { bb(&n); self.age * n } }
impl std::fmt::Display for Dog { #[inline(never)] fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result { write!(f, "dog {}", self.age) } }
impl Dog { #[inline(never)] pub fn bark(&self) -> u32 { bb(&self.age); self.age } }
mod zoo { pub struct Cage<T> { pub t: T } impl<T: Copy + Into<u64>> Cage<T> { #[inline(never)] pub fn open(&self) -> u64 { super::bb(&self.t); self.t.into() } } 
  pub mod deep { #[inline(never)] pub fn visit(n: u32) -> u32 { super::super::bb(&n); n + 1 } } }
impl Drop for Cat { #[inline(never)] fn drop(&mut self) { bb(&self.age); } }
#[inline(never)] fn apply<F: Fn(u32) -> u32>(f: F) -> u32 { f(3) }
fn main() {
    let d = Dog { age: 3 }; let c = Cat { age: 4 };
    println!("{} {} {} {}", d.speak(1), c.speak(5), d.bark(), d);
    println!("{} {}", zoo::Cage { t: 7u32 }.open(), zoo::Cage { t: 8u8 }.open());
    println!("{} {}", zoo::deep::visit(1), apply(|x| { bb(&x); x * 2 }));
    let dy: &dyn Speak = &c; println!("{}", dy.twice());
}
`;

/** Probes by the short names of methods, and how often they are called. */
export const methodCounts: Readonly<Record<string, number>> = {
  "Dog::speak": 1,
  "names::Cat::speak": 2,
  "Dog::bark": 1,
  "Cage::open": 2,
  "zoo::Cage::open": 2,
  "deep::visit": 1,
  "Dog::fmt": 1,
  "Cat::drop": 1,
};

/** Functions for C, and one of Rust by a plain name. */
export const forCSource = String.raw`
fn bb<T>(t: &T) { unsafe { std::arch::asm!("/* {0} */", in(reg) t) } }
#[repr(C)] pub struct Two { a: u32, b: u32 } #[repr(C)] pub struct Four { a: u64, b: u64 } #[repr(C)] pub struct Six { a: u64, b: u32 } #[repr(C)] pub struct Large { a: [u64; 5] }
#[no_mangle] #[inline(never)] pub extern "C" fn ctwo(k: u32) -> Two { bb(&k); Two { a: 1, b: 2 + k } }
#[no_mangle] #[inline(never)] pub extern "C" fn cfour(k: u32) -> Four { bb(&k); Four { a: 3, b: 4 + k as u64 } }
#[no_mangle] #[inline(never)] pub extern "C" fn csix(k: u32) -> Six { bb(&k); Six { a: 5, b: 6 + k } }
#[no_mangle] #[inline(never)] pub extern "C" fn cint(k: u32) -> i32 { bb(&k); -7 }
#[no_mangle] #[inline(never)] pub extern "C" fn clarge(k: u32) -> Large { bb(&k); Large { a: [1,2,3,4,8] } }
#[no_mangle] #[inline(never)] pub fn rtwo(k: u32) -> Two { bb(&k); Two { a: 1, b: 2 + k } }
fn main() { let k = std::env::args().count() as u32; println!("{}", ctwo(k).b as u64 + cfour(k).b + csix(k).b as u64 + rtwo(k).b as u64 + clarge(k).a[4]); cint(k); }
`;
