"""Schedulers: which of the enabled events happens next on a random walk.

One file each. A scheduler has the three methods of `protocol.Scheduler`:

``begin(draw, most_steps)``
    A walk begins. `draw` returns 64-bit random words, the same for the same walk.
``appeared(offer)``
    An event can happen now that could not before the last step, or that happened in it
    and can again. What a scheduler has to remember of it goes into the offer.
``choose(offers, step, word)``
    Return one of the offers, which are in canonical order; `word` is a random word.

To add one, write a class with these methods, a `name`, and whether it `remembers`, and
give an object of it to `worldline.walk` or `worldline.fuzz` as ``scheduler=``. It is then asked at every step by the reference loop, over tables and in
the direct world. It may look at what `Traits` say of an event, and at nothing else; its
random numbers come from `draw` and `word` alone, so that a seed gives the same walks on
any machine. One of this package has a twin in ``engine/native/kernel/schedulers.hpp`` as
well, which its `native` names, for the speed of the compiled kernel; a test compares the
two step by step.
"""
