"""A standalone Spark cluster: a master, its workers, and drivers whose jobs they run.

The two systems of Spark share it: ``spark_scheduler`` looks at how a driver hands out
tasks, ``spark_master`` at what the master makes of failures. All nodes are actors;
between two of them messages stay in order, and none is lost but at a node that is down.
"""
