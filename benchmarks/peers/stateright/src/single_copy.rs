//! A register that one server keeps: `zoo:single-copy`.

use crate::registers::{deployment, System, UNWRITTEN};
use stateright::actor::register::RegisterMsg;
use stateright::actor::{Actor, Id, Out};
use std::borrow::Cow;

#[derive(Clone)]
pub struct Server;

impl Actor for Server {
    type Msg = RegisterMsg<u64, char, ()>;
    type State = char;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, _: &mut Out<Self>) -> char {
        UNWRITTEN
    }

    fn on_msg(&self, _: Id, kept: &mut Cow<char>, src: Id, msg: Self::Msg, out: &mut Out<Self>) {
        match msg {
            RegisterMsg::Put(request, value) => {
                *kept.to_mut() = value;
                out.send(src, RegisterMsg::PutOk(request));
            }
            RegisterMsg::Get(request) => out.send(src, RegisterMsg::GetOk(request, **kept)),
            _ => {}
        }
    }
}

/// Returns clients of one server.
pub fn system(clients: usize) -> System<Server> {
    deployment(vec![Server], clients)
}
