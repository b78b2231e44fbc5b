use shop::cart::total;

#[test]
fn adds_up() {
    assert_eq!(total(&["2.50", "4"]).as_deref(), Some("6.50"));
}

#[test]
fn needs_every_amount() {
    assert_eq!(total(&["2.50", "four"]), None);
}

#[test]
fn speaks_past_the_harness() {
    use std::io::Write;
    let mut out = std::fs::OpenOptions::new().write(true).open("/dev/stdout").unwrap();
    writeln!(out, "a line of the program itself").unwrap();
}
