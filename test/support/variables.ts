// Programs for the tests of variables. Each prints what a script over it prints: a line a value, in the order of the
// probes.

export const shapesSource = String.raw`
#include <stdio.h>
#include <stdint.h>

enum color { RED, GREEN = 5, BLUE };
struct point { int x; int y; };
struct wide { long a, b, c; };
struct node { int value; struct node *next; };
union word { uint32_t whole; unsigned char bytes[4]; };
typedef struct shape {
  char name[8];
  struct point at;
  unsigned low : 3;
  int high : 5;
  enum color color;
  union word word;
  struct { short inner; };
  _Bool filled;
  float ratio;
  double area;
  struct node *list;
  int grid[2][3];
} shape_t;

#define KEEP(x) __asm__ volatile("" : : "r"(x) : "memory")
static int counter = 41;
int global_count = 7;
__thread int in_thread = 99;
static __thread long deep_in_thread = -3;
const char *label = "a label";
long *outlet;

__attribute__((noinline)) long describe(const shape_t *shape, struct point by, int8_t small, unsigned long large, const char *text, enum color color, char letter, short last)
{
  KEEP(shape);
  return shape->at.x + by.x + by.y + small + (long)large + text[0] + color + letter + last;
}
__attribute__((noinline)) struct wide make_wide(long a, struct wide in) { struct wide w = { a, in.b, in.c + 1 }; KEEP(&w); return w; }
__attribute__((noinline)) struct point make_point(int x) { KEEP(x); struct point p = { x, -x }; return p; }
__attribute__((noinline)) long floats(double f, int n, float g, const double *at) { KEEP(at); return (long)(f * n + g + *at); }
__attribute__((noinline)) int unused(int a, int b, int c) { KEEP(c); return c; }

static inline __attribute__((always_inline)) int scaled(int amount, int factor)
{
  int product = amount * factor;
  KEEP(product);
  return product + 1; /* in scaled */
}

__attribute__((noinline)) int loop(int rounds)
{
  int total = 0;
  for (int i = 0; i < rounds; i++) {
    int square = i * i;
    __asm__ volatile("" : "+r"(square) : : "memory");
    total += square; /* in loop */
    in_thread++;
    deep_in_thread--;
    counter++;
  }
  return scaled(total, 3);
}

int main(int argc, char **argv)
{
  struct node second = { 2, 0 }, first = { 1, &second };
  shape_t shape = { "round", { 3, -4 }, 5, -6, BLUE, { 0x44434241 }, { -2 }, 1, 0.25f, 12.5, &first, { { 1, 2, 3 }, { 4, 5, 6 } } };
  struct point by = { 10, -20 };
  double at = 2.5;
  KEEP(&shape); KEEP(&by); KEEP(&at);
  long d = describe(&shape, by, -1, 1UL << 40, label, GREEN, 'q', -3);
  printf("{ .shape = %p, .by = { .x = 10, .y = -20 }, .small = -1, .large = %lu, .text = %p, .color = GREEN, .letter = %d, .last = -3 }\n", (void *)&shape, 1UL << 40, (void *)label, 'q');
  printf("{ .name = %s, .at = { .x = %d, .y = %d }, .low = %d, .high = %d, .color = BLUE, .word = { .whole = %u, .bytes = [65,66,67,68] }, .inner = -2, .filled = true, .ratio = %g, .area = %g, .list = %p, .grid = [[1,2,3],[4,5,6]] }\n",
    shape.name, shape.at.x, shape.at.y, shape.low, shape.high, shape.word.whole, shape.ratio, shape.area, (void *)shape.list);
  printf("%d %d round -6 2 6\n", by.x, by.y);
  printf("%ld\n", d);
  struct wide w = make_wide(5, (struct wide){ 1, 2, 3 });
  printf("{ .a = 5, .in = { .a = 1, .b = 2, .c = 3 } }\n{ .a = %ld, .b = %ld, .c = %ld }\n%ld\n", w.a, w.b, w.c, w.c);
  struct point p = make_point(argc * 6);
  printf("{ .x = %d, .y = %d }\n", p.x, p.y);
  floats(1.5, 2, 0.5f, &at);
  printf("{ .f = <in a vector register>, .n = 2, .g = <in a vector register>, .at = %p }\n2.5\n", (void *)&at);
  int (*volatile through)(int, int, int) = unused;
  through(1, 2, 3);
  printf("1 2 3\n");
  printf("{ .rounds = 4 }\n%d %d %d %ld %s\n", counter, global_count, in_thread, deep_in_thread, label);
  loop(4);
  printf("43 %d %d\n", counter, in_thread);
  fflush(stdout);
  KEEP(scaled(argc, 9));
  return 0;
}
`;

/** The script over it. */
/** `unused`: how the arguments are read that a function does not use. */
export const shapesScript = (path: string, unused = "args.a, args.b"): string => `
  uprobe:${path}:describe {
    print(args); print(*args.shape);
    printf("%d %d %s %d %d %d\\n", args.by.x, args.by.y, args.shape.name, args.shape->high, args.shape.list->next->value, args.shape.grid[1][2]);
  }
  uretprobe:${path}:describe { print(retval); }
  uprobe:${path}:make_wide { print(args); }
  uretprobe:${path}:make_wide { print(retval); print(retval.c); }
  uretprobe:${path}:make_point { print(retval); }
  uprobe:${path}:floats { print(args); print(*args.at); }
  uprobe:${path}:unused { printf("%d %d %d\\n", ${unused}, args.c); }
  uprobe:${path}:loop {
    print(args); printf("%d %d %d %d %s\\n", var("counter"), var("global_count"), var("in_thread"), var("deep_in_thread"), str(var("label")));
  }
  uretprobe:${path}:loop { printf("%d %d %d\\n", retval, var("counter@shapes.c"), var("in_thread")); }`;

export const classesSource = String.raw`
#include <cstdio>
#include <string>

namespace app {
enum class Mode : unsigned char { Off, On = 3 };
struct Base { int base_number = 11; virtual ~Base() = default; };
struct Other { long other = 22; };
class Server : public Base, public Other {
public:
  std::string name = "the server";
  Mode mode = Mode::On;
  __attribute__((noinline)) int handle(int fd, const std::string &text, int &count)
  {
    asm volatile("" ::: "memory");
    count++;
    asm volatile("" ::: "memory");
    return fd + (int)text.size() + base_number;
  }
};
struct Copied { Copied(int v) : value(v) {} Copied(const Copied &o) : value(o.value + 1) {} ~Copied() { asm volatile(""); } int value; };
__attribute__((noinline)) int by_copy(Copied c, int n) { asm volatile("" ::: "memory"); return c.value + n; }
__attribute__((noinline)) Copied make_copied(int v) { asm volatile("" ::: "memory"); return Copied(v); }
template <typename T> __attribute__((noinline)) T largest(T a, T b) { asm volatile("" ::: "memory"); return a > b ? a : b; }
__attribute__((noinline)) int overloaded(int a) { asm volatile("" ::: "memory"); return a; }
__attribute__((noinline)) int overloaded(int a, int b) { asm volatile("" ::: "memory"); return a + b; }
int instances = 2;
}

int main()
{
  app::Server server;
  int count = 7;
  std::printf("{ .this = %p, .fd = 3, .text = short text, .count = 7 }\n7 short text the server 11 22 On\n", (void *)&server);
  int r = server.handle(3, "short text", count);
  std::printf("{ .c = { .value = 40 }, .n = 2 }\n{ .value = 9 }\n");
  r += app::by_copy(app::Copied(40), 2);
  r += app::make_copied(9).value;
  std::printf("{ .a = 3, .b = 4 }\n{ .a = 5, .b = 6 }\n{ .a = 1 }\n{ .a = 1, .b = 2 }\n%d\n", app::instances);
  r += app::largest(3, 4) + (int)app::largest(5L, 6L);
  r += app::overloaded(1) + app::overloaded(1, 2);
  return r == 0;
}
`;

export const classesScript = (path: string): string => `
  uprobe:${path}:app::Server::handle {
    print(args);
    printf("%d %s %s %d %d %s\\n", args.count, args.text, args.this->name, args.this->base_number, args.this->other, args.this->mode);
  }
  uprobe:${path}:app::by_copy { print(args); }
  ret:${path}:app::make_copied { print(retval); }
  uprobe:${path}:app::largest { print(args); }
  uprobe:${path}:overloaded { print(args); }
  uretprobe:${path}:"app::overloaded(int, int)" { print(var("app::instances")); }`;

export const rustSource = String.raw`
use std::hint::black_box;
pub enum Shape { Circle { radius: u32 }, Rect(u16, u16), Empty }
#[derive(Clone, Copy)]
pub enum Level { Low = 1, High = 7 }
pub struct Point { x: i32, y: i64 }
mod inner {
    #[inline(never)]
    pub fn take(text: &str, owned: &String, numbers: &[i32], count: usize) -> usize {
        std::hint::black_box(text.len() + owned.len() + numbers.len() + count)
    }
}
#[inline(never)]
fn shape(s: &Shape, l: Level, p: Point, maybe: Option<&Point>, flag: Option<u32>) -> Option<u32> {
    let sum = match s { Shape::Circle { radius } => *radius as i64, Shape::Rect(a, b) => (*a + *b) as i64, Shape::Empty => 0 };
    if black_box(sum + l as i64 + p.x as i64 + p.y + maybe.map_or(0, |m| m.y)) > 1 { flag } else { None }
}
fn main() {
    let owned = String::from("owned text");
    let numbers = [4, 5, 6];
    println!("borrowed owned text 3 5 9");
    inner::take("borrowed", &owned, &numbers, 9);
    let p = Point { x: 1, y: 2 };
    println!("{{ .s = Circle {{ .radius = 5 }}, .l = High, .p = {{ .x = -1, .y = -2 }}, .maybe = Some({:p}), .flag = Some(3) }}", &p);
    println!("Some(3)");
    black_box(shape(&Shape::Circle { radius: 5 }, Level::High, Point { x: -1, y: -2 }, Some(&p), Some(3)));
    println!("{{ .s = Rect(6, 7), .l = Low, .p = {{ .x = 8, .y = 9 }}, .maybe = None, .flag = None }}");
    println!("None");
    black_box(shape(&Shape::Rect(6, 7), Level::Low, Point { x: 8, y: 9 }, None, None));
    println!("{{ .s = Empty, .l = Low, .p = {{ .x = 0, .y = 0 }}, .maybe = None, .flag = None }}");
    println!("None");
    black_box(shape(&Shape::Empty, Level::Low, Point { x: 0, y: 0 }, None, None));
}
`;

export const rustScript = (path: string): string => `
  uprobe:${path}:inner::take { printf("%s %s %d %d %d\\n", args.text, args.owned, args.numbers.length, args.numbers[1], args.count); }
  uprobe:${path}:shape { print(args); }
  ret:${path}:shape { print(retval); }`;

export const goSource = String.raw`package main

import "fmt"

type Point struct{ X, Y int }
type Server struct {
	Name  string
	Ports []int32
	Next  *Server
}

//go:noinline
func (s *Server) Handle(path string, list []int64, p Point, ok bool, ratio float64) int {
	total := len(path)
	for _, v := range list {
		total += int(v)
	}
	fmt.Printf("%d %v\n", total, ratio)
	return total
}

var counter = 12

func main() {
	s := &Server{Name: "srv", Ports: []int32{80, 443}}
	fmt.Printf("/index 2 { .X = 4, .Y = -5 } true srv 443 %d\n", counter)
	s.Handle("/index", []int64{1, 2, 3}, Point{4, -5}, true, 2.5)
}
`;

export const goScript = (path: string): string => `
  uprobe:${path}:main.(*Server).Handle {
    printf("%s %d %s %s %s %d %d\\n", args.path, args.list[1], args.p, args.ok, args.s.Name, args.s.Ports[1], var("main.counter"));
  }
  line:${path}@main.go:LINE { printf("%d %s\\n", var("total"), var("ratio")); }`;

/** Variables by names that tell scopes in part, and constants of a class. */
export const scopesSource = String.raw`
#define KEEP(x) asm volatile("" : : "r"(x) : "memory")
namespace app {
struct Server { static int instances; static const int limit = 7; static constexpr long wide = 1L << 40; int weigh(int by); };
int Server::instances = 40;
namespace { int hidden = 12; namespace deep { int deeper = 8; } }
inline namespace v2 { int newest = 3; }
template <class T> struct Holder { static T kept; };
template <class T> T Holder<T>::kept = 70 + sizeof(T);
template struct Holder<int>; template struct Holder<char>; template struct Holder<unsigned long>;
int same = 1;
}
namespace other { int same = 2; __attribute__((noinline)) void look(int n) { KEEP(&same); KEEP(n); } }
int same = 3;
#ifdef __clang__
__attribute__((noinline)) // else clang's debug information does not say whose the statics are
#endif
static int calls(int by) { static int total = 100; { static int total = 9; total += by; KEEP(&total); } total += by; KEEP(&total); return total; }
__attribute__((noinline)) int app::Server::weigh(int by)
{
  static int total = 200; total += by; KEEP(&total);
  KEEP(&instances); KEEP(&hidden); KEEP(&deep::deeper); KEEP(&newest); KEEP(&same); KEEP(&::same); KEEP(this);
  return total + calls(by);
}
int main(int argc, char **) { app::Server server; int r = server.weigh(argc); other::look(argc); return r == 0; }
`;

/** By `weigh`: names, and what they are at its beginning. */
export const scopedNames: Readonly<Record<string, string>> = {
  instances: "40",
  "Server::instances": "40",
  "app::Server::instances": "40",
  limit: "7",
  "Server::wide": `${2 ** 40}`,
  hidden: "12",
  "app::hidden": "12",
  "app::(anonymous namespace)::hidden": "12",
  "deep::deeper": "8",
  "app::deep::deeper": "8",
  "app::newest": "3",
  "app::v2::newest": "3",
  "Holder<int>::kept": "74",
  "app::Holder<char>::kept": "71",
  "Holder<unsigned long>::kept": "78",
  same: "1",
  "other::same": "2",
  total: "200",
  "Server::weigh::total": "200",
  "calls::total": "100",
};

/** Values of which an optimiser keeps a part, and pointers that it knows. */
export const partsSource = String.raw`
#define KEEP(x) __asm__ volatile("" : : "r"(x) : "memory")
struct s { int a, b; long c; };
struct mix { double d; long l; };
static struct { short kept, unused; } shared = { 3, 4 };
static inline __attribute__((always_inline)) int sum(const struct s *p, const int *q)
{
  int r = p->a + p->b;
  KEEP(r);
  r += *q + p->c; /* in sum */
  KEEP(r);
  return r;
}
__attribute__((noinline)) int outer(int x, int y)
{
  struct s local = { x, y * 3, 7 };
  int n = x * 5;
  int r = sum(&local, &n);
  KEEP(local.a); KEEP(local.b); KEEP(n);
  return r;
}
__attribute__((noinline)) long mixed(struct mix m, double v) { shared.kept += m.l; KEEP(shared.kept); return m.l + (long)(m.d * v); }
int main(int argc, char **argv) { return outer(argc, 4) + mixed((struct mix){ 2.5, 9 }, argc) == 0; }
`;
