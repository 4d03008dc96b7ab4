//! The daemon as its clients see it: a real one on its own port, over SQLite.

mod hostile;
mod hosts;
mod limits;
mod outages;
mod page;
mod routes;
mod schedules;
mod shutdown;
mod strangers;
