"""The collector: a server that takes reports, counts each once, keeps nothing else, and shows answers with error bars.

May import: lottery, domains, mechanisms, answers, tables.
Begin reading: study.py, store.py, server.py.
"""
