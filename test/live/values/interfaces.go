package main

import (
	"errors"
	"fmt"
	"os"
)

type Shape interface{ Area() int }
type Square struct {
	Side int
	Name string
}
type Circle struct{ R int }
type Held struct{ p *int }
type Pair struct {
	v interface{}
	s Shape
	n int
}

func (s Square) Area() int  { return s.Side * s.Side }
func (c *Circle) Area() int { return 3 * c.R * c.R }
func (h Held) Area() int    { return *h.p }

var sink int

//go:noinline
func anything(v interface{}) { sink++ }

//go:noinline
func shape(v Shape) { sink++ }

//go:noinline
func fails(v error) { sink++ }

//go:noinline
func holds(v *Pair) { sink++ }

//go:noinline
func receives(v <-chan string) { sink++ }

func main() {
	number := 42
	for _, v := range []interface{}{number, -1, uint8(200), int16(-300), true, 3.5, float32(0.25), uint64(1 << 63)} {
		anything(v)
		fmt.Printf("%T(%v)\n", v, v)
	}
	for _, v := range []interface{}{"hello", ""} {
		anything(v)
		fmt.Printf("%T(%q)\n", v, v)
	}
	anything([]int{1, 2, 3})
	fmt.Println("[]int([1, 2, 3])")
	anything([]string{"a", "b"})
	fmt.Println(`[]string(["a", "b"])`)
	anything(nil)
	fmt.Println("nil")
	anything(map[string]int{"a": 1})
	fmt.Println("map")
	squares := []Square{{3, "three"}, {4, "four"}}
	for _, s := range squares {
		anything(s)
		shape(s)
		for i := 0; i < 2; i++ {
			fmt.Printf("%T { .Side = %d, .Name = %s }\n", s, s.Side, s.Name)
		}
	}
	circle := &Circle{5}
	anything(circle)
	shape(circle)
	for i := 0; i < 2; i++ {
		fmt.Printf("%T { .R = %d }\n", circle, circle.R)
	}
	held := Held{&number}
	shape(held)
	fmt.Printf("%T { .p = %p }\n", held, held.p)
	shape(nil)
	fmt.Println("nil")
	holds(&Pair{squares[1], circle, 7})
	fmt.Printf("{ .v = %T { .Side = 4, .Name = four }, .s = %T { .R = 5 }, .n = 7 }\n", squares[1], circle)
	channel := make(chan string, 3)
	channel <- "sent"
	receives(channel)
	fmt.Println(`["sent"]`)
	fails(errors.New("oops"))
	fmt.Println("*errors.errorString { .s = oops }")
	fails(nil)
	fmt.Println("nil")
	if sink == 0 {
		os.Exit(1)
	}
}
