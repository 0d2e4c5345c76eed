"""The real Flink as an implementation under test: the classes of a released jar, driven step by step.

`releases` lists the releases and the profile of the model for each; `fetch` downloads the jar of a release,
`compile` compiles our Java program for it, and `adapter` runs both as an adapter. The Java program has one
folder for each component; folder `java` has the parts that all components share. Component `gate` is Flink's
barrier handler at level `handler`, and its whole input gate at level `polled`.
"""
