"""Options of what steers nodes: the same in a simulation and on real sockets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from worldline.model.errors import UsageError
from worldline.options.declaring import Group, VerbOptions, option
from worldline.options.values import BitRate, Choice, NameList, Seconds, Text, Whole

if TYPE_CHECKING:
    from worldline.model.data.identity import NodeId
    from worldline.model.faults import Faults
    from worldline.model.system import System

_OF_PREDICTIONS = ("prediction_states", "prediction_faults", "predicting")
_OF_CHECKS = ("on_unseen",)
_OF_ANY = ("gather_every", "gather_bandwidth")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ModeOptions(VerbOptions):
    """Options of verbs whose nodes may see their next failures coming.

    Attributes
    ----------
    STEERING
        How they stand in a help.
    """

    STEERING: ClassVar[Group] = Group(
        "steering",
        "Nodes that see their next failures coming, from snapshots of each node and those "
        "around it: 'predict' reports them, 'check' refuses what makes a property false "
        "at once, 'steer' also refuses what was predicted to lead there. This protects "
        "safety only, and may cost progress; a neighbour that lies in its checkpoints can "
        "make a node refuse events for as long as a snapshot is good. So it is off unless "
        "it is asked for.",
        ("mode", *_OF_ANY, *_OF_PREDICTIONS, *_OF_CHECKS),
    )

    mode: Literal["off", "predict", "check", "steer"] = option(
        "off",
        "what is done about failures that are to come (default: off)",
        Choice("off", "predict", "check", "steer"),
    )
    gather_every: float = option(
        10.0,
        "seconds from one snapshot of a node to the next, where nothing changes (default: "
        "10)",
        Seconds(least=0.1),
    )
    gather_bandwidth: float | str = option(
        "10k",
        "bits a second that a node may spend on snapshots, as in 10k or 1Mbit (default: "
        "10k)",
        BitRate(),
    )
    prediction_states: int = option(
        3_000, "distinct states of each prediction (default: 3000)", Whole()
    )
    prediction_faults: Faults | str | None = option(
        None,
        "faults that may happen in a prediction; see 'worldline predict'",
        Text("declared|none|NAME=N,..."),
    )
    predicting: Collection[str] | None = option(
        None, "the nodes that predict, by name (default: all)", NameList(together=True)
    )
    on_unseen: Literal["allow", "refuse"] = option(
        "allow",
        "what is done with an event whose effect on a property is unknown, as too little "
        "is known of a neighbour (default: allow)",
        Choice("allow", "refuse"),
    )

    @property
    def predicts(self) -> bool:
        """Whether nodes gather snapshots and predict."""
        return self.mode in ("predict", "steer")

    def refuse_idle(self, predicting: tuple[str, ...] = ()) -> None:
        """Refuse what says nothing in the mode.

        Parameters
        ----------
        predicting
            Further options of predictions.

        Raises
        ------
        UsageError
            If something was given that does.
        """
        idle: tuple[str, ...] = ()
        if self.mode == "off":
            idle = (*_OF_ANY, *_OF_CHECKS)
        elif self.mode == "predict":
            idle = _OF_CHECKS
        if not self.predicts:
            idle += (*_OF_PREDICTIONS, *predicting)
        self.refuse_given(idle, f"has no meaning with mode {self.mode}")

    def who_predicts(self, system: System) -> tuple[NodeId, ...] | None:
        """Return the nodes that predict; None for all.

        Raises
        ------
        UsageError
            If one is none.
        """
        if self.predicting is None:
            return None
        by_name = {node.name: node for node in system.ids}
        for name in self.predicting:
            if name not in by_name:
                raise UsageError(
                    f"{name or repr(name)} is no node of {system.name}",
                    remedy=f"its nodes are {', '.join(by_name)}",
                )
        return tuple(by_name[name] for name in self.predicting)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HostModeOptions(ModeOptions):
    """Options of what runs on real sockets, where nothing else asks about properties."""

    STEERING: ClassVar[Group] = ModeOptions.STEERING._replace(
        names=(*ModeOptions.STEERING.names, "properties")
    )

    properties: Sequence[str] | None = option(
        None,
        "see the failures of this safety property coming, of no other (default: of all)",
        NameList(),
        flag="--property",
    )

    def refuse_idle(self, predicting: tuple[str, ...] = ()) -> None:
        super().refuse_idle(predicting)
        if self.mode == "off":
            self.refuse_given(("properties",), "has no meaning with mode off")
