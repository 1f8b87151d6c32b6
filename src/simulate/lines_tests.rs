//! Lines in and results out: their order, what is refused, and whoever waits for each.

use std::collections::VecDeque;
use std::io::Cursor;
use std::sync::mpsc::channel;

use super::*;

fn lines(input: impl AsRef<[u8]>, workers: usize) -> (Result<u64, LinesError>, String) {
    let mut output = Vec::new();
    let result = simulate_lines(Cursor::new(input.as_ref().to_vec()), &mut output, workers, &mut |_| {});
    (result, String::from_utf8(output).expect("JSON is text"))
}

/// A program that writes a line and waits for its result before the next; after its last one it goes on waiting.
struct Asking {
    lines: VecDeque<&'static [u8]>,
    answered: Receiver<()>,
}

impl Read for Asking {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let _ = self.answered.recv();
        let Some(line) = self.lines.pop_front() else { return Ok(0) };
        into[..line.len()].copy_from_slice(line);
        Ok(line.len())
    }
}

/// Hears of each line that is flushed.
struct Heard {
    written: bool,
    answers: std::sync::mpsc::Sender<()>,
}

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written = true;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.written) {
            let _ = self.answers.send(());
        }
        Ok(())
    }
}

#[test]
fn results_come_in_the_order_of_the_lines_on_any_number_of_threads() {
    let scenario = |seed: u32| format!("{{\"seed\": {seed}, \"measured_s\": 60}}\n\n");
    let input: String = (0..100).map(scenario).collect();
    let (one, expected) = lines(&input, 1);
    assert_eq!((one.expect("all are simulated"), expected.lines().count()), (100, 100));
    assert_eq!(lines(&input, 3).1, expected);
    assert_eq!(lines(input.trim_end(), 7).1, expected, "the last line may lack its end");
}

#[test]
fn a_refused_line_is_named_and_what_came_before_it_is_written() {
    let (result, output) = lines("{}\n{\"measured_s\": -1}\n{}\n", 2);
    let refused = result.expect_err("refused").to_string();
    let range = "measured_s is -1.0; allowed: 0.001 to 2678400 (31 days)";
    assert_eq!(refused, format!("line 2 was refused: {range}; correct it and run again"));
    assert_eq!(output.lines().count(), 1);
    let refused = lines(b"{}\n\n\xff{}\n", 2).0.expect_err("refused").to_string();
    assert!(refused.starts_with("line 3 was refused: it is not UTF-8: invalid utf-8 sequence"), "{refused}");
    let long = format!("{{}}\n{}", "[".repeat(LONGEST_LINE as usize + 1));
    let refused = lines(long, 2).0.expect_err("refused").to_string();
    assert_eq!(refused, "line 2 was refused: it is longer than 16 MiB; correct it and run again");
}

#[test]
fn nothing_in_gives_nothing_out() {
    assert!(matches!(lines("", 2), (Ok(0), output) if output.is_empty()));
    assert!(matches!(lines("\n \n\t\n", 2), (Ok(0), output) if output.is_empty()));
}

/// Hangs where a result is kept back, or where a reader is waited for that nobody writes to.
#[test]
fn each_result_comes_before_the_next_line_and_an_error_before_the_end_of_the_input() {
    let (answers, answered) = channel();
    answers.send(()).expect("it is there");
    let asking = Asking { lines: [b"{}\n", b"{}\n" as &[u8], b"{]\n"].into(), answered };
    let mut output = Heard { written: false, answers };
    let refused = simulate_lines(io::BufReader::new(asking), &mut output, 2, &mut |_| {}).expect_err("refused");
    assert!(refused.to_string().starts_with("line 3 was refused: "), "{refused}");
}

#[test]
fn nobody_who_reads_ends_it() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let endless = io::BufReader::new(io::repeat(b'{').take(1 << 30));
    let ended = simulate_lines(Cursor::new("{}\n").chain(endless), &mut Closed, 2, &mut |_| {});
    assert!(matches!(ended, Err(LinesError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe));
}
