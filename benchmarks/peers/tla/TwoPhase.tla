------------------------------ MODULE TwoPhase ------------------------------
(***************************************************************************)
(* Two-phase commit over a set of messages that only grows: zoo:twophase.  *)
(*                                                                         *)
(* J. Gray and L. Lamport, "Consensus on Transaction Commit", ACM TODS     *)
(* 31(1), 2006, section 3.                                                 *)
(***************************************************************************)
CONSTANT Managers

VARIABLES
    coordinator, \* what the coordinator has decided, or "working"
    status,      \* what each manager knows of the transaction
    noted,       \* the managers that the coordinator knows to be prepared
    sent         \* every message ever sent

vars == <<coordinator, status, noted, sent>>

Statuses == {"working", "prepared", "committed", "aborted"}

PreparedBy(m) == [kind |-> "prepared", from |-> m]
CommitAll == [kind |-> "commit"]
AbortAll == [kind |-> "abort"]

TypeOK ==
    /\ coordinator \in Statuses \ {"prepared"}
    /\ status \in [Managers -> Statuses]
    /\ noted \subseteq Managers
    /\ sent \subseteq {PreparedBy(m) : m \in Managers} \cup {CommitAll, AbortAll}

Init ==
    /\ coordinator = "working"
    /\ status = [m \in Managers |-> "working"]
    /\ noted = {}
    /\ sent = {}

-----------------------------------------------------------------------------

Note(m) ==
    /\ coordinator = "working"
    /\ PreparedBy(m) \in sent
    /\ noted' = noted \cup {m}
    /\ UNCHANGED <<coordinator, status, sent>>

Commit ==
    /\ coordinator = "working"
    /\ noted = Managers
    /\ coordinator' = "committed"
    /\ sent' = sent \cup {CommitAll}
    /\ UNCHANGED <<status, noted>>

Abort ==
    /\ coordinator = "working"
    /\ coordinator' = "aborted"
    /\ sent' = sent \cup {AbortAll}
    /\ UNCHANGED <<status, noted>>

Prepare(m) ==
    /\ status[m] = "working"
    /\ status' = [status EXCEPT ![m] = "prepared"]
    /\ sent' = sent \cup {PreparedBy(m)}
    /\ UNCHANGED <<coordinator, noted>>

ChooseToAbort(m) ==
    /\ status[m] = "working"
    /\ status' = [status EXCEPT ![m] = "aborted"]
    /\ UNCHANGED <<coordinator, noted, sent>>

Obey(m, order, outcome) ==
    /\ order \in sent
    /\ status' = [status EXCEPT ![m] = outcome]
    /\ UNCHANGED <<coordinator, noted, sent>>

Next ==
    \/ Commit
    \/ Abort
    \/ \E m \in Managers :
        \/ Note(m)
        \/ Prepare(m)
        \/ ChooseToAbort(m)
        \/ Obey(m, CommitAll, "committed")
        \/ Obey(m, AbortAll, "aborted")

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------

Consistency ==
    LET everyone == {status[m] : m \in Managers} \cup {coordinator}
    IN  ~ {"committed", "aborted"} \subseteq everyone
=============================================================================
