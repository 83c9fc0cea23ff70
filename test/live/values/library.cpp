// Values of the standard library: each is handed to a function of its own, and printed as a script should print it.
#include <array>
#include <cstdio>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <tuple>
#include <utility>
#include <vector>

using namespace std;
static const size_t most = 16;

template <class T> string show(const T &value, bool inner = true) { return to_string(value); }
string spelled(const string &text, const char *zero) {
  string out;
  for (char c : text) out += c ? string(1, c) : zero;
  return out;
}
string quoted(const char *data, size_t size) {
  string text(data, size);
  return "\"" + spelled(size > 63 ? text.substr(0, 63) : text, "\\u0000") + "\"" + (size > 62 ? ".." : "");
}
template <> string show(const string &value, bool inner) { return inner ? quoted(value.data(), value.size()) : spelled(value, "\\x00"); }
template <> string show(const string_view &value, bool inner) { return inner ? quoted(value.data(), value.size()) : spelled(string(value), "\\x00"); }
template <> string show(const bool &value, bool) { return value ? "true" : "false"; }
template <class A, class B> string show(const pair<A, B> &value, bool inner = true);
template <class T> string show(const vector<T> &value, bool inner = true);
template <class T, size_t N> string show(const array<T, N> &value, bool inner = true);
template <class... T> string show(const tuple<T...> &value, bool inner = true);
template <class T> string show(const optional<T> &value, bool inner = true) { return value ? show(*value) : "nullopt"; }
template <class T> string show(const unique_ptr<T> &value, bool inner = true) { return value ? show(*value) : "nullptr"; }
template <class T> string show(const shared_ptr<T> &value, bool inner = true) { return value ? show(*value) : "nullptr"; }

template <class C, class F> string joined(const char *around, const C &all, size_t size, F text) {
  string out(1, around[0]);
  size_t n = 0;
  for (auto &&one : all) {
    if (n == most) break;
    out += (n++ ? ", " : "") + text(one);
  }
  if (size > n) out += ", … " + to_string(size - n) + " more";
  return out + around[1];
}
auto one = [](auto &value) { return show(value); };
auto truth = [](bool value) { return show(value); };
auto entry = [](auto &value) { return show(value.first) + ": " + show(value.second); };
template <class T> string show(const vector<T> &value, bool inner) { return joined("[]", value, value.size(), one); }
template <> string show(const vector<bool> &value, bool) { return joined("[]", value, value.size(), truth); }
template <class T, size_t N> string show(const array<T, N> &value, bool inner) { return joined("[]", value, value.size(), one); }
template <class... T> string show(const tuple<T...> &value, bool inner) {
  string out;
  apply([&](auto &...each) { ((out += (out.empty() ? "(" : ", ") + show(each, false)), ...); }, value);
  return out + ")";
}
template <class T> string show(const deque<T> &value, bool inner = true) { return joined("[]", value, value.size(), one); }
template <class T> string show(const list<T> &value, bool inner = true) { return joined("[]", value, value.size(), one); }
template <class T> string show(const forward_list<T> &value, bool inner = true) { return joined("[]", value, distance(value.begin(), value.end()), one); }
template <class T> string show(const set<T> &value, bool inner = true) { return joined("{}", value, value.size(), one); }
template <class T> string show(const unordered_set<T> &value, bool inner = true) { return joined("{}", value, value.size(), one); }
template <class K, class V> string show(const map<K, V> &value, bool inner = true) { return joined("{}", value, value.size(), entry); }
template <class K, class V> string show(const unordered_map<K, V> &value, bool inner = true) { return joined("{}", value, value.size(), entry); }
template <class A, class B> string show(const pair<A, B> &value, bool inner) { return "(" + show(value.first, false) + ", " + show(value.second, false) + ")"; }

#define SEE(number, ...) \
  extern "C" __attribute__((noinline)) void see_##number(const __VA_ARGS__ &v) { asm volatile("/* " #number " */" ::"r"(&v) : "memory"); } \
  static void give_##number(const __VA_ARGS__ &v) { see_##number(v); puts(show(v, false).c_str()); }

SEE(1, string) SEE(2, string_view) SEE(3, vector<int>) SEE(4, vector<string>) SEE(5, vector<vector<short>>) SEE(6, deque<int>)
SEE(7, list<string>) SEE(8, map<int, int>) SEE(9, map<string, vector<int>>) SEE(10, set<string>) SEE(11, unordered_map<string, int>)
SEE(12, unordered_set<long>) SEE(13, optional<int>) SEE(14, optional<string>) SEE(15, unique_ptr<int>) SEE(16, shared_ptr<string>)
SEE(17, pair<int, string>) SEE(18, vector<pair<string, int>>) SEE(19, deque<string>) SEE(20, map<pair<int, int>, string>)
SEE(21, vector<unsigned char>) SEE(22, vector<optional<int>>) SEE(23, list<long>) SEE(24, map<long, string_view>)
SEE(25, array<int, 3>) SEE(26, array<string, 20>) SEE(27, tuple<int, string, long>) SEE(28, vector<tuple<string, pair<short, bool>>>)
SEE(29, vector<bool>) SEE(30, tuple<optional<int>>) SEE(31, forward_list<int>) SEE(32, forward_list<string>)

int main() {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  string ends(70, 'x');
  give_1("short"), give_1(""), give_1("a text that is longer than what fits into the object"), give_1("\xc3\xa4\xe2\x82\xac");
  give_1({"ab\0cd\0", 6}), give_1({"\0", 1}), give_1(string(300, 'x') + '\0' + string(700, 'y')), give_1(string(16, '\0'));
  give_2(string_view("all of it").substr(0, 3)), give_2({"\0\0 of it", 8});
  give_3({10, 2000, 300000}), give_3({}), give_3(vector<int>(40, -7));
  give_4({{"o\0ne\0", 5}, {"\0", 1}, "two"});
  give_4({"one", "two of them, which is longer than the rest", "", ends}), give_4(vector<string>(17, "w"));
  give_5({{1, 2}, {}, {-3}});
  deque<int> turned;
  for (int i = 0; i < 300; i++) turned.push_back(i);
  for (int i = 0; i < 290; i++) turned.pop_front();
  for (int i = 0; i < 5; i++) turned.push_front(-i);
  give_6(turned), give_6({});
  give_7({"p", "q"}), give_7({});
  map<int, int> tree;
  for (int i = 0; i < 50; i++) tree[i * 37 % 101] = i;
  give_8(tree), give_8({}), give_8({{1, 2}});
  give_9({{"odd", {1, 3}}, {"even", {2}}, {"none", {}}});
  give_10({"b", "a", "c"});
  give_11({{"k", 1}}), give_11({}), give_11({{"one", 1}, {"two", 2}, {"three", 3}});
  unordered_set<long> many;
  for (long i = 0; i < 100; i++) many.insert(i * i);
  give_12(many);
  give_13(5), give_13(nullopt);
  give_14("there"), give_14(nullopt);
  give_15(make_unique<int>(77)), give_15(nullptr);
  give_16(make_shared<string>("shared")), give_16(nullptr);
  give_17({4, "four"});
  give_18({{"a", 1}, {"b", 2}});
  deque<string> texts;
  for (int i = 0; i < 20; i++) texts.push_back("t" + to_string(i));
  for (int i = 0; i < 15; i++) texts.pop_front();
  give_19(texts);
  give_20({{{1, 2}, "x"}, {{0, 5}, "y"}});
  give_21({0, 1, 255});
  give_22({1, nullopt, 3});
  give_23({1, -1});
  give_24({{1, "one"}, {2, "two"}});
  give_25({4, -5, 6});
  array<string, 20> names;
  for (int i = 0; i < 20; i++) names[i] = "name" + to_string(i);
  give_26(names);
  give_27({1, "two", 3l << 40});
  give_28({{"a", {1, true}}, {"b", {-2, false}}});
  give_29({true, false, true}), give_29({}), give_29(vector<bool>(100, true));
  give_30({5}), give_30({nullopt});
  give_31({3, 1, 4}), give_31({}), give_31(forward_list<int>(5000, 7)), give_32({"one", "", ends});
  return 0;
}
