"""Adapters that violate the frame format, to test the harness. The command line names one of them.

- crash, hang, wrong-seq, swapped, malformed, oversized, short, chatty: the defect of the answer to `apply`.
- deaf: answers no request.
- slow: right, after a long computation.
- unsupported: answers every `new` with a skip.
- lacking: answers every event with a skip.
- noisy: fills stderr before it crashes.

All offer a component `store` that is always empty.
"""

import json
import sys

HOW = sys.argv[1]


def send(frame):
    sys.stdout.write(json.dumps(frame) + "\n")
    sys.stdout.flush()


def wait_for_ever():
    while sys.stdin.readline():
        pass
    sys.exit(0)


def misbehave(request):
    seq = request["seq"]
    right = {"seq": seq, "effects": [[{"kind": "latest", "checkpoint": None}]], "state": {"completed": []}}
    if HOW == "crash":
        sys.stderr.write("the engine has run hot\n")
        sys.exit(3)
    elif HOW == "noisy":
        sys.stderr.write("chatter\n" * 100_000 + "the last word\n")
        sys.exit(4)
    elif HOW == "hang":
        sys.stderr.write("waiting for a lock\n")
        sys.stderr.flush()
        wait_for_ever()
    elif HOW == "wrong-seq":
        send({**right, "seq": seq - 1})
    elif HOW == "swapped":
        send({**right, "seq": seq + 1})
        send(right)
    elif HOW == "malformed":
        sys.stdout.write('{"seq": ' + str(seq) + ', "effects": [[\n')
        sys.stdout.flush()
    elif HOW == "oversized":
        sys.stdout.write('{"seq": 0, "padding": "' + "x" * 1_000_000)
        sys.stdout.flush()
        wait_for_ever()
    elif HOW == "short":
        send({**right, "effects": []})
    elif HOW == "chatty":
        sys.stdout.write("INFO starting up\n")
        send(right)
    elif HOW == "lacking":
        send({"seq": seq, "unsupported": "this event"})
    elif HOW == "slow":
        sum(range(3_000_000))
        send(right)


def main():
    if HOW == "deaf":
        wait_for_ever()
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        if request["op"] == "hello":
            offer = {"modes": [], "profiles": ["2.3"], "capabilities": []}
            named = {"implementation": HOW, "version": "0.1", "language": "python"}
            send({"seq": request["seq"], "protocol": 1, **named, "components": {"store": offer}})
        elif request["op"] == "apply":
            misbehave(request)
        elif request["op"] == "new" and HOW == "unsupported":
            send({"seq": request["seq"], "unsupported": "no instance of anything"})
        else:
            send({"seq": request["seq"], "ok": True})
            if request["op"] == "bye":
                return


if __name__ == "__main__":
    main()
