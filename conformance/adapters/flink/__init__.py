"""The real Flink as an implementation under test: the classes of a released jar, driven step by step.

`releases` lists what can be driven and with which profile it is compared; `fetch` gets the jar, `compile`
our Java side for it, `adapter` puts both behind the adapter protocol. Folder `java` has what all components
share, and the `gate`: Flink's barrier handlers at level `handler`, its whole input gate at level `polled`.
Folder `coordinator` has components `coordinator` and `store`, folder `channel` has component `channel`.
"""
