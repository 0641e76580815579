"""What tests do that set limits in seconds, on a machine whose cores others use, too."""
import time


def again_if_busy(attempt, run, usual):
    """attempt(1.0). If an assertion fails in it, and run(), which takes `usual` seconds on two idle
    cores, takes n > 1.2 times as long, the limits of that attempt said nothing: attempt(n) decides,
    whose limits are n times as long. n is 20 at most."""
    try:
        return attempt(1.0)
    except AssertionError as error:
        begin = time.time()
        run()
        n = min(20.0, (time.time() - begin) / usual)
        if n <= 1.2:
            raise
        print(f"again, with {n:.1f} times the patience: {error}")
    return attempt(n)
