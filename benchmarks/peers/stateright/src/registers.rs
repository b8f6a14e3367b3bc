//! Clients of a register and what they may see: shared by the registers of the zoo.
//!
//! The clients are Stateright's own: each writes a value, then reads at the next server.

use stateright::actor::register::{RegisterActor, RegisterMsg};
use stateright::actor::{Actor, ActorModel, Id, Network};
use stateright::semantics::register::Register;
use stateright::semantics::{ConsistencyTester, LinearizabilityTester};
use stateright::Expectation;
use std::fmt::Debug;
use std::hash::Hash;

/// What a register holds before it is written.
pub const UNWRITTEN: char = '\0';

pub type History = LinearizabilityTester<Id, Register<char>>;
pub type System<S> = ActorModel<RegisterActor<S>, (), History>;

/// Returns clients of servers, on a network that reorders and neither loses nor repeats.
pub fn deployment<S, M>(servers: Vec<S>, clients: usize) -> System<S>
where
    S: Actor<Msg = RegisterMsg<u64, char, M>>,
    S::Timer: Ord,
    M: Clone + Debug + Eq + Hash + Ord,
{
    let server_count = servers.len();
    ActorModel::new((), History::new(Register(UNWRITTEN)))
        .actors(servers.into_iter().map(RegisterActor::Server))
        .actors((0..clients).map(|_| RegisterActor::Client {
            put_count: 1,
            server_count,
        }))
        .init_network(Network::new_unordered_nonduplicating([]))
        .property(Expectation::Always, "linearizable", |_, state| {
            state.history.is_consistent()
        })
        .property(Expectation::Sometimes, "a value is read", |_, state| {
            state.network.iter_deliverable().any(|envelope| {
                matches!(envelope.msg, RegisterMsg::GetOk(_, value) if *value != UNWRITTEN)
            })
        })
        .record_msg_in(RegisterMsg::record_returns)
        .record_msg_out(RegisterMsg::record_invocations)
}
