import pytest
import sqlparse


@pytest.mark.parametrize(
    "line",
    ["CREATE TABLE IF NOT EXISTS log (id int);", "CREATE VIEW if not  exists v AS SELECT 1;"],
    ids=["table", "view"],
)
def test_create_if_not_exists_does_not_hold_a_block_open(line):
    sql = f"CREATE TASK nightly AS BEGIN {line} END; EXECUTE TASK nightly;"
    assert len(sqlparse.split(sql)) == 2
