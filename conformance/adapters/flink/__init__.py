"""The real Flink as an implementation under test: the classes of a released jar, driven step by step.

`releases` lists the releases, with the profiles of the model that they are compared with; `fetch` gets the
jar, `compile` our Java side for it, `adapter` puts both behind the adapter protocol. Folder `java` has what
all components share, and the `gate`: Flink's barrier handlers at level `handler`, its whole input gate at
level `polled`. Folder `coordinator` has components `coordinator` and `store`, folder `channel` has component
`channel`.
"""
