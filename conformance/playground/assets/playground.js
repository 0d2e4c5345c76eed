// Plays the state graphs of data.js. A run is a list of edge numbers; the address of the page holds it.
"use strict";

(() => {
  const root = document.getElementById("protocol-playground");
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  };

  let subject = PLAYGROUND.subjects[0];
  let run = [];

  const stateAfter = (count) => run.slice(0, count).reduce((at, edge) => subject.edges[at][edge][3], 0);
  const stepAt = (index) => subject.edges[stateAfter(index)][run[index]];

  // ---------------------------------------------------------------- the address

  const address = () => `#${subject.name}/${run.join(".")}`;

  function read() {
    const [name, steps] = decodeURIComponent(location.hash.slice(1)).split("/");
    subject = PLAYGROUND.subjects.find((one) => one.name === name) ?? PLAYGROUND.subjects[0];
    run = [];
    for (const word of (steps ?? "").split(".").filter(Boolean)) {
      const edge = Number(word);
      if (!Number.isInteger(edge) || subject.edges[stateAfter(run.length)][edge] === undefined) break;
      run.push(edge);
    }
  }

  function go(changed) {
    run = changed;
    history.replaceState(null, "", address());
    draw();
  }

  // ---------------------------------------------------------------- the parts of the page

  const chooser = () =>
    make(
      "p",
      {},
      make("label", { for: "pg-subject" }, "Play "),
      make(
        "select",
        {
          id: "pg-subject",
          onchange: (event) => {
            subject = PLAYGROUND.subjects.find((one) => one.name === event.target.value);
            go([]);
          },
        },
        ...PLAYGROUND.subjects.map((one) => {
          const option = make("option", { value: one.name }, one.title);
          option.selected = one === subject;
          return option;
        }),
      ),
    );

  function lane([name, status, items]) {
    const waiting = items.map((item) => make("span", { class: "pg-item" }, item));
    return make(
      "div",
      { class: `pg-lane pg-${status}` },
      make("b", {}, name),
      make("span", { class: "pg-status" }, status),
      make("span", { class: "pg-items" }, ...waiting),
    );
  }

  // Each lane over time: one cell for each step of the run, shaded while the channel is blocked.
  function timeline() {
    const states = Array.from({ length: run.length + 1 }, (_, index) => subject.views[stateAfter(index)][1]);
    if (states[0].length === 0 || run.length === 0) return null;
    const row = (index) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, states[0][index][0]),
        ...states.map((lanes) => {
          const [, status, items] = lanes[index];
          const title = items.length ? `${status}, waiting: ${items.join(", ")}` : status;
          return make("td", { class: `pg-${status}`, title }, items.length ? String(items.length) : "");
        }),
      );
    return make("table", { class: "pg-timeline" }, make("tbody", {}, ...states[0].map((_, index) => row(index))));
  }

  function view() {
    const [fields, lanes] = subject.views[stateAfter(run.length)];
    const rows = fields.map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value)));
    return make(
      "section",
      { class: "pg-state", "aria-label": "State" },
      make("h3", {}, "State"),
      make("div", { class: "pg-lanes" }, ...lanes.map(lane)),
      timeline(),
      make("table", {}, make("tbody", {}, ...rows)),
    );
  }

  function events() {
    const offered = subject.edges[stateAfter(run.length)];
    const groups = new Map();
    offered.forEach(([label, , , , group], edge) => {
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(make("button", { type: "button", class: "pg-event", onclick: () => go([...run, edge]) }, label));
    });
    const parts = [...groups.keys()].sort((one, other) => one - other).map((group) =>
      make("div", { class: "pg-group" }, make("h4", {}, subject.groups[group]), ...groups.get(group)),
    );
    return make(
      "section",
      { class: "pg-events", "aria-label": "Events" },
      make("h3", {}, "Events that may come"),
      ...(parts.length ? parts : [make("p", {}, "None: the run has ended.")]),
    );
  }

  function ruleOf(name) {
    const rule = PLAYGROUND.rules[name];
    const code = ([place, text]) => make("figure", {}, make("figcaption", {}, place), make("pre", {}, make("code", {}, text)));
    return make(
      "details",
      { class: "pg-rule" },
      make("summary", {}, make("b", {}, name), ` ${rule.title}`),
      make("p", {}, rule.must),
      make("p", {}, make("a", { href: `reference/rules/${name}.html` }, `The page of ${name}`)),
      make("div", { class: "pg-beside" }, code(rule.tla), ...rule.python.map(code)),
    );
  }

  function last() {
    const section = make("section", { class: "pg-step", "aria-label": "Last step" }, make("h3", {}, "Last step"));
    if (run.length === 0) {
      section.append(make("p", {}, "Choose an event."));
      return section;
    }
    const [label, effects, rules] = stepAt(run.length - 1);
    const spoken = effects.map((effect) => make("li", {}, subject.effects[effect]));
    section.append(make("p", {}, make("b", {}, label)));
    section.append(spoken.length ? make("ol", { class: "pg-effects" }, ...spoken) : make("p", {}, "No effect."));
    section.append(...rules.map((rule) => ruleOf(subject.rules[rule])));
    return section;
  }

  function story() {
    const steps = run.map((_, index) =>
      make(
        "li",
        {},
        make(
          "button",
          { type: "button", class: "pg-past", onclick: () => go(run.slice(0, index + 1)) },
          stepAt(index)[0],
        ),
      ),
    );
    const back = make("button", { type: "button", onclick: () => go(run.slice(0, -1)) }, "Back");
    const restart = make("button", { type: "button", onclick: () => go([]) }, "Start again");
    back.disabled = restart.disabled = run.length === 0;
    return make(
      "section",
      { class: "pg-run", "aria-label": "Run" },
      make("h3", {}, "Run"),
      make("p", {}, back, " ", restart, " ", make("a", { href: address(), class: "pg-link" }, "Link to this run")),
      make("ol", {}, ...steps),
    );
  }

  function draw() {
    root.replaceChildren(
      chooser(),
      make("p", { class: "pg-intro" }, subject.intro),
      make("div", { class: "pg-columns" }, view(), events(), last(), story()),
    );
  }

  window.addEventListener("hashchange", () => {
    read();
    draw();
  });
  read();
  draw();
})();
