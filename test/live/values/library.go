// Values of Go: each is handed to a function of its own, and printed as a script should print it.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
)

type point struct {
	name string
	tags []string
}

//go:noinline
func see1(v string) { runtime.KeepAlive(v) }

//go:noinline
func see2(v []int32) { runtime.KeepAlive(v) }

//go:noinline
func see3(v []string) { runtime.KeepAlive(v) }

//go:noinline
func see4(v map[string]int) { runtime.KeepAlive(v) }

//go:noinline
func see5(v map[int32][]int64) { runtime.KeepAlive(v) }

//go:noinline
func see6(v *point) { runtime.KeepAlive(v) }

//go:noinline
func see7(v chan int16) { runtime.KeepAlive(v) }

//go:noinline
func see8(v map[uint8]bool) { runtime.KeepAlive(v) }

//go:noinline
func see9(v map[int]int) { runtime.KeepAlive(v) }

func list(texts []string, open, end string, total int) string {
	if len(texts) > 16 {
		texts = texts[:16]
	}
	if total > len(texts) {
		texts = append(texts, fmt.Sprintf("… %d more", total-len(texts)))
	}
	return open + strings.Join(texts, ", ") + end
}

func main() {
	out := os.Stdout
	for _, v := range []string{"short", "a text that is longer than others, by a word or two"} {
		see1(v)
		fmt.Fprintln(out, v)
	}
	for _, v := range []string{"ab\x00cd\x00", "\x00"} {
		see1(v)
		fmt.Fprintln(out, strings.ReplaceAll(v, "\x00", `\x00`))
	}
	see3([]string{"a\x00", "\x00b", "c"})
	fmt.Fprintln(out, `["a\u0000", "\u0000b", "c"]`)
	see2([]int32{1, -2, 300000})
	fmt.Fprintln(out, "[1, -2, 300000]")
	see2(nil)
	fmt.Fprintln(out, "[]")
	see2(make([]int32, 20))
	fmt.Fprintln(out, "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, … 4 more]")
	see3([]string{"a", "", "bc"})
	fmt.Fprintln(out, `["a", "", "bc"]`)
	m := map[string]int{}
	see4(m)
	fmt.Fprintln(out, "{}")
	see4(nil)
	fmt.Fprintln(out, "{}")
	m["one"] = 1
	see4(m)
	fmt.Fprintln(out, `{"one": 1}`)
	big := map[int32][]int64{}
	for i := int32(0); i < 14; i++ {
		big[i] = []int64{int64(i), -1}
	}
	see5(big)
	var texts []string
	for k, v := range big {
		texts = append(texts, fmt.Sprintf("%d: [%d, %d]", k, v[0], v[1]))
	}
	sort.Strings(texts)
	fmt.Fprintln(out, list(texts, "{", "}", len(texts)))
	see6(&point{"p", []string{"x", "y"}})
	fmt.Fprintln(out, `{ .name = p, .tags = ["x", "y"] }`)
	c := make(chan int16, 4)
	for i := int16(1); i < 5; i++ {
		c <- i
	}
	<-c
	<-c
	c <- 9
	see7(c)
	fmt.Fprintln(out, "[3, 4, 9]")
	flags := map[uint8]bool{}
	for i := 0; i < 40; i++ {
		flags[uint8(i)] = i%2 == 0
	}
	see8(flags)
	fmt.Fprintln(out, len(flags))
	gone := map[int]int{}
	for i := 0; i < 200; i++ {
		gone[i] = 3 * i
	}
	for i := 0; i < 200; i++ {
		if i%50 != 7 {
			delete(gone, i)
		}
	}
	see9(gone)
	fmt.Fprintln(out, "{107: 321, 157: 471, 57: 171, 7: 21}")
	// So many that they are in several tables since Go 1.24.
	large := map[int]int{}
	for i := 0; i < 1500; i++ {
		large[i] = 3 * i
	}
	see9(large)
	fmt.Fprintln(out, "16 triples and 1484 more")
}
