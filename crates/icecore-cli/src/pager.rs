//! The pager: a program of the user's environment to which the command writes.

use std::io::{self, Write};
use std::process::{Child, ChildStdin};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

/// The default pager. It exits if everything fits on the screen, keeps colours and does not clear the screen.
const DEFAULT_PAGER: &str = "less -FRX";

/// A running pager.
pub struct Pager(ChildStdin);

/// The pager process, for the code that waits for its end.
static CHILD: Mutex<Option<Child>> = Mutex::new(None);
/// What the command does while the pager runs: one of the following constants.
static PAGER_STATE: AtomicU8 = AtomicU8::new(NO_PAGER);
const NO_PAGER: u8 = 0;
/// The command may still write to the pager.
const WRITING: u8 = 1;
/// The command has written everything, and waits until the user quits the pager.
const WAITING: u8 = 2;

/// Returns the shell command of the pager from the environment; `None` if the environment turns paging off.
pub fn find_pager_command() -> Option<String> {
    if cfg!(not(unix)) {
        return None;
    }
    let configured = ["ICECORE_PAGER", "PAGER"].iter().find_map(std::env::var_os);
    let command = configured.map_or_else(|| DEFAULT_PAGER.to_owned(), |value| value.to_string_lossy().into_owned());
    (!matches!(command.trim(), "" | "cat")).then_some(command)
}

impl Pager {
    /// Starts the pager. It gets data only through its standard input, never in its command line.
    #[cfg(unix)]
    pub fn start(command: &str) -> io::Result<Pager> {
        use std::process::{Command, Stdio};
        // The shell survives Ctrl-C, as pagers do. If the pager was not found (exit code 126 or 127), it has read
        // nothing, so `cat` can show all output instead.
        const SCRIPT: &str = "trap : INT QUIT\ncommand eval \"$1\"\ncase $? in 126|127) exec cat ;; esac";
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, "icecore", command]).stdin(Stdio::piped());
        crate::secrets::remove_secrets(&mut shell);
        for (name, default) in [("LESS", "FRX"), ("LV", "-c")] {
            if std::env::var_os(name).is_none() {
                shell.env(name, default);
            }
        }
        // From here on Ctrl-C is for the pager; if signals can't be caught, it ends this command as well.
        crate::signals::set_keyboard_handler(handle_keyboard_signal);
        let _ = crate::signals::watch_signals();
        PAGER_STATE.store(WRITING, Ordering::Relaxed);
        let mut child = shell.spawn().inspect_err(|_| PAGER_STATE.store(NO_PAGER, Ordering::Relaxed))?;
        let stdin = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        *CHILD.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        Ok(Pager(stdin))
    }

    #[cfg(not(unix))]
    pub fn start(_: &str) -> io::Result<Pager> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Ends the pager's input, and waits until the user quits the pager.
    pub fn wait(self) {
        PAGER_STATE.store(WAITING, Ordering::Relaxed);
        drop(self.0);
        if let Some(child) = &mut *CHILD.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = child.wait();
        }
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Handles a signal of the keyboard. While there is a pager, such a signal is for the pager. Returns true if the
/// command ends by itself afterwards, and false if the signal must end it.
#[cfg(unix)]
fn handle_keyboard_signal() -> bool {
    use std::time::{Duration, Instant};
    const POLL_INTERVAL: Duration = Duration::from_millis(20);
    /// Time for the command to end by itself after the pager was closed. A write to the closed pager ends it; a long
    /// computation does not, so the signal has to.
    const GRACE: Duration = Duration::from_millis(500);
    let mut exited_at = None;
    loop {
        match PAGER_STATE.load(Ordering::Relaxed) {
            NO_PAGER => return false,
            WAITING => return true,
            // `WRITING`
            _ => {}
        }
        match exited_at {
            None if has_pager_exited() => exited_at = Some(Instant::now()),
            Some(exit_time) if exit_time.elapsed() > GRACE => return false,
            _ => {}
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

#[cfg(unix)]
fn has_pager_exited() -> bool {
    let Ok(mut child) = CHILD.try_lock() else { return false };
    child.as_mut().is_some_and(|child| !matches!(child.try_wait(), Ok(None)))
}
