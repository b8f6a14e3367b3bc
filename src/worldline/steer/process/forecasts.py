"""Forecasts by a process of its own: what it does there, and how a host asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast, final, get_args

from worldline.model.errors import ModelError, Timeless, WorldlineError
from worldline.model.faults import Faults
from worldline.model.foreseen import Action
from worldline.model.system import System
from worldline.runs.predicted import faults_of, faults_record
from worldline.runs.schedule import schedule_of
from worldline.runs.start import Beginning
from worldline.runs.timeless import judging
from worldline.search.predicting.faults import predicted_system
from worldline.search.predicting.paths import KnownPath
from worldline.steer.process.answers import AnswerCodec, FoundFailure, PredictorAnswer
from worldline.steer.process.predictor import PredictorProcess
from worldline.steer.process.questions import PredictorQuestion, QuestionCodec
from worldline.steer.process.shapes import listed
from worldline.steer.process.works import AnswersQuestions
from worldline.steer.snapshots.assembling import absent_from, begun_from
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.steer.steering.findings import ForeseenFailure, Handed
from worldline.steer.steering.forecasting import Forecaster, SnapshotForecast
from worldline.steer.steering.handing import letter_of, path_of
from worldline.steer.steering.modes import SteeringMode, SteeringOptions
from worldline.steer.steering.reporting import trace_of
from worldline.trace.journal.messagepack import pack, unpack
from worldline.trace.json_checks import Malformed
from worldline.worlds.companions import Beside

WORK = "forecasts"
"""What the process is asked for."""


def forecasting(system: System, options: bytes) -> AnswersQuestions:
    """Return what answers questions about a system with forecasts."""
    chosen = options_of(system, options)
    if chosen.properties is not None:
        system = judging(system, chosen.properties)
    forecaster = Forecaster(system, chosen)
    questions, answers = QuestionCodec(system), _answers(system)
    judged = [prop.name for prop in system.properties]

    def found(question: PredictorQuestion) -> Iterator[SnapshotForecast]:
        if question.path is None:
            assert question.snapshot is not None
            yield from forecaster.forecasts(question.snapshot)
            return
        path = path_of(system, question.path)
        tried = forecaster.tried(question.node, path, question.snapshot)
        if tried is not None:
            yield tried

    def answer(data: bytes) -> Iterator[bytes]:
        nonlocal forecaster
        question, left_out = questions.decode(data), list[str]()
        while True:
            try:
                for forecast in found(question):
                    made = _answer(forecaster.onward, forecast)
                    yield answers.encode(made)
                break
            except Timeless as error:
                if error.prop not in judged:
                    raise
                judged.remove(error.prop)
                forecaster = Forecaster(judging(system, judged), chosen)
                left_out.append(f"{error.what}; it is left out from now on")
        if left_out:
            raise ModelError("; ".join(left_out))

    return answer


_MOST_PATHS = 8
"""Paths of other nodes that wait to be tried, at most; the newest stay."""


@final
class ProcessForecasts:
    """Forecasts for the nodes of a host, made by its predictor's process.

    Parameters
    ----------
    predictor
        The process, which does `WORK`.
    """

    def __init__(
        self,
        system: System,
        options: SteeringOptions,
        predictor: PredictorProcess,
    ) -> None:
        self._system, self._predictor = system, predictor
        self._onward = predicted_system(system, options.faults)
        self._questions, self._answers = QuestionCodec(system), _answers(system)
        self._handed = 0

    @property
    def onward(self) -> System:
        """The system with the faults that may happen in a prediction."""
        return self._onward

    def ask(
        self,
        beside: Beside,
        snapshot: NeighbourhoodSnapshot,
        answer: Callable[[SnapshotForecast], None],
    ) -> None:
        """Have predicted what may follow a snapshot."""
        question = PredictorQuestion(snapshot.node, snapshot)
        self._put(beside, beside.me, question, snapshot, answer)

    def hand(
        self,
        beside: Beside,
        path: KnownPath,
        snapshot: NeighbourhoodSnapshot | None,
        answer: Callable[[SnapshotForecast], None],
    ) -> None:
        """Have tried a path that another node has found."""
        letter = letter_of(path)
        if letter is not None:
            question = PredictorQuestion(
                self._system.index[beside.me], snapshot, letter
            )
            self._handed = (self._handed + 1) % _MOST_PATHS
            who = beside.me, self._handed
            self._put(beside, who, question, snapshot, answer)

    # ------------------------------------------------------------------------ inside

    def _put(
        self,
        beside: Beside,
        who: Any,
        question: PredictorQuestion,
        snapshot: NeighbourhoodSnapshot | None,
        answer: Callable[[SnapshotForecast], None],
    ) -> None:
        take = partial(self._take, beside, snapshot, answer)
        self._predictor.ask(who, self._questions.encode(question), take)

    def _take(
        self,
        beside: Beside,
        snapshot: NeighbourhoodSnapshot | None,
        answer: Callable[[SnapshotForecast], None],
        data: bytes,
    ) -> None:
        """Take a part of an answer, if the life that asked lasts."""
        if snapshot is None:
            return
        forecast = self._forecast(snapshot, self._answers.decode(data))
        beside.later(0.0, partial(answer, forecast))

    def _forecast(
        self, snapshot: NeighbourhoodSnapshot, told: PredictorAnswer
    ) -> SnapshotForecast:
        try:
            findings = [self._finding(snapshot, one) for one in told.failures]
            # Most have none, and to put a state together takes a while.
            begin = begun_from(self._system, snapshot) if findings else Beginning([])
        except WorldlineError as error:
            raise Malformed("", f"what is none of this system: {error}") from None
        absent = absent_from(self._system, snapshot)
        return SnapshotForecast(
            snapshot, begin, absent, tuple(findings), told.states, told.is_known
        )

    def _finding(
        self, snapshot: NeighbourhoodSnapshot, told: FoundFailure
    ) -> ForeseenFailure:
        *_, run = schedule_of(told.trace, self._onward)
        handed = None
        if told.handed is not None:
            to, letter = told.handed
            handed = Handed(to, path_of(self._system, letter))
        return ForeseenFailure(
            self._system.ids[snapshot.node],
            told.property,
            tuple(run),
            told.cost,
            cast("Action", told.action),  # as was checked
            told.filters,
            handed,
            told.trace,
        )


def spelt_options(options: SteeringOptions) -> bytes:
    """Return the bytes of what a process has to know of options."""
    faults = options.faults
    return pack(
        [
            options.mode.value,
            options.max_states,
            options.repeat_cost,
            _spelt_faults(faults) if isinstance(faults, Faults) else faults,
            options.filters,
            None if options.properties is None else list(options.properties),
        ]
    )


def _spelt_faults(faults: Faults) -> list[Any]:
    """Return faults as they come from Python: what a header has of them."""
    sides = faults.cuts
    cuts = None if sides is None else [[node.name for node in side] for side in sides]
    return [faults_record(faults), cuts]


def options_of(system: System, options: bytes) -> SteeringOptions:
    """Return the options of bytes, as far as a process has to know them.

    Raises
    ------
    Malformed
        If they are none.
    """
    mode, states, cost, faults, filters, properties = listed(
        unpack(options), str, int, int | None, str | list | None, bool, list | None
    )
    if isinstance(faults, list):
        record, cuts = listed(faults, dict, list | None)
        faults = faults_of(system, record, cuts)
    return SteeringOptions(
        mode=SteeringMode(mode),
        max_states=states,
        repeat_cost=cost,
        faults=faults,
        filters=filters,
        properties=properties,
    )


def _answers(system: System) -> AnswerCodec:
    return AnswerCodec(system, get_args(Action))


def _answer(onward: System, forecast: SnapshotForecast) -> PredictorAnswer:
    return PredictorAnswer(
        forecast.is_known,
        forecast.states,
        tuple(_failure(onward, forecast, one) for one in forecast.findings),
    )


def _failure(
    onward: System, forecast: SnapshotForecast, one: ForeseenFailure
) -> FoundFailure:
    handed = None
    if one.handed is not None:
        letter = letter_of(one.handed.path)
        handed = None if letter is None else (one.handed.to, letter)
    return FoundFailure(
        one.property,
        one.cost,
        one.action,
        one.filters,
        handed,
        trace_of(onward, forecast.begin, one, 0),
    )
