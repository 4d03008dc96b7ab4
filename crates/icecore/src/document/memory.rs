//! Memory that readers and writers reuse from document to document.

use std::any::Any;
use std::fmt;

/// What a reader or a writer keeps from one document to the next; each format has its own type.
#[derive(Default)]
pub struct Memory(Option<Box<dyn Any + Send + Sync>>);

impl Memory {
    /// Returns the data of this format; initially its default.
    pub(crate) fn get_or_default<T: Any + Default + Send + Sync>(&mut self) -> &mut T {
        let kept = self.0.get_or_insert_with(|| Box::<T>::default());
        if !kept.is::<T>() {
            *kept = Box::<T>::default();
        }
        kept.downcast_mut().unwrap_or_else(|| unreachable!("it was just put there"))
    }

    /// Takes out the data of this format; initially its default.
    pub(crate) fn take_or_default<T: Any + Default + Send + Sync>(&mut self) -> Box<T> {
        self.0.take().and_then(|kept| kept.downcast().ok()).unwrap_or_default()
    }

    /// Puts the data back.
    pub(crate) fn put_back<T: Any + Send + Sync>(&mut self, kept: Box<T>) {
        self.0 = Some(kept);
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Memory").field(&self.0.is_some()).finish()
    }
}

/// A clone starts empty.
impl Clone for Memory {
    fn clone(&self) -> Memory {
        Memory::default()
    }
}
