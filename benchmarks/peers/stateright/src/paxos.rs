//! Single-decree Paxos that serves a register to clients: `zoo:paxos-clients`.
//!
//! L. Lamport, "Paxos Made Simple", ACM SIGACT News 32(4), 2001, section 2. A server is
//! proposer, acceptor and learner in one; its messages to itself are implied.

use crate::registers::{deployment, System};
use stateright::actor::register::RegisterMsg;
use stateright::actor::{majority, model_peers, Actor, Id, Out};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// A round and the server that leads it.
type Ballot = (u32, Id);

/// A client's write: its request, the client, the value.
type Proposal = (u64, Id, char);

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Vote {
    ballot: Ballot,
    proposal: Proposal,
}

#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Message {
    Prepare(Ballot),
    Prepared(Ballot, Option<Vote>),
    Accept(Vote),
    Accepted(Ballot),
    Decided(Vote),
}

type Msg = RegisterMsg<u64, char, Message>;

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct State {
    ballot: Ballot,
    proposal: Option<Proposal>,
    prepares: BTreeMap<Id, Option<Vote>>,
    accepts: BTreeSet<Id>,
    accepted: Option<Vote>,
    is_decided: bool,
}

#[derive(Clone)]
pub struct Server {
    peers: Vec<Id>,
}

impl Server {
    fn majority(&self) -> usize {
        majority(self.peers.len() + 1)
    }

    fn broadcast(&self, message: Message, out: &mut Out<Self>) {
        out.broadcast(&self.peers, &RegisterMsg::Internal(message));
    }

    fn propose(&self, me: Id, state: &mut State, proposal: Proposal, out: &mut Out<Self>) {
        state.proposal = Some(proposal);
        state.ballot = (state.ballot.0 + 1, me);
        state.prepares = BTreeMap::from([(me, state.accepted)]);
        state.accepts = BTreeSet::new();
        self.broadcast(Message::Prepare(state.ballot), out);
    }

    fn on_prepared(
        &self,
        me: Id,
        state: &mut State,
        src: Id,
        last: Option<Vote>,
        out: &mut Out<Self>,
    ) {
        state.prepares.insert(src, last);
        if state.prepares.len() != self.majority() {
            return;
        }
        if let Some(vote) = state.prepares.values().flatten().max() {
            state.proposal = Some(vote.proposal);
        }
        let proposal = state.proposal.expect("a leader has a proposal");
        let vote = Vote {
            ballot: state.ballot,
            proposal,
        };
        state.accepted = Some(vote);
        state.accepts.insert(me);
        self.broadcast(Message::Accept(vote), out);
    }

    fn on_accepted(&self, state: &mut State, src: Id, out: &mut Out<Self>) {
        state.accepts.insert(src);
        if state.accepts.len() != self.majority() {
            return;
        }
        let proposal = state.proposal.expect("a leader has a proposal");
        state.is_decided = true;
        let ballot = state.ballot;
        self.broadcast(Message::Decided(Vote { ballot, proposal }), out);
        out.send(proposal.1, RegisterMsg::PutOk(proposal.0));
    }
}

impl Actor for Server {
    type Msg = Msg;
    type State = State;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, _: &mut Out<Self>) -> State {
        State {
            ballot: (0, Id::from(0)),
            proposal: None,
            prepares: BTreeMap::new(),
            accepts: BTreeSet::new(),
            accepted: None,
            is_decided: false,
        }
    }

    // The state is borrowed for writing only where a message is wanted: the checker takes
    // a delivery that neither writes nor sends for none.
    fn on_msg(&self, me: Id, state: &mut Cow<State>, src: Id, msg: Msg, out: &mut Out<Self>) {
        use Message::{Accept, Accepted, Decided, Prepare, Prepared};
        use RegisterMsg::{Get, GetOk, Internal, Put};
        if state.is_decided {
            if let (Get(request), Some(vote)) = (msg, state.accepted) {
                out.send(src, GetOk(request, vote.proposal.2));
            }
            return;
        }
        match msg {
            Put(request, value) if state.proposal.is_none() => {
                self.propose(me, state.to_mut(), (request, src, value), out);
            }
            Internal(Prepare(ballot)) if state.ballot < ballot => {
                state.to_mut().ballot = ballot;
                out.send(src, Internal(Prepared(ballot, state.accepted)));
            }
            Internal(Prepared(ballot, last)) if state.ballot == ballot => {
                self.on_prepared(me, state.to_mut(), src, last, out);
            }
            Internal(Accept(vote)) if state.ballot <= vote.ballot => {
                let state = state.to_mut();
                state.ballot = vote.ballot;
                state.accepted = Some(vote);
                out.send(src, Internal(Accepted(vote.ballot)));
            }
            Internal(Accepted(ballot)) if state.ballot == ballot => {
                self.on_accepted(state.to_mut(), src, out);
            }
            Internal(Decided(vote)) => {
                let state = state.to_mut();
                state.ballot = vote.ballot;
                state.accepted = Some(vote);
                state.is_decided = true;
            }
            _ => {}
        }
    }
}

/// Returns clients of three servers.
pub fn system(clients: usize) -> System<Server> {
    let servers = (0..3).map(|position| Server {
        peers: model_peers(position, 3),
    });
    deployment(servers.collect(), clients)
}
