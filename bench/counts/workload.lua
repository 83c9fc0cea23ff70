-- Comes by most of the interpreter and its libraries, the same way in each run: nothing depends on time or on addresses.
local parts = {}
local function add(...) for _, value in ipairs({ ... }) do parts[#parts + 1] = tostring(value) end end

local Point = {}
Point.__index = Point
Point.__add = function(a, b) return setmetatable({ x = a.x + b.x }, Point) end
Point.__eq = function(a, b) return a.x == b.x end
Point.__lt = function(a, b) return a.x < b.x end
Point.__le = function(a, b) return a.x <= b.x end
Point.__concat = function(a, b) return "point" end
Point.__len = function(a) return a.x end
Point.__call = function(self, n) return self.x * n end
Point.__unm = function(self) return setmetatable({ x = -self.x }, Point) end
Point.__newindex = function(t, k, v) rawset(t, k, v) end
Point.__close = function() add("closed") end
Point.__tostring = function(self) return "p" .. self.x end
Point.__idiv = function(a) return 7 end
Point.__band = function(a) return 8 end

local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local function varied(...) return select("#", ...), ... end

for round = 1, 1 do
  add(fib(9))
  local a, b = setmetatable({ x = round }, Point), setmetatable({ x = 3 }, Point)
  add((a + b).x, a == b, a < b, a <= b, a .. b, #a, a(4), (-a).x, tostring(a), a // 1, a & 1)
  a.other = round
  do local closed <close> = setmetatable({ x = 1 }, Point) end
  local words = {}
  for word in ("the quick brown fox jumps over the lazy dog " .. round):gmatch("%a+") do words[#words + 1] = word end
  table.sort(words)
  table.sort(words, function(x, y) return x > y end)
  add(table.concat(words, ","), table.unpack(words, 1, 3))
  table.insert(words, 2, "new"); table.remove(words, 1); table.move(words, 1, 4, 3)
  add(table.pack(1, nil, 3).n)
  local s = ("abc"):rep(20, "-")
  add(s:sub(2, -2):upper():lower():reverse():len(), s:find("c-a", 1, true), s:find("b(.-)c"), s:match("^(%w+)-()"), s:byte(1, 3), string.char(65, 66))
  add((s:gsub("%w", { a = "1", b = false })), (s:gsub("b", function(c) return c .. c end, 4)), (s:gsub("(a)(b)", "%2%1%%")), s:find("[%a_][^-]*"), s:match("%f[%w]%w+"), ("(x(y))"):match("%b()"))
  add(string.format("%d %5.2f %s %q %x %c %i %g %-8s| %a %%", round, 1.5, "text", "quo\n\"te", 255, 66, 3, 1e20, "pad", 0.5))
  add(string.unpack("<i4 z s1", string.pack("<i4 z s1", 77, "zero", "one")), string.packsize("i4 i8 d"))
  add(utf8.char(228, 8364, 128512), utf8.len("äö€"), utf8.codepoint("ä€", 1, -1), utf8.offset("äö€", 3))
  for p, c in utf8.codes("aä€") do add(p, c) end
  add(1 // 0.3, 7 % -3, 7.5 % 2, -7 // 2, 2 ^ 10, 5 / 2, 3 | 8, 6 & 3, 5 ~ 1, ~5, 1 << 4, 256 >> 3, "10" + 5, "3" * "4", 10 .. 20, 1e15, 2 ^ 53, 1 < 1.5, "a" < "b", 3 == 3.0)
  add(math.floor(3.7), math.ceil(3.2), math.max(1, 5, 3), math.min(4, 2), math.fmod(7, 3), math.sqrt(16), math.abs(-4), math.tointeger(3.0), math.type(1), math.type(1.5), math.ult(1, -1), math.modf(3.5), math.exp(0), math.log(8, 2), math.sin(0), math.cos(0))
  math.randomseed(42); add(math.random(100), math.random(5, 10), math.random() < 1)
  add(tonumber("0x1p4"), tonumber("zz", 36), tonumber("1e2"), tonumber("none"), tostring(nil), tostring(1.5), tostring(true))
  local t = {}
  for i = 1, 200 do t[i] = i; t["k" .. i] = i * 1.5; t[i + 0.5] = true end
  local sum = 0
  for k, v in pairs(t) do if type(v) == "number" then sum = sum + v end end
  for i = 1, 200, 3 do t[i] = nil end
  add(sum, #t, next({}), rawlen(t), rawequal(t, t), rawget(t, 2), select(-1, 1, 2, 3), varied(1, 2, 3))
  for i = 10, 1, -2 do sum = sum - i end
  for x = 0.5, 3 do sum = sum + x end
  local i = 0
  while true do i = i + 1; if i > 5 then break end end
  repeat i = i - 1 until i <= 0
  ::again:: i = i + 1; if i < 4 then goto again end
  local co = coroutine.wrap(function(n) for j = 1, n do coroutine.yield(j) end return "done" end)
  add(co(4), co(), co(), co(), co())
  local thread = coroutine.create(function() error({ code = round }) end)
  add(coroutine.resume(thread)); parts[#parts] = nil
  add(coroutine.status(thread), coroutine.isyieldable(), coroutine.close(coroutine.create(print)))
  add(pcall(error, "message", 0)); add(pcall(function() local x = nil; return x.field end)); add(select(2, xpcall(function() return 1 + {} end, function(m) return "handled " .. m end)))
  add(pcall(string.rep)); add(pcall(function() return #5 end)); add(pcall(function() return {} < {} end)); add(pcall(function() return 1 < "2" end))
  local up = 0
  local function counter() up = up + 1; return function() up = up + 1; return up end end
  add(counter()(), counter()())
  local chunk = load("local a, b = ...; local t = { a, b, x = a, [b] = 1 }; function t.f(...) local n <const> = 5; return ... , n end; return t.f(a and b or not a, a ~= b, #'abc', -a, a >= b, a > b) ", "chunk")
  add(chunk(1, 2)); add(load(string.dump(chunk, true))(5, 6)); add(load("return +", "bad")); add(load(function() return nil end) ~= nil)
  local weak = setmetatable({}, { __mode = "kv" }); weak[1] = {}; weak[{}] = 1; weak.kept = t
  local finalized = setmetatable({}, { __gc = function() add("gone") end }); finalized = nil
  local old = {}
  for j = 1, 300 do old[j % 20 + 1] = { j, tostring(j), function() return j end } end
  collectgarbage("step", 10); collectgarbage()
  collectgarbage("generational"); for j = 1, 300 do old[j % 50 + 1] = { tostring(j) } end; collectgarbage("step"); collectgarbage("incremental", 100, 200)
  add(debug.getinfo(1, "Sl").currentline, debug.getinfo(fib, "u").nparams, debug.getlocal(1, 1) ~= nil, debug.traceback("trace", 1):len() > 10, debug.getupvalue(counter(), 1), debug.getmetatable("").__index == string)
  local calls = 0
  debug.sethook(function() calls = calls + 1 end, "crl", 100); fib(6); debug.sethook(); add(calls)
  local file <close> = assert(io.open("/dev/null", "w")); file:write("text ", 1, " ", 2.5, "\n"); file:flush(); add(file:seek("cur") ~= nil, io.type(file))
  local lines = assert(io.open(arg[0])); add(lines:read("l", "n", 5)); for line in lines:lines() do up = up + #line end; lines:close()
  add(os.date("!%Y", 0), os.time({ year = 2000, month = 1, day = 1, hour = 12 }) > 0, os.getenv("HOME") ~= 1, os.tmpname and 1, type(os.clock()))
  add(pcall(require, "no.such.module"))
  add(package.searchpath("none", "./?.x", ".", "/"))
end

local text = table.concat(parts, " ")
local check = 0
for i = 1, #text do check = (check * 31 + text:byte(i)) % 1000003 end
print(#parts, #text, check)
