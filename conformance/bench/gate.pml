/* Each event that the environment allows, of each channel and id, is one option of one loop and one `d_step`.
   So SPIN stores a state only between events, and its states are those of `AlignedModel.tla`: the gate, the
   ids that each channel has delivered, and the event with its effects in order (`kind` and `about`, zero
   after the last). The newest gate: an ended channel counts as aligned, every event is possible at each step. */
/* One input gate of $channels channels, checkpoint ids 1 to $ids; the closed model of AlignedModel.tla. */
#define N $channels
#define WORDS $words

byte current;                  /* highest id begun or cancelled; 0 before the first */
bool pending;
bool blocked[N];
bool closed[N];
byte last[N];                  /* by channel: the highest id that it has delivered */
byte kind[WORDS];               /* the event, then its effects */
byte about[WORDS];                /* their channel or id */
byte which;                    /* the id of the event, if it has one */

hidden byte i;
hidden byte words;
hidden byte waits;

#define BARRIER 1
#define CANCEL 2
#define END_OF_PARTITION 3
#define BLOCK 4
#define RESUME 5
#define TRIGGER 6
#define SUBSUMED 7
#define ON_CANCELLATION_BARRIER 8

inline effect(k, a) { kind[words] = k; about[words] = a; words++ }

inline begin(k, c, n) {
    for (i : 0 .. WORDS - 1) { kind[i] = 0; about[i] = 0 }
    words = 0; which = n;
    effect(k, c)
}

inline resume_all() {
    for (i : 0 .. N - 1) { if :: blocked[i] -> effect(RESUME, i); blocked[i] = false :: else fi }
}

inline settle() {             /* once every open channel is aligned: first trigger, then resume */
    waits = 0;
    for (i : 0 .. N - 1) { if :: !blocked[i] && !closed[i] -> waits = 1 :: else fi }
    if
    :: waits > 0
    :: else -> pending = false; effect(TRIGGER, current); resume_all()
    fi
}

inline barrier(c, n) {
    begin(BARRIER, c, n);
    last[c] = n;
    if
    :: n < current || (n == current && !pending) -> effect(RESUME, c)
    :: else ->
        if
        :: n > current ->
            if :: pending -> effect(SUBSUMED, current); resume_all() :: else fi;
            current = n; pending = true
        :: else
        fi;
        blocked[c] = true;
        effect(BLOCK, c);
        settle()
    fi
}

inline cancel(c, n) {
    begin(CANCEL, c, n);
    last[c] = n;
    if
    :: n < current || (n == current && !pending)
    :: else ->
        resume_all();
        current = n; pending = false;
        effect(ON_CANCELLATION_BARRIER, n)
    fi
}

inline end_of_partition(c) {
    begin(END_OF_PARTITION, c, 0);
    closed[c] = true;
    if
    :: pending -> blocked[c] = false; settle()
    :: else
    fi
}

active proctype gate() {
end:
    do
$options
    od
}
