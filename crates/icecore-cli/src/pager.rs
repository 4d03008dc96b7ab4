//! The pager: a program of the user's own environment, which the command writes to.

use std::io::{self, Write};
use std::process::{Child, ChildStdin};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

/// If nobody says which. It ends by itself if all fits, keeps colours and leaves the screen as it is.
const USUAL: &str = "less -FRX";

/// A pager that runs.
pub struct Pager(ChildStdin);

/// The process, for whoever waits for its end.
static CHILD: Mutex<Option<Child>> = Mutex::new(None);
/// What the command does meanwhile.
static STAGE: AtomicU8 = AtomicU8::new(NONE);
const NONE: u8 = 0;
const WRITING: u8 = 1;
const WAITING: u8 = 2;

/// The pager that the environment names, for the shell; `None`, if it says that none is wanted.
pub fn command() -> Option<String> {
    if cfg!(not(unix)) {
        return None;
    }
    let named = ["ICECORE_PAGER", "PAGER"].iter().find_map(std::env::var_os);
    let command = named.map_or_else(|| USUAL.to_owned(), |named| named.to_string_lossy().into_owned());
    (!matches!(command.trim(), "" | "cat")).then_some(command)
}

impl Pager {
    /// Starts it. Of the data nothing is in its command line.
    #[cfg(unix)]
    pub fn start(command: &str) -> io::Result<Pager> {
        use std::process::{Command, Stdio};
        // The shell outlives a Ctrl-C, as pagers do. A program that is not there has read nothing:
        // all of it is shown without one.
        const SCRIPT: &str = "trap : INT QUIT\ncommand eval \"$1\"\ncase $? in 126|127) exec cat ;; esac";
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, "icecore", command]).stdin(Stdio::piped());
        crate::secrets::hide_from(&mut shell);
        for (name, usual) in [("LESS", "FRX"), ("LV", "-c")] {
            if std::env::var_os(name).is_none() {
                shell.env(name, usual);
            }
        }
        // From here on a Ctrl-C is the pager's; if that can't be, it ends this command as well.
        crate::signals::ask_on_keyboard(outlives_keyboard);
        let _ = crate::signals::watch();
        STAGE.store(WRITING, Ordering::Relaxed);
        let mut child = shell.spawn().inspect_err(|_| STAGE.store(NONE, Ordering::Relaxed))?;
        let stdin = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        *CHILD.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
        Ok(Pager(stdin))
    }

    #[cfg(not(unix))]
    pub fn start(_: &str) -> io::Result<Pager> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Tells it that this was all, and waits until it is left.
    pub fn wait(self) {
        STAGE.store(WAITING, Ordering::Relaxed);
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

/// For a signal of the keyboard: it is the pager's as long as there is one. Whether the command
/// ends by itself then.
#[cfg(unix)]
fn outlives_keyboard() -> bool {
    use std::time::{Duration, Instant};
    const TURN: Duration = Duration::from_millis(20);
    /// What writes finds out that nobody reads any more; what computes does not.
    const GRACE: Duration = Duration::from_millis(500);
    let mut left_at = None;
    loop {
        match STAGE.load(Ordering::Relaxed) {
            NONE => return false,
            WAITING => return true,
            _ => {}
        }
        match left_at {
            None if is_left() => left_at = Some(Instant::now()),
            Some(at) if at.elapsed() > GRACE => return false,
            _ => {}
        }
        std::thread::sleep(TURN);
    }
}

#[cfg(unix)]
fn is_left() -> bool {
    let Ok(mut child) = CHILD.try_lock() else { return false };
    child.as_mut().is_some_and(|child| !matches!(child.try_wait(), Ok(None)))
}
