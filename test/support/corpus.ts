// Programs for the proof of variables, and gdb as the judge: what it reads at every place that a script over all lines
// stops at.

/** Runs a program under gdb and writes, for each hit of a place, the functions there and the variables in scope. */
export const oracle = String.raw`
import gdb, json, sys
gdb.execute("set pagination off"); gdb.execute("set confirm off"); gdb.execute("set print elements 0"); gdb.execute("set max-value-size unlimited")
gdb.execute("set startup-with-shell off"); gdb.execute("unset environment"); gdb.execute("set environment GODEBUG asyncpreemptoff=1"); gdb.execute("set disable-randomization on"); gdb.execute("set breakpoint pending off")
order = json.load(open(ORDER))
out = open(order["output"], "w")

def plain(value, depth=0):
    """A value as strobe's JSON has it; None where gdb has none of it."""
    try:
        t = value.type.strip_typedefs()
        code = t.code
        if code == gdb.TYPE_CODE_STRUCT and value.is_optimized_out:
            # Of some members there may be something.
            # Where it lacks the table of virtual functions, gdb fails as it looks for base classes.
            if any(f.name is not None and f.name.startswith("_vptr") for f in t.fields()): return None
            fields = [[f.name, f.is_base_class, plain(value[f], depth + 1)] for f in t.fields() if hasattr(f, "bitpos")]
            return {"fields": fields} if any(part is not None for _, _, part in fields) else None
        if code == gdb.TYPE_CODE_ARRAY and value.is_optimized_out:
            low, high = t.range()
            parts = [plain(value[i], depth + 1) for i in range(low, high + 1)]
            return parts if any(part is not None for part in parts) else None
        if value.is_optimized_out: return None
        if code == gdb.TYPE_CODE_PTR and order["references"]: return plain(value.dereference(), depth)
        if code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF): return plain(value.referenced_value(), depth)
        if code == gdb.TYPE_CODE_BOOL: return bool(value)
        if code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_PTR): return int(value)
        if code == gdb.TYPE_CODE_FLT: return {"float": float(value)}
        if code == gdb.TYPE_CODE_ARRAY:
            low, high = t.range()
            return [plain(value[i], depth + 1) for i in range(low, high + 1)]
        if code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            return {"fields": [[f.name, f.is_base_class, plain(value[f], depth + 1)] for f in t.fields() if hasattr(f, "bitpos")]}
        return {"other": str(t)}
    except Exception as error:
        return {"error": str(error)}

def scope(pc, frame):
    block = gdb.block_for_pc(pc)
    found = {}
    names = []
    while block is not None:
        own = {}
        for symbol in block:
            constant = symbol.is_constant and symbol.type.code != gdb.TYPE_CODE_ENUM
            if not (symbol.is_argument or symbol.is_variable or constant) or symbol.name in found or symbol.name in own: continue
            try: own[symbol.name] = plain(symbol.value(frame))
            except Exception as error: own[symbol.name] = {"error": str(error)}
        found.update(own)
        if block.function is not None: break
        block = block.superblock
    block = gdb.block_for_pc(pc)
    while block is not None and not block.is_static and not block.is_global:
        if block.function is not None: names.append(block.function.name)
        block = block.superblock
    return found, names

def globals_now():
    found = {}
    for name, expression in order["globals"]:
        try: found[name] = plain(gdb.parse_and_eval(expression))
        except Exception as error: found[name] = {"error": str(error)}
    return found

class Place(gdb.Breakpoint):
    def __init__(self, address):
        super().__init__("*%d" % address, internal=True)
        self.silent = True
        self.address = address
    def stop(self):
        frame = gdb.newest_frame()
        while frame.type() == gdb.INLINE_FRAME and frame.older() is not None: frame = frame.older()
        found, names = scope(self.address, frame)
        out.write(json.dumps({"pc": self.address - base, "frames": names, "vars": found, "globals": globals_now()}) + "\n")
        return False

gdb.execute("starti", to_string=True)
gdb.execute("handle SIGURG nostop noprint pass", to_string=True)
base = 0
if order["pie"]:
    with open("/proc/%d/maps" % gdb.selected_inferior().pid) as maps:
        base = next(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(order["path"]))
out.write(json.dumps({"base": base}) + "\n")
for place in order["places"]: Place(place + base)
gdb.execute("continue", to_string=True)
out.close()
gdb.execute("quit")
`;

export const corpusC = String.raw`
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum color { RED, GREEN = 5, BLUE };
struct point { int x, y; };
union word { uint32_t whole; unsigned char bytes[4]; };
struct shape { struct point at; unsigned low : 3; int high : 5; enum color color; union word word; _Bool filled; short grid[2][3]; struct shape *next; };
typedef struct shape shape_t;

static int counter = 3;
long total = 100;
static struct { short kept, unused; int written; } split = { 3, 4, 0 };
shape_t board = { { 1, 2 }, 3, -1, BLUE, { 0x55 }, 1, { { 9, 8, 7 } }, 0 };
static unsigned history[4];
static const char *last_text;
enum color tint = RED;
static __thread int in_thread = 6;
__thread struct point thread_point = { 1, 2 };

/* What lies on the stack is the same in every run. */
__attribute__((noinline)) static void clear(void) { volatile char room[1 << 14]; memset((void *)room, 0, sizeof room); }

static inline int scaled(int amount, int factor)
{
  int product = amount * factor;
  if (product > 20)
    product -= counter;
  return product ^ 1;
}

static inline int twice_scaled(int value)
{
  int once = scaled(value, 3);
  int again = scaled(once, value);
  return once + again;
}

__attribute__((noinline)) static int recurse(int depth, long sum)
{
  long here = sum + depth;
  if (depth == 0)
    return (int)here;
  return recurse(depth - 1, here * 2) + 1;
}

__attribute__((noinline)) int area(const shape_t *shape, struct point by, int8_t small, unsigned long large, enum color color, _Bool flag, char letter, short last)
{
  int result = shape->at.x + by.x;
  static int calls = 0;
  calls++;
  in_thread += small;
  thread_point.y += by.x;
  history[calls & 3] += large & 0xff;
  board.at.x += calls;
  tint = color;
  split.kept++;
  split.written = split.unused + calls;
  for (int i = 0; i < 2; i++) {
    int row = shape->grid[i][0];
    for (unsigned j = 1; j < 3; j++) {
      long row = (long)j * shape->grid[i][j];
      result += (int)row + small;
    }
    result += row;
  }
  switch (color) {
    case RED: result += 1; break;
    case GREEN: result += twice_scaled(result); break;
    case BLUE: {
      unsigned char inner = (unsigned char)(large + letter);
      result -= inner;
      break;
    }
  }
  if (flag && shape->next)
    result += area(shape->next, by, last, large >> 1, BLUE, 0, letter + 1, -last);
  return result + calls;
}

__attribute__((noinline)) double mean(const int *values, int count)
{
  double sum = 0;
  int64_t squares = 0;
  const int *end = values + count;
  for (const int *at = values; at < end; at++) {
    int value = *at;
    sum += value;
    squares += (int64_t)value * value;
  }
  total += squares;
  return count ? sum / count : 0;
}

__attribute__((noinline)) static unsigned hash(const char *text)
{
  unsigned result = 5381;
  last_text = text;
  while (*text) {
    unsigned char letter = (unsigned char)*text++;
    result = result * 33 + letter;
  }
  return result;
}

int main(int argc, char **argv)
{
  clear();
  shape_t second = { { 7, -8 }, 2, -3, RED, { 0x01020304 }, 0, { { -1, -2, -3 }, { 4, 5, 6 } }, 0 };
  shape_t first = { { 3, -4 }, 5, -6, GREEN, { 0x44434241 }, 1, { { 1, 2, 3 }, { 4, 5, 6 } }, &second };
  struct point by = { 10 * argc, -20 };
  int values[5] = { 1, 2, 3, 4, argc + 5 };
  int found = area(&first, by, -1, 1UL << 40, GREEN, 1, 'q', -3);
  double average = mean(values, 5);
  unsigned hashed = hash("strobe");
  int deep = recurse(argc + 3, argc);
  printf("%d %g %u %d %ld\n", found, average, hashed, deep, total + twice_scaled(argc));
  printf("%d %d %d %u %s %d %d\n", in_thread, thread_point.y, board.at.x, history[1], last_text, tint, split.kept + split.written);
  return 0;
}
`;

export const corpusCpp = String.raw`
#include <cstdio>
#include <cstring>
#include <cstdint>

__attribute__((noinline)) static void clear() { volatile char room[1 << 14]; memset((void *)room, 0, sizeof room); }

namespace app {
  enum class Mode : uint8_t { Off, Slow = 3, Fast };
  struct Counted { long id; Counted(long id) : id(id) {} };
  class Server : public Counted {
  public:
    static int instances;
    int port;
    Mode mode;
    int limits[3];
    Server(long id, int port) : Counted(id), port(port), mode(Mode::Slow), limits{1, 2, port} { instances++; }
    int handle(const char *path, int n) const;
    int weight(int by) const { int heavy = port * by; return heavy + limits[2]; }
    virtual ~Server() {}
  };
  int Server::instances = 40;
  int Server::handle(const char *path, int n) const
  {
    int length = 0;
    while (path[length])
      length++;
    int weighed = weight(n);
    return weighed + length + (int)id;
  }
  namespace {
    int hidden_total = 12;
    struct Pair { short left, right; };
    Pair last_pair = { 1, 2 };
    __attribute__((noinline)) int hidden(Pair pair, const Pair &other, int &out)
    {
      int sum = pair.left + other.right;
      last_pair = other;
      out += sum;
      hidden_total += out;
      return sum * hidden_total;
    }
  }
  template <class T> struct Kept { static T best; };
  template <class T> T Kept<T>::best = 0;
  template <class T, int N> __attribute__((noinline)) T largest(const T (&values)[N])
  {
    T best = values[0];
    for (const T &value : values)
      if (value > best)
        best = value;
    Kept<T>::best = best;
    return best;
  }
  template <class F> static inline int apply(int value, F &&call) { int once = call(value); return call(once); }
}

__attribute__((noinline)) static int local_static(int by)
{
  static int kept = 5;
  kept += by;
  return kept;
}

int main(int argc, char **argv)
{
  clear();
  app::Server server(7L, 80 + argc);
  const int numbers[4] = { 4, 9, -2, argc };
  const long wide[3] = { 1L << 40, 5, argc };
  app::Pair pair = { 3, 4 };
  int out = 2;
  int handled = server.handle("/index", 2);
  int hidden = app::hidden(pair, app::Pair{ 1, (short)argc }, out);
  int best = app::largest(numbers);
  long widest = app::largest(wide);
  int base = 10;
  int applied = app::apply(argc, [base](int v) { int plus = v + base; return plus * 2; });
  int kept = local_static(argc) + local_static(3);
  printf("%d %ld %d\n", app::Kept<int>::best, app::Kept<long>::best, app::last_pair.right);
  printf("%d %d %d %ld %d %d %d %d\n", handled, hidden, best, widest, applied, out, kept, app::Server::instances);
  return 0;
}
`;

export const corpusRust = String.raw`
use std::hint::black_box;

use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Clone, Copy)]
struct Point { x: i32, y: i64 }
static CALLS: AtomicU32 = AtomicU32::new(4);
static mut LAST: Point = Point { x: 1, y: 2 };
#[derive(Clone, Copy)]
struct Shape { at: Point, sides: u8, filled: bool, letter: u16 }

#[inline(always)]
fn scaled(amount: i32, factor: i32) -> i32 {
    let product = amount.wrapping_mul(factor);
    let less = product.wrapping_sub(3);
    less ^ 1
}

#[inline(never)]
fn area(shape: &Shape, by: Point, small: i8, large: u64) -> i64 {
    let mut result = shape.at.x as i64 + by.y;
    CALLS.fetch_add(1, Ordering::Relaxed);
    unsafe { LAST = by; }
    let mut i = 0u32;
    while i < 3 {
        let step = scaled(i as i32, shape.sides as i32);
        result += step as i64;
        i += 1;
    }
    if shape.filled { result += small as i64; }
    let wide = (large >> 20) as i64;
    result + wide
}

#[inline(never)]
fn sum(values: &[i32; 4]) -> i32 {
    let mut total = 0;
    let mut at = 0usize;
    CALLS.fetch_add(2, Ordering::Relaxed);
    while at < 4 {
        let value = values[at];
        total += value;
        at += 1;
    }
    total
}

fn main() {
    let shape = Shape { at: Point { x: 3, y: -4 }, sides: 6, filled: true, letter: 77 };
    let by = Point { x: black_box(10), y: -20 };
    let numbers = [1, 2, black_box(3), 4];
    let found = area(black_box(&shape), by, -5, 1 << 40);
    let total = sum(&numbers);
    std::process::exit(((found + total as i64 + shape.letter as i64) & 0x3f) as i32);
}
`;

export const corpusGo = String.raw`
package main

import "os"

type Point struct{ X, Y int32 }
type Shape struct {
	At     Point
	Sides  uint8
	Filled bool
	Grid   [3]int16
}

var calls = 4
var last = Point{1, 2}

//go:noinline
func area(shape *Shape, by Point, small int8, large uint64) int64 {
	result := int64(shape.At.X) + int64(by.Y)
	calls++
	last = by
	for i := 0; i < 3; i++ {
		row := int64(shape.Grid[i])
		result += row + int64(small)
	}
	if shape.Filled {
		wide := int64(large >> 20)
		result += wide
	}
	return result
}

//go:noinline
func sum(values *[4]int) int {
	total := 0
	for at := 0; at < 4; at++ {
		value := values[at]
		total += value
	}
	return total
}

func main() {
	shape := Shape{Point{3, -4}, 6, true, [3]int16{1, -2, 3}}
	by := Point{10, -20}
	numbers := [4]int{1, 2, 3, len(os.Args)}
	found := area(&shape, by, -5, 1<<40)
	total := sum(&numbers)
	os.Exit(int(found+int64(total)+int64(calls)+int64(last.X)) & 0x3f)
}
`;

/** What lives as long as the program, as strobe and as gdb names it. */
export const corpusGlobals: Readonly<Record<string, readonly (readonly [name: string, expression: string])[]>> = {
  "corpus.c": [
    ...["counter", "total", "split", "board", "history", "last_text", "tint", "in_thread", "thread_point"].map(
      (name) => [name, name] as const,
    ),
    ["area::calls", "area::calls"],
  ],
  "corpus.cpp": [
    ["Server::instances", "app::Server::instances"],
    ["app::hidden_total", "'app::(anonymous namespace)::hidden_total'"],
    ["app::last_pair", "'app::(anonymous namespace)::last_pair'"],
    ["Kept<int>::best", "app::Kept<int>::best"],
    ["Kept<long>::best", "app::Kept<long>::best"],
    ["local_static::kept", "local_static::kept"],
  ],
  "corpus.rs": [
    ["CALLS", "corpus::CALLS"],
    ["LAST", "corpus::LAST"],
  ],
  "corpus.go": [
    ["main.calls", "'main.calls'"],
    ["main.last", "'main.last'"],
  ],
};
