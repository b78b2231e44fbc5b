import sqlparse


def test_if_exists_of_other_objects_does_not_hold_a_block_open():
    sql = "CREATE PROCEDURE p() BEGIN DROP VIEW IF EXISTS v; END; SELECT 1;"
    assert sqlparse.split(sql) == [
        "CREATE PROCEDURE p() BEGIN DROP VIEW IF EXISTS v; END;",
        "SELECT 1;",
    ]
