//! What a store's directory may hold, and who may use it: names in any order, files of other
//! people, links and pipes.

mod foreign;
mod locks;
mod modes;
mod opening;
