//! Explores a system of Worldline's zoo with Stateright, on one thread.
//!
//! `worldline-peer-stateright MODEL SIZE [bfs|dfs]` prints one line of JSON: the model,
//! distinct states, generated states, depth and seconds of the search. It fails if a
//! property does, because then the search has ended early.

mod paxos;
mod registers;
mod single_copy;
mod twophase;

use stateright::{Checker, Model};
use std::fmt::Debug;
use std::hash::Hash;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (model, size, order) = match words[..] {
        [model, size] => (model, size, "bfs"),
        [model, size, order] => (model, size, order),
        _ => return usage(),
    };
    let Ok(size) = size.parse::<usize>() else {
        return usage();
    };
    match model {
        "twophase" => explore(model, order, twophase::TwoPhase::new(size)),
        "paxos-clients" => explore(model, order, paxos::system(size)),
        "single-copy" => explore(model, order, single_copy::system(size)),
        _ => usage(),
    }
}

fn usage() {
    eprintln!("usage: MODEL SIZE [bfs|dfs]; MODEL: twophase, paxos-clients, single-copy");
    std::process::exit(2);
}

fn explore<M>(name: &str, order: &str, model: M)
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync + 'static,
    M::Action: Clone + Debug + PartialEq,
{
    let began = Instant::now();
    let builder = model.checker().threads(1);
    match order {
        "bfs" => report(name, began, builder.spawn_bfs().join()),
        "dfs" => report(name, began, builder.spawn_dfs().join()),
        _ => usage(),
    }
}

fn report<M>(name: &str, began: Instant, checker: impl Checker<M>)
where
    M: Model,
    M::State: Clone + Debug + PartialEq,
    M::Action: Clone + Debug + PartialEq,
{
    let seconds = began.elapsed().as_secs_f64();
    checker.assert_properties();
    println!(
        "{{\"model\": \"{}\", \"states\": {}, \"generated\": {}, \"depth\": {}, \"seconds\": {:.3}}}",
        name,
        checker.unique_state_count(),
        checker.state_count(),
        checker.max_depth(),
        seconds
    );
}
