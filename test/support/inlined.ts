// Programs that count how often each of their inlined functions runs, and print it: `NAME COUNT` a line.

export const inlinedC = String.raw`
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES(X) X(clamp) X(length) X(chosen) X(both) X(looped) X(called_last) X(ends_in_call) X(nested) X(early) X(through) X(never) X(searched) X(twice) X(guarded)
#define DECLARE(name) long n_##name;
NAMES(DECLARE)
#define COUNT(name) __asm__ volatile("incq %0" : "+m"(n_##name))
#define INLINE static inline __attribute__((always_inline))
#define APART __attribute__((noinline, noclone))

static volatile int sink;
static int table[64];

APART static int work_on(int x) { sink += x; return x ^ sink; }
APART static void release(int x) { sink -= x; __asm__ volatile(""); }
__attribute__((noreturn, noinline)) static void fail(int x) { printf("failed %d\n", x); exit(3); }

INLINE int clamp(int x, int low, int high) { COUNT(clamp); if (x < low) return low; if (x > high) return high; return x; }
INLINE int length(const char *s) { COUNT(length); int n = 0; while (*s) { s++; n++; sink++; } return n; }
INLINE int chosen(int k)
{
  COUNT(chosen);
  switch (k & 7) {
    case 0: sink++; return 5;
    case 1: sink += 2; return 9;
    case 2: return sink;
    case 3: sink = 9; return 1;
    case 4: return work_on(k);
    case 5: sink *= 3; break;
    default: return k;
  }
  return sink + 1;
}
int both(int k) { COUNT(both); if (k & 1) return k * 3; sink += k; return sink; }
INLINE int looped(int from) { do { sink += from; from--; } while (from > 0); COUNT(looped); return from; }
INLINE void called_last(int x) { COUNT(called_last); if (x & 4) release(x); else sink = x; }
INLINE int ends_in_call(int x) { COUNT(ends_in_call); return work_on(x + 1); }
INLINE int nested(int x) { COUNT(nested); int t = clamp(x, 1, 5); if (t > 3) t += ends_in_call(t); return t + length("ab"); }
INLINE int early(const int *p, int n) { COUNT(early); for (int i = 0; i < n; i++) if (p[i] == 7) return i; return -1; }
INLINE int through(int (*f)(int), int x) { COUNT(through); return x & 1 ? f(x) : x; }
INLINE int never(int x) { COUNT(never); if (x < 0) fail(x); return x / 3; }
INLINE int searched(int key) { COUNT(searched); int low = 0, high = 63; while (low < high) { int m = (low + high) / 2; if (table[m] < key) low = m + 1; else high = m; } return low; }
INLINE int twice(int x) { COUNT(twice); return never(x) + never(x + 9); }
INLINE void guarded(int x) { COUNT(guarded); if (x % 5 == 0) return; if (x % 7 == 0) { release(x); return; } sink ^= x; }

int (*volatile pointer)(int) = both;

APART int round_of(int i, char **v)
{
  int t = clamp(i, 3, 10);
  if (i % 3) t += length(v[0]);
  t ^= chosen(i);
  if (i & 4) t += both(i);
  t += pointer(t);
  if (i & 2) called_last(i);
  t += looped(i % 4);
  return t;
}

APART int second(int i)
{
  int t = nested(i) + early(table, i % 64) + through(pointer, i);
  for (int j = 0; j < i % 3; j++) t += searched(j * 9 + i);
  if (t & 1) guarded(i);
  guarded(t);
  return t + twice(i);
}

APART int tail(int i) { sink ^= i; if (i & 8) return 3; return ends_in_call(i); }

int main(int c, char **v)
{
  int t = 0;
  for (int i = 0; i < 64; i++) table[i] = i / 2;
  for (int i = 0; i < atoi(v[1]); i++) t += round_of(i, v) + second(i) + tail(i);
  fprintf(stderr, "%d\n", t);
#define SHOW(name) printf(#name " %ld\n", n_##name);
  NAMES(SHOW)
  return 0;
}
`;

export const inlinedCpp = String.raw`
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#define INLINE inline __attribute__((always_inline))
#define APART __attribute__((noinline))
long n_get, n_push, n_apply, n_guard, n_check, n_area, n_largest, n_destroy;
#define COUNT(name) asm volatile("incq %0" : "+m"(n_##name))
static volatile int sink;

namespace app {
  APART static int risky(int x) { sink = sink + x; if (x % 11 == 10) throw std::runtime_error("risky"); return x; }
  struct Box {
    std::vector<int> items;
    INLINE int get(int i) const { COUNT(get); if (i < 0) return -1; if (i >= (int)items.size()) return 0; return items[i]; }
    INLINE void push(int x) { COUNT(push); items.push_back(x); }
  };
  struct Guard { int x; INLINE ~Guard() { COUNT(destroy); sink = sink - x; } };
  INLINE int check(int x) { COUNT(check); try { return risky(x); } catch (const std::runtime_error &) { return -1; } }
  INLINE int guard(int x) { COUNT(guard); Guard g{x}; if (x & 1) return risky(2); return x * sink; }
  template <class F> INLINE int apply(int x, F &&call) { COUNT(apply); int once = call(x); return x & 2 ? call(once) : once; }
  template <class T> INLINE T largest(T a, T b) { COUNT(largest); return a > b ? a : b; }
  struct Shape { virtual int area(int x) = 0; virtual ~Shape() {} };
  struct Square : Shape { int area(int x) override { COUNT(area); return x * x; } };
}

APART int round_of(app::Box &box, app::Shape &shape, int i)
{
  box.push(i);
  int t = box.get(i - 3) + box.get(i * 2 - 5);
  t += app::check(i);
  t += app::guard(i);
  t += app::apply(i, [&](int x) { return x + box.get(x & 7); });
  t = app::largest(t, i * 3);
  t += (int)app::largest(t * 0.5, 2.0);
  return t + shape.area(i);
}

int main(int, char **v)
{
  app::Box box; app::Square square; int t = 0;
  for (int i = 0; i < atoi(v[1]); i++) t += round_of(box, square, i);
  fprintf(stderr, "%d\n", t);
  printf("app::Box::get %ld\napp::Box::push %ld\napp::check %ld\napp::guard %ld\napp::apply %ld\napp::largest %ld\napp::Square::area %ld\n",
    n_get, n_push, n_check, n_guard, n_apply, n_largest, n_area);
}
`;

export const inlinedRust = String.raw`
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static LOOKUP: AtomicU64 = AtomicU64::new(0);
static PARSED: AtomicU64 = AtomicU64::new(0);
static SCALED: AtomicU64 = AtomicU64::new(0);
static CHOSEN: AtomicU64 = AtomicU64::new(0);
static SUMMED: AtomicU64 = AtomicU64::new(0);
static CHECKED: AtomicU64 = AtomicU64::new(0);

pub struct Table { rows: Vec<u32> }

impl Table {
    #[inline(always)]
    pub fn lookup(&self, at: usize) -> Option<u32> {
        LOOKUP.fetch_add(1, Relaxed);
        if at >= self.rows.len() { return None; }
        Some(self.rows[at])
    }
}

#[inline(always)]
fn parsed(text: &str) -> Result<u32, std::num::ParseIntError> {
    PARSED.fetch_add(1, Relaxed);
    let value: u32 = text.trim().parse()?;
    Ok(value + 1)
}

#[inline(always)]
fn scaled(amount: u32, by: u32) -> u32 {
    SCALED.fetch_add(1, Relaxed);
    if by == 0 { return amount; }
    black_box(amount) * by
}

#[inline(always)]
fn chosen(kind: u32) -> u32 {
    CHOSEN.fetch_add(1, Relaxed);
    match kind % 6 { 0 => black_box(9), 1 => scaled(kind, 2), 2 => 4, 3 => black_box(kind) + 1, 4 => 77, _ => kind }
}

#[inline(always)]
fn summed(rows: &[u32]) -> u32 {
    SUMMED.fetch_add(1, Relaxed);
    let mut sum = 0u32;
    for row in rows { if *row == 13 { break; } sum = sum.wrapping_add(black_box(*row)); }
    sum
}

#[inline(always)]
fn checked(x: u32) -> u32 {
    CHECKED.fetch_add(1, Relaxed);
    if x > 1 << 30 { panic!("large"); }
    x / 2
}

#[inline(never)]
fn round_of(table: &Table, i: u32) -> u32 {
    let mut t = table.lookup(i as usize).unwrap_or(3);
    if i % 2 == 0 { t += table.lookup((i / 2) as usize).map(|x| x * 2).unwrap_or(1); }
    t = t.wrapping_add(match parsed(if i % 3 == 0 { "12 " } else { "x" }) { Ok(n) => n, Err(_) => 0 });
    t = t.wrapping_add(scaled(i, i % 4)).wrapping_add(chosen(i));
    t.wrapping_add(summed(&table.rows[..(i as usize % table.rows.len())])) + checked(i)
}

fn main() {
    let table = Table { rows: (0..20).collect() };
    let rounds: u32 = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut t = 0u32;
    for i in 0..rounds { t = t.wrapping_add(round_of(&table, i)); }
    eprintln!("{}", t);
    for (name, count) in [("lookup", &LOOKUP), ("parsed", &PARSED), ("scaled", &SCALED), ("chosen", &CHOSEN), ("summed", &SUMMED), ("checked", &CHECKED)] {
        println!("{} {}", name, count.load(Relaxed));
    }
}
`;
