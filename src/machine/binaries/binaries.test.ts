import assert from "node:assert/strict";
import { test } from "node:test";
import { cppNameParts, rustMethods, rustName } from "./binaries.ts";

test("a C++ function's name stands between what it returns and its parameters", () => {
  const cases: [full: string, name: string, signature?: string][] = [
    ["add(int, int)", "add"],
    ["app::Server::handle(char const*) const", "app::Server::handle"],
    ["int app::Server::twice<int>(int)", "app::Server::twice<int>", "app::Server::twice<int>(int)"],
    [
      "std::vector<int, std::allocator<int> >::push_back(int const&)",
      "std::vector<int, std::allocator<int> >::push_back",
    ],
    [
      "std::map<int, long> make<int, long>(void (*)(int)) [clone .cold]",
      "make<int, long>",
      "make<int, long>(void (*)(int)) [clone .cold]",
    ],
    ["(anonymous namespace)::hidden(int)", "(anonymous namespace)::hidden"],
    ["main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"],
    ["operator+(app::Server&, int)", "operator+"],
    [
      "bool operator< <int>(box<int> const&, box<int> const&)",
      "operator< <int>",
      "operator< <int>(box<int> const&, box<int> const&)",
    ],
    ["operator new(unsigned long)", "operator new"],
    ["app::Server::operator bool() const &", "app::Server::operator bool"],
    ["vtable for app::Server", "app::Server", "app::Server"],
    ["operators::run()", "operators::run"],
  ];
  for (const [full, name, signature = full] of cases) assert.deepEqual(cppNameParts(full), { name, signature, full });
});

test("what no demangler wrote does no harm", () => {
  for (const text of ["", ")", "(", "a)", ")))((", "a<b>>(", " ", "operator", "operator "]) {
    const { name, signature, full } = cppNameParts(text);
    assert.equal(full, text);
    assert.ok(signature.startsWith(name) && text.endsWith(signature));
  }
});

test("Rust's older names lose their hash and escapes", () => {
  assert.equal(rustName("t::inner::take::hd99a058ce7433451"), "t::inner::take");
  assert.equal(
    rustName("_$LT$t..Point$u20$as$u20$core..fmt..Debug$GT$::fmt::h0123456789abcdef"),
    "<t::Point as core::fmt::Debug>::fmt",
  );
  assert.equal(rustName("app::Server::handle(int)"), undefined);
});

test("methods of Rust go by their type and their trait, without arguments of types", () => {
  assert.deepEqual(rustMethods("<t::Point as core::fmt::Debug>::fmt"), ["t::Point::fmt", "core::fmt::Debug::fmt"]);
  assert.deepEqual(rustMethods("<alloc::vec::Vec<T> as core::convert::From<&[T]>>::from"), [
    "alloc::vec::Vec::from",
    "core::convert::From::from",
  ]);
  assert.deepEqual(rustMethods("zoo::Cage<T>::open"), ["zoo::Cage::open"]);
  assert.deepEqual(rustMethods("zoo::visit"), []);
});
