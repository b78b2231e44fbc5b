import sqlparse


def test_drop_if_exists_does_not_hold_a_block_open():
    sql = """CREATE TASK nightly AS
BEGIN
    CREATE OR REPLACE TABLE staging;
    DROP TABLE IF EXISTS staging;
END;
EXECUTE TASK nightly;"""
    statements = sqlparse.split(sql)
    assert len(statements) == 2
    assert statements[1] == "EXECUTE TASK nightly;"
