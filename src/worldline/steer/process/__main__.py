"""The process of a predictor, which a host starts: ``python -m`` this, and a socket."""

import sys

from worldline.steer.process.child import serve

if __name__ == "__main__":
    serve(int(sys.argv[1]))
