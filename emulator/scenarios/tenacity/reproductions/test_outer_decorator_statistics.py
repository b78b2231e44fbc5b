import functools

import tenacity


def passes_through(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def test_statistics_of_a_decorated_retry_function():
    calls = []

    @passes_through
    @tenacity.retry(stop=tenacity.stop_after_attempt(3))
    def third_time_lucky():
        calls.append(1)
        if len(calls) < 3:
            raise OSError("not yet")
        return "done"

    assert third_time_lucky() == "done"
    assert third_time_lucky.statistics.get("attempt_number") == 3
