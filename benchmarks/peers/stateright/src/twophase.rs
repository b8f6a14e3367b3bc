//! Two-phase commit over a set of messages that only grows: `zoo:twophase`.
//!
//! J. Gray and L. Lamport, "Consensus on Transaction Commit", ACM TODS 31(1), 2006,
//! section 3. Sets of managers are bits of a word, so that a state costs the checker
//! little to copy and to hash.

use stateright::{Model, Property};

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Status {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct State {
    coordinator: Status,
    managers: Vec<Status>,
    /// The managers that the coordinator knows to be prepared.
    noted: u32,
    /// The managers that have said so.
    prepared_sent: u32,
    commit_sent: bool,
    abort_sent: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Action {
    Note(usize),
    Commit,
    Abort,
    Prepare(usize),
    ChooseToAbort(usize),
    ObeyCommit(usize),
    ObeyAbort(usize),
}

pub struct TwoPhase {
    managers: usize,
}

impl TwoPhase {
    pub fn new(managers: usize) -> Self {
        assert!((1..32).contains(&managers), "between 1 and 31 managers");
        Self { managers }
    }
}

impl State {
    fn everyone(&self) -> impl Iterator<Item = Status> + '_ {
        self.managers.iter().copied().chain([self.coordinator])
    }
}

impl Model for TwoPhase {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            coordinator: Status::Working,
            managers: vec![Status::Working; self.managers],
            noted: 0,
            prepared_sent: 0,
            commit_sent: false,
            abort_sent: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let undecided = state.coordinator == Status::Working;
        if undecided {
            if state.noted == (1 << self.managers) - 1 {
                actions.push(Action::Commit);
            }
            actions.push(Action::Abort);
        }
        for manager in 0..self.managers {
            if undecided && state.prepared_sent & (1 << manager) != 0 {
                actions.push(Action::Note(manager));
            }
            if state.managers[manager] == Status::Working {
                actions.push(Action::Prepare(manager));
                actions.push(Action::ChooseToAbort(manager));
            }
            if state.commit_sent {
                actions.push(Action::ObeyCommit(manager));
            }
            if state.abort_sent {
                actions.push(Action::ObeyAbort(manager));
            }
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::Note(manager) => next.noted |= 1 << manager,
            Action::Commit => {
                next.coordinator = Status::Committed;
                next.commit_sent = true;
            }
            Action::Abort => {
                next.coordinator = Status::Aborted;
                next.abort_sent = true;
            }
            Action::Prepare(manager) => {
                next.managers[manager] = Status::Prepared;
                next.prepared_sent |= 1 << manager;
            }
            Action::ChooseToAbort(manager) | Action::ObeyAbort(manager) => {
                next.managers[manager] = Status::Aborted;
            }
            Action::ObeyCommit(manager) => next.managers[manager] = Status::Committed,
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("consistency", |_, state: &State| {
                !(state.everyone().any(|status| status == Status::Committed)
                    && state.everyone().any(|status| status == Status::Aborted))
            }),
            Property::sometimes("all commit", |_, state: &State| {
                state.everyone().all(|status| status == Status::Committed)
            }),
            Property::sometimes("all abort", |_, state: &State| {
                state.everyone().all(|status| status == Status::Aborted)
            }),
        ]
    }
}
