"""The process of a predictor, which a host starts: ``python -m`` this, and a socket."""

import sys

from worldline.steer.process.child import serve
from worldline.steer.process.forecasts import WORK, forecasting
from worldline.steer.process.works import Work

WORKS: dict[str, Work] = {WORK: forecasting}
"""What can be asked for, by name."""

if __name__ == "__main__":
    serve(int(sys.argv[1]), WORKS)
