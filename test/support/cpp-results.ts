// A C++ program whose functions return values of many types, each once for others to call and once static, and print
// them.

export const resultsSource = String.raw`
#include <cstdio>
#include <cstdint>
#include <string>
#include <memory>
#include <utility>
#include <tuple>
#include <vector>
#include <optional>
#define KEEP(x) asm volatile("" : : "r"(&x) : "memory")
extern int counter;
#define F(name, type, value) __attribute__((noinline)) type name(int k) { KEEP(k); type x = value; KEEP(x); return x; } \
  __attribute__((noinline)) static type s_##name(int k) { KEEP(k); KEEP(counter); type x = value; KEEP(x); return x; }
struct P2 { int x, y; }; struct P3 { int x, y, z; }; struct P5 { int a, b, c, d, e; }; struct Mix { long l; double d; }; struct Fl { float a, b; };
struct Copy { long v; Copy(long n) : v(n) {} Copy(const Copy &o) : v(o.v) {} }; struct Dtor { int v; Dtor(int n) : v(n) {} ~Dtor() { KEEP(v); } };
struct Moved { int v; Moved(int n) : v(n) {} Moved(Moved &&o) : v(o.v) {} }; struct Virt { int v; Virt(int n) : v(n) {} virtual int f() { return v; } };
struct Base { long b; }; struct Derived : Base { int d; }; struct HasDtor { Dtor d; int w; HasDtor(int n) : d(n), w(n + 1) {} };
struct Def { int a, b; Def() = default; Def(const Def &) = default; ~Def() = default; }; struct Empty {}; struct Bits { unsigned a : 3, b : 7, c : 20; };
struct __attribute__((packed)) Pk { char a; int b; char c; }; union U { long l; int i; }; struct Arr { char c[12]; }; struct LD { long double d; };
enum Color { RED = 3, BLUE = 9 }; enum class Tiny : unsigned char { A = 200 };
template <class T> struct Box { T t; }; template <class T> struct TC { T t; TC(T n) : t(n) {} TC(const TC &o) : t(o.t) {} }; template <class T> struct TM { T t; int u; TM(T n) : t(n), u(4) {} template <class U> TM(const TM<U> &o) : t(o.t) {} TM(TM &&) = default; TM(const TM &) = default; }; template <class T> struct TD { T t; TD(T n) : t(n) {} TD(TD &&o) : t(o.t) { o.t = 0; } }; struct A32 { alignas(32) int a; };
F(f_char, signed char, (signed char)(-5 - k)) F(f_uchar, unsigned char, (unsigned char)(250 + k)) F(f_short, short, (short)(-300 - k)) F(f_ushort, unsigned short, (unsigned short)(65000 + k))
F(f_int, int, -70000 - k) F(f_long, long, (1L << 40) + k) F(f_bool, bool, k == 0) F(f_color, Color, BLUE) F(f_tiny, Tiny, Tiny::A)
F(f_p2, P2, (P2{ 1 + k, -2 })) F(f_p3, P3, (P3{ 1, 2 + k, -3 })) F(f_p5, P5, (P5{ 1, 2, 3, 4, 5 + k })) F(f_mix, Mix, (Mix{ 7 + k, 2.5 })) F(f_fl, Fl, (Fl{ 1, 2 })) F(f_copy, Copy, Copy(11 + k))
F(f_dtor, Dtor, Dtor(12 + k)) F(f_moved, Moved, Moved(13 + k)) F(f_virt, Virt, Virt(14 + k)) F(f_derived, Derived, ([&] { Derived d; d.b = 15; d.d = 16 + k; return d; }())) F(f_hasdtor, HasDtor, HasDtor(17 + k))
F(f_def, Def, ([&] { Def d; d.a = 18; d.b = 19 + k; return d; }())) F(f_bits, Bits, (Bits{ 5, 99, 1000u + k })) F(f_pk, Pk, (Pk{ 1, 70000 + k, 3 })) F(f_u, U, (U{ 123456789012L })) F(f_arr, Arr, (Arr{ { 'h', 'i', (char)k } }))
F(f_tc, TC<int>, TC<int>(41 + k)) F(f_tm, TM<int>, TM<int>(42 + k)) F(f_td, TD<long>, TD<long>(43 + k))
F(f_box, Box<long>, (Box<long>{ 21 + k })) F(f_boxc, Box<Copy>, (Box<Copy>{ Copy(22 + k) })) F(f_a32, A32, (A32{ 23 + k })) F(f_unique, std::unique_ptr<int>, std::make_unique<int>(24 + k)) F(f_string, std::string, std::string("some text that is long enough"))
typedef std::pair<int, long> pr; typedef std::pair<int, int> pr2; typedef std::tuple<int, long> tu; typedef std::vector<int> vi; typedef std::optional<int> oi; typedef std::shared_ptr<int> sh;
F(f_pair, pr, pr(25 + k, 26)) F(f_pair2, pr2, pr2(27 + k, 28)) F(f_vec, vi, (vi{ 29, 30 + k })) F(f_opt, oi, oi(31 + k)) F(f_i128, __int128, ((__int128)9 << 64) + 32 + k) F(f_double, double, 1.5 + k)
int counter = 0;
#define R(name, ...) { auto r = name(k); printf(#name " " __VA_ARGS__); putchar('\n'); } { auto r = s_##name(k); printf("s_" #name " " __VA_ARGS__); putchar('\n'); }
int main() { for (int k = 0; k < 2; k++) {
 R(f_char, "%d", r) R(f_uchar, "%d", r) R(f_short, "%d", r) R(f_ushort, "%d", r) R(f_int, "%d", r) R(f_long, "%ld", r) R(f_bool, "%d", r) R(f_color, "%d", r) R(f_tiny, "%d", (int)r)
 R(f_p2, "%d %d", r.x, r.y) R(f_p3, "%d %d %d", r.x, r.y, r.z) R(f_p5, "%d %d %d", r.a, r.b, r.e) R(f_mix, "%ld", r.l) R(f_copy, "%ld", r.v) R(f_dtor, "%d", r.v) R(f_moved, "%d", r.v) R(f_virt, "%d", r.v)
 R(f_derived, "%ld %d", r.b, r.d) R(f_hasdtor, "%d %d", r.d.v, r.w) R(f_def, "%d %d", r.a, r.b) R(f_bits, "%d %d %d", r.a, r.b, r.c) R(f_pk, "%d %d %d", r.a, r.b, r.c) R(f_u, "%ld %d", r.l, r.i) R(f_arr, "%d %d %d", r.c[0], r.c[1], r.c[2])
 R(f_tc, "%d", r.t) R(f_tm, "%d %d", r.t, r.u) R(f_td, "%ld", r.t) R(f_box, "%ld", r.t) R(f_boxc, "%ld", r.t.v) R(f_a32, "%d", r.a) R(f_pair, "%d %ld", r.first, r.second) R(f_pair2, "%d %d", r.first, r.second) R(f_i128, "%ld %ld", (long)r, (long)(r >> 64)) R(f_double, "%d", 0) R(f_fl, "%d", 0)
} }
`;

/** What is read of each result; what C++ passes in vector registers is left out. */
export const resultReads: Readonly<Record<string, readonly string[]>> = {
  f_char: [""],
  f_uchar: [""],
  f_short: [""],
  f_ushort: [""],
  f_int: [""],
  f_long: [""],
  f_bool: [""],
  f_color: [""],
  f_tiny: [""],
  f_p2: [".x", ".y"],
  f_p3: [".x", ".y", ".z"],
  f_p5: [".a", ".b", ".e"],
  f_mix: [".l"],
  f_copy: [".v"],
  f_dtor: [".v"],
  f_moved: [".v"],
  f_virt: [".v"],
  f_derived: [".b", ".d"],
  f_hasdtor: [".d.v", ".w"],
  f_def: [".a", ".b"],
  f_bits: [".a", ".b", ".c"],
  f_pk: [".a", ".b", ".c"],
  f_u: [".l", ".i"],
  f_arr: [".c[0]", ".c[1]", ".c[2]"],
  f_tc: [".t"],
  f_tm: [".t", ".u"],
  f_td: [".t"],
  f_box: [".t"],
  f_boxc: [".t.v"],
  f_a32: [".a"],
  f_pair: [".first", ".second"],
  f_pair2: [".first", ".second"],
  f_i128: ["[0]", "[1]"],
};
