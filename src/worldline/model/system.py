"""The system under test: nodes, network, workload, faults and properties."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from worldline.model.arguments import listed
from worldline.model.calls import repeated_by_node, scripts_by_node
from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.declared import Boot, Declared, Unhandled
from worldline.model.errors import ModelError
from worldline.model.faults import FaultBudget, Faults, Partition, all_cuts
from worldline.model.gauges import Gauge
from worldline.model.mail_readers import read_messages
from worldline.model.network import Capability, Mailbox, Network, datagrams, permits
from worldline.model.node import node_type
from worldline.model.observers import Observer, Record
from worldline.model.prediction import refuse_other_cuts, usual_faults
from worldline.model.prologue import Pattern
from worldline.model.properties import Property, predicate_of
from worldline.model.semantics.hidden import Hidden
from worldline.model.semantics.layout import ColumnKind, Layout
from worldline.model.symmetry.symmetric import Symmetric, check_symmetry, groups_of
from worldline.model.validate import (
    check_faults,
    check_name,
    check_network,
    check_nodes,
    validate,
)
from worldline.model.view import View
from worldline.model.workload import Script, Whenever

Cell: TypeAlias = Hidden | Mailbox | FaultBudget | Partition | Record

INJECTED = ("drops", "connection_errors", "crashes", "restarts")
"""The faults that can be injected, by their names in `Faults`."""

DEPLOYED = "whatever happened to a deployed system"
"""The scope of the faults of a recorded run, in words."""

DEPLOYED_FAULTS = ("drops", "duplicates", "connection_errors", "crashes", "restarts")
"""Those faults, by their names in `Faults`."""

_LEAVE_RUNS_ALONE = frozenset(
    {"name", "assume", "prune", "done", "symmetry", "predict", "properties"}
)
"""Arguments on which no run depends; nor, if no property is added, what is said at its end."""


@final
@dataclass(frozen=True, slots=True)
class SystemOrigin:
    """The place that a system was loaded from, so that a trace can name it.

    Attributes
    ----------
    target
        ``zoo:NAME``, ``FILE.py[:function]`` or ``package.module:function``.
    parameters
        What was passed to the function, as text.
    source
        A hash of the source text of the system's modules.
    """

    target: str
    parameters: tuple[tuple[str, str], ...]
    source: str


@final
class System(Declared):
    """A distributed system and the question asked about it.

    Parameters
    ----------
    nodes
        The node of each id, in order; its values are what a reset returns to.
    network
        `datagrams`, `streams` or `message_set`; or `networks`, for several at once.
    workload
        `script` and `whenever` entries.
    faults
        How often each fault may happen; none by default.
    predict
        How often each may happen from the state on in which `predict` begins; once each
        by default, as far as the network has them: a reset, a silent one that one peer
        misses, a connection that breaks, a message that is lost.
    properties, observers
        What is checked, and the histories that properties may read.
    gauges
        What `simulate` and `replay` carry along a run beside its states, for properties
        and confidences to read; folded in this order.
    unhandled
        What becomes of a message whose guard is false: ``drop`` consumes it, ``wait``
        leaves it in flight, ``error`` is a violation. ``drop`` by default, ``wait``
        for a message set.
    boot
        ``before``: every node has started in state 0. ``events``: starting is an
        event of its own.
    timed
        Whether a timer waits for those that its node set earlier with a delay not
        longer than its own. Delays of two different nodes are not compared: of two
        timers at two nodes either may fire first, whatever their delays.
    ignore_noops
        Whether a delivery that changes nothing and sends nothing is no transition;
        the message stays. For unordered networks.
    open_workload
        Whether any other call of a node can be made, too, with arguments that come from
        outside: by a driver of the system, step by step. A search makes the calls of
        the workload alone, and refuses a system that has none.
    symmetry
        Groups of nodes that are alike, each made by `symmetric` or given as ids.
    prologue
        A legal schedule that is run before the search; see `worldline.events`.
    done
        When no event is left, whether that is as it should be; by default, when
        every script is finished and nothing is in flight, but to nodes that are
        down for good.
    assume, prune
        Predicates of a view, for `check`, `predict` and random runs that judge safety: what
        follows a state is left out if `assume` is false there, or `prune` true. HOLDS
        says what was assumed; where something was pruned, the verdict is UNKNOWN. No
        trace or replay depends on them, nor do walks for liveness.
    name
        For reports and file names.

    Attributes
    ----------
    predicates
        The file that some of its properties and gauges are from, if one added any.
    injected
        Which faults are injected, in words; None where `faults` says what may happen.
    free_faults
        Their names in `Faults`, where they are injected.
    is_predicted
        Whether `faults` are those of a prediction.
    contents, plain
        Other arguments of some calls than were declared, and the system without them;
        see `worldline.model.contents`. None has any unless it is given them.
    deviation
        Of a system under recording, the step of the run with which the declared network
        no longer allowed it, why, and whether that is sure; None if it allowed all.
    unseen
        Of a system under recording of which journals are missing, the steps of the run
        after which nothing is known of nodes, by name, None for never; and whether
        histories lack events. None if nothing is missing.
    loses_when_down
        Whether something that arrives at a node that is down may be lost.
    stuck
        For the worlds to remember what did not return.
    """

    injected: str | None = None
    free_faults: tuple[str, ...] = ()
    is_predicted = False
    predicates: str | None = None
    deviation: tuple[int, str, bool] | None = None
    unseen: tuple[Mapping[str, int | None], bool] | None = None

    def __init__(
        self,
        nodes: Mapping[NodeId, Any],
        *,
        network: Network | None = None,
        workload: Iterable[Script | Whenever] = (),
        faults: Faults | None = None,
        predict: Faults | None = None,
        properties: Sequence[Property] = (),
        observers: Sequence[Observer] = (),
        gauges: Sequence[Gauge] = (),
        unhandled: Unhandled | None = None,
        boot: Boot = "before",
        timed: bool = False,
        ignore_noops: bool = False,
        open_workload: bool = False,
        symmetry: Iterable[Symmetric | Iterable[NodeId]] = (),
        prologue: Sequence[Pattern] = (),
        done: Callable[[View], bool] | None = None,
        assume: Callable[[View], bool] | None = None,
        prune: Callable[[View], bool] | None = None,
        name: str = "system",
    ) -> None:
        check_nodes(nodes)
        check_name(name)
        self.name = name
        self.nodes = dict(nodes)
        self.ids = tuple(self.nodes)
        self.index = {node: position for position, node in enumerate(self.ids)}
        self.types = [node_type(type(n)) for n in self.nodes.values()]
        self.network = datagrams() if network is None else network
        check_network(self.network)
        self.workload = listed("System(workload=...)", workload)
        self.faults = Faults() if faults is None else faults
        self.predict = predict
        self.properties = listed("System(properties=...)", properties)
        self.observers = listed("System(observers=...)", observers)
        self.gauges = listed("System(gauges=...)", gauges)
        holds = Capability.HOLDS_FOR_EVER in self.network.capabilities
        self._unhandled = unhandled
        self.unhandled = unhandled or ("wait" if holds else "drop")
        self.boot = boot
        self.timed = timed
        self.ignore_noops = ignore_noops
        self.open_workload = open_workload
        self.prologue = listed("System(prologue=...)", prologue)
        self.done = done
        self.assume = None if assume is None else predicate_of(assume)
        self.prune = None if prune is None else predicate_of(prune)
        self.origin: SystemOrigin | None = None
        self.contents: tuple[Any, ...] = ()
        self.plain: System | None = None
        self.stuck: dict[Any, Any] = {}
        self.layout = Layout(len(self.ids), len(self.observers))
        self.scripts = scripts_by_node(self.workload, self.index)
        self.whenevers = repeated_by_node(self.workload, self.index, self.types)
        validate(self)
        self._derive()
        self.symmetry = groups_of(listed("System(symmetry=...)", symmetry), self.index)
        check_symmetry(self)

    def _derive(self) -> None:
        """Work out what follows from the arguments."""
        able = self.network.capabilities
        self.loses_when_down = Capability.LOST_WHEN_DOWN in able
        self.prototypes = [self.nodes[node] for node in self.ids]
        shared: dict[Frozen, Frozen] = {}
        self.initial: list[Frozen] = [
            shared.setdefault(frozen, frozen)
            for frozen in (
                kind.freeze(prototype)
                for kind, prototype in zip(self.types, self.prototypes, strict=True)
            )
        ]
        may_split = self.faults.partitions != 0 or self.faults.cuts is not None
        self.cuts = all_cuts(self.ids, self.faults.cuts) if may_split else ()

    @functools.cached_property
    def shows_mail(self) -> bool:
        """Whether anybody who is asked of states can tell what a node that is gone loses."""
        asked = [known.predicate for known in self.properties]
        asked += filter(None, (self.done, self.assume, self.prune))
        return bool(self.observers) or read_messages(asked, self.types)

    def replace(self, **changes: Any) -> System:
        """Return this system with other arguments, all checked anew.

        Parameters
        ----------
        changes
            Arguments of `System`, by name.

        Raises
        ------
        ModelError
            If there is no such argument, or the pieces do not fit together.

        Notes
        -----
        The origin says what a trace is replayed with. So it is kept only where that
        replays these runs, too: if nothing is changed but `name`, `assume`, `prune`,
        `done` or `symmetry`, or `properties` to some of those that there were. Any
        other has none, and its traces name no target. To have one, write a function
        that returns the changed system, and give that to `check`.
        """
        for name in changes.keys() - _ARGUMENTS.keys():
            raise ModelError(
                f"System.replace({name}=...): a system has no argument {name!r}",
                remedy=f"its arguments are {', '.join(_ARGUMENTS)}",
            )
        given = {name: getattr(self, name) for name in _ARGUMENTS}
        given["unhandled"] = self._unhandled
        changed = System(**{**given, **changes})
        fewer = all(p in self.properties for p in changed.properties)
        # Who looks at messages adds the loss of some to the runs.
        leaves = self.shows_mail or not changed.shows_mail
        if fewer and leaves and changes.keys() <= _LEAVE_RUNS_ALONE:
            changed.origin, changed.predicates = self.origin, self.predicates
            changed.shows_mail = self.shows_mail
        changed.is_predicted = self.is_predicted and "faults" not in changes
        if changes.keys().isdisjoint(("nodes", "faults")):
            # A run may begin in a cut that its faults cannot make.
            changed.cuts = self.cuts
        if self.plain is not None and "workload" not in changes:
            changed.contents = self.contents
            changed.plain = self.plain.replace(**changes)
        if self.injected is None:
            return changed
        return changed.under_injection(self.injected, self.free_faults)

    def under_injection(self, scope: str, faults: tuple[str, ...] = INJECTED) -> System:
        """Return this system with its faults decided by an injector.

        By default messages may be lost, connections break, nodes crash and start again
        as often as they are told to, as far as the network has such faults; but no node
        crashes that `faults` spares.

        Parameters
        ----------
        scope
            Which faults are injected, in words; traces tell it.
        faults
            Those that may happen without limit, by their names in `Faults`.
        """
        free = [f for f in faults if permits(self.network, f)]
        changed = copy.copy(self)
        changed.free_faults = tuple(free)
        if "partitions" in free:
            changed.cuts = all_cuts(self.ids, self.faults.cuts)
        changed.faults = self.faults.freed(free)
        changed.injected = scope
        return changed

    def under_prediction(self, faults: Faults | None = None, down: int = 0) -> System:
        """Return this system with the faults that may happen in a prediction.

        Parameters
        ----------
        faults
            Which these are; what `predict` says by default.
        down
            How many nodes are down where it begins; the usual faults let them restart.

        Raises
        ------
        ModelError
            If they cannot happen on the network, or name what the system has not.
        """
        given = self.predict if faults is None else faults
        changed = copy.copy(self)
        changed.faults = usual_faults(self, down) if given is None else given
        check_faults(changed, changed.faults)
        refuse_other_cuts(self, changed.faults)
        if changed.faults.partitions != 0 and not self.cuts:
            changed.cuts = all_cuts(self.ids, changed.faults.cuts)
        changed.is_predicted = True
        return changed

    def under_recording(self, network: Network | None = None) -> System:
        """Return this system as a run on real sockets had it.

        Calls came from outside, any node was killed, and faults happened as they did.

        Parameters
        ----------
        network
            What is to take the place of the declared one: `recorded`, on which every
            delivery is an event and timers are as late as they were.
        """
        changed = copy.copy(self)
        if network is not None:
            changed.network = network
            changed.ignore_noops = changed.timed = False
            changed.loses_when_down = True
        changed = changed.under_injection(DEPLOYED, DEPLOYED_FAULTS)
        changed.faults = dataclasses.replace(changed.faults, nodes=None)
        changed.open_workload = True
        return changed

    def cell(self, column: int) -> Cell:
        """Return a fresh cell for a column that is not local, in its initial state."""
        spec = self.layout.columns[column]
        if spec.kind is ColumnKind.BUDGET:
            return FaultBudget(self.faults)
        if spec.kind is ColumnKind.PARTITION:
            return Partition(self.cuts)
        if spec.kind is ColumnKind.OBSERVER:
            return Record(self.observers[spec.index])
        if spec.kind is ColumnKind.HIDDEN:
            return self._hidden(spec.index)
        return self._mailbox(spec.index)

    def cells_around(self) -> list[Cell]:
        """Return fresh cells for the columns before those of the nodes."""
        records = map(Record, self.observers)
        return [FaultBudget(self.faults), Partition(self.cuts), *records]

    def cells(self) -> list[Cell | None]:
        """Return fresh cells for all columns; None in the place of local ones."""
        cells: list[Cell | None] = [*self.cells_around()]
        for index in range(len(self.ids)):
            cells += (None, self._hidden(index), self._mailbox(index))
        return cells

    def _hidden(self, index: int) -> Hidden:
        return Hidden(self.ids[index], self.scripts[index], timed=self.timed)

    def _mailbox(self, index: int) -> Mailbox:
        return self.network.mailbox(self.ids[index], self.ids)


_ARGUMENTS = dict.fromkeys(tuple(inspect.signature(System).parameters))
"""The names of the constructor's arguments, in order."""
