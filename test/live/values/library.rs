// Values of the standard library: each is handed to a function of its own, and printed as a script should print it.
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock};

#[derive(Debug, Clone)]
pub enum Shape { Circle(i32), Line(i32, i64), Named { name: String, sides: u8 }, Empty }

#[derive(Debug, Clone, Copy)]
pub enum Flat { One(u16), Two(u16), Three }

#[derive(Debug, Clone)]
pub struct Tree { name: String, leaves: Vec<Tree>, age: Option<u8> }

/// Its tag is as large as what is in it.
#[derive(Debug)]
pub enum Wide { Count(u128), Few(u8), Nothing }

macro_rules! see {
    ($name:ident, $number:expr, $type:ty) => {
        #[no_mangle]
        #[inline(never)]
        pub fn $name(v: &$type) { unsafe { std::arch::asm!(concat!("/* {} ", $number, " */"), in(reg) v) } }
    };
}
see!(see_1, 1, String);
see!(see_2, 2, Vec<i32>);
see!(see_3, 3, Vec<String>);
see!(see_4, 4, Vec<Vec<u16>>);
see!(see_5, 5, Option<i32>);
see!(see_6, 6, Option<String>);
see!(see_7, 7, Result<i32, String>);
see!(see_8, 8, Shape);
see!(see_9, 9, Rc<String>);
see!(see_10, 10, Arc<i64>);
see!(see_11, 11, VecDeque<i32>);
see!(see_12, 12, HashMap<i32, i32>);
see!(see_13, 13, HashMap<String, Vec<i32>>);
see!(see_14, 14, HashSet<u64>);
see!(see_15, 15, Vec<Option<i32>>);
see!(see_16, 16, Flat);
see!(see_17, 17, Vec<&'static str>);
see!(see_18, 18, Tree);
see!(see_19, 19, Vec<Shape>);
see!(see_20, 20, Cell<i32>);
see!(see_21, 21, RefCell<Vec<String>>);
see!(see_22, 22, Mutex<String>);
see!(see_23, 23, Arc<Mutex<HashMap<i32, i32>>>);
see!(see_24, 24, Vec<RwLock<Option<u8>>>);
see!(see_25, 25, BTreeMap<i32, i64>);
see!(see_26, 26, BTreeMap<String, Option<u8>>);
see!(see_27, 27, BTreeSet<u16>);
see!(see_28, 28, Result<(), String>);
see!(see_29, 29, Wide);

/// As Rust prints it, but for what a script writes otherwise: members of structs, and what it leaves out.
fn text<T: Debug>(value: &T) -> String { format!("{:?}", value) }

/// As a script shows it, which leaves out what is more than sixteen.
fn most<K: Debug, V: Debug>(map: &BTreeMap<K, V>) -> String {
    if map.len() <= 16 { return text(map); }
    let shown: Vec<String> = map.iter().take(16).map(|(key, value)| format!("{:?}: {:?}", key, value)).collect();
    format!("{{{}, … {} more}}", shown.join(", "), map.len() - 16)
}

fn main() {
    let line = |value: String| println!("{}", value);
    for value in ["short", "", "a text that is longer than others, by a word or two, so that it is elsewhere"] {
        let value = value.to_string();
        see_1(&value); line(value.clone());
    }
    let zeros = |count| "\0".repeat(count);
    for value in ["ab\0cd\0", "\0", "\\x00 and\0", &zeros(16)] { see_1(&value.to_string()); line(value.replace("\0", "\\x00")); }
    see_1(&zeros(40)); line("\\x00".repeat(16) + "..");
    let value = vec!["one\0".to_string(), zeros(3), "x".repeat(61) + "\0", "x".repeat(62) + "\0y", "two".to_string()];
    see_3(&value); line(format!("[\"one\\u0000\", \"\\u0000\\u0000\\u0000\", \"{}\\u0000\".., \"{}\".., \"two\"]", "x".repeat(61), "x".repeat(62)));
    for value in [vec![10, 2000, 300000], vec![], vec![-1; 3]] { see_2(&value); line(text(&value)); }
    let long = vec![7; 20];
    see_2(&long); line(format!("[{}, … 4 more]", ["7"; 16].join(", ")));
    let value = vec!["one".to_string(), "".to_string(), "two".to_string()]; see_3(&value); line(text(&value));
    let value: Vec<Vec<u16>> = vec![vec![1, 2], vec![], vec![65535]]; see_4(&value); line(text(&value));
    for value in [Some(5), None, Some(-5)] { see_5(&value); line(text(&value)); }
    for value in [Some("there".to_string()), None] { see_6(&value); line(text(&value)); }
    for value in [Ok(5), Err("bad".to_string())] { see_7(&value); line(text(&value)); }
    for value in [Shape::Circle(5), Shape::Line(-1, 1 << 40), Shape::Empty] { see_8(&value); line(text(&value)); }
    see_8(&Shape::Named { name: "box".to_string(), sides: 4 }); line("Named { .name = box, .sides = 4 }".to_string());
    let value = Rc::new("counted".to_string()); see_9(&value); line(text(&value));
    let value = Arc::new(1i64 << 40); see_10(&value); line(text(&value));
    let mut value: VecDeque<i32> = (0..20).collect();
    for i in 0..17 { value.pop_front(); if i % 2 == 0 { value.push_back(100 + i); } }
    see_11(&value); line(text(&value));
    let value: HashMap<i32, i32> = (0..10).map(|i| (i * 7, -i)).collect(); see_12(&value); line(text(&value));
    see_12(&HashMap::new()); line("{}".to_string());
    let value: HashMap<String, Vec<i32>> = [("a".to_string(), vec![1]), ("b".to_string(), vec![])].into_iter().collect(); see_13(&value); line(text(&value));
    let value: HashSet<u64> = [1 << 60, 5, 9].into_iter().collect(); see_14(&value); line(text(&value));
    let value = vec![Some(1), None, Some(3)]; see_15(&value); line(text(&value));
    for value in [Flat::One(7), Flat::Two(8), Flat::Three] { see_16(&value); line(text(&value)); }
    let value = vec!["x", "yz"]; see_17(&value); line(text(&value));
    let value = vec![Shape::Circle(1), Shape::Empty]; see_19(&value); line(text(&value));
    let value = Cell::new(-5); see_20(&value); line(text(&value.get()));
    let value = RefCell::new(vec!["a".to_string(), "b".to_string()]); see_21(&value); line(text(&value.borrow()));
    let value = Mutex::new("within".to_string()); see_22(&value); line(value.lock().unwrap().clone());
    let value = Arc::new(Mutex::new(HashMap::from([(1, -1), (2, -2)]))); see_23(&value); line(text(&*value.lock().unwrap()));
    see_24(&vec![RwLock::new(Some(1)), RwLock::new(None)]); line("[Some(1), None]".to_string());
    let mut value: BTreeMap<i32, i64> = BTreeMap::new(); see_25(&value); line(most(&value));
    for count in [5, 40, 4000] {
        for i in 0..count { value.insert(i * 7 % count, -(i as i64)); }
        see_25(&value); line(most(&value));
    }
    for i in 3..3990 { value.remove(&i); }
    see_25(&value); line(most(&value));
    let value = ["to", "be", "or", "not"].iter().map(|word| (word.to_string(), word.bytes().nth(2))).collect(); see_26(&value); line(most(&value));
    let value: BTreeSet<u16> = (0..14).map(|i| i * 11 % 31).collect(); see_27(&value); line(text(&value));
    see_28(&Ok(())); line("Ok".to_string());
    let value = Err("bad".to_string()); see_28(&value); line(text(&value));
    see_29(&Wide::Count((7 << 64) + 9)); line("Count([9,7])".to_string());
    for value in [Wide::Few(250), Wide::Nothing] { see_29(&value); line(text(&value)); }
    let leaf = |name: &str| Tree { name: name.to_string(), leaves: vec![], age: Some(1) };
    see_18(&Tree { name: "root".to_string(), leaves: vec![leaf("a"), leaf("b")], age: None });
    line("{ .name = root, .leaves = [{ .name = a, .leaves = [], .age = Some(1) }, { .name = b, .leaves = [], .age = Some(1) }], .age = None }".to_string());
}
