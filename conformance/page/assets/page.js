"use strict";
// The stepper, and the text of rules. Everything is shown without this program too, but for one step at a time.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const tip = document.getElementById("tip");

  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  function chip(rule) {
    const about = { class: "rule", href: `#rule-${rule}`, "data-rule": rule, "aria-describedby": `text-${rule}` };
    return make("a", about, rule);
  }

  function effectTable(step) {
    const head = make("tr", {}, make("th", { scope: "col" }, step.left), make("th", { scope: "col" }, step.right));
    const rows = step.effects.map(([left, right]) => {
      const differs = left !== right && (right !== null || step.wrong);
      const cell = (mine, flag) => {
        if (mine !== null) return make("td", {}, mine, ...(differs ? [" ", make("strong", { class: "flag" }, flag)] : []));
        return make("td", { class: "nothing" }, differs ? "nothing" : "");
      };
      return make("tr", differs ? { class: "wrong" } : {}, cell(left, "expected"), cell(right, "must not be"));
    });
    if (!rows.length) rows.push(make("tr", {}, make("td", {}, "no effect"), make("td", {}, "no effect")));
    const caption = make("caption", {}, "Effects");
    return make("table", { class: "effects" }, caption, make("thead", {}, head), make("tbody", {}, ...rows));
  }

  function stateTable(step) {
    const shown = step.state.some((row) => row.implementation !== null);
    const names = shown ? ["field", step.left, step.right] : ["field", step.left];
    const head = make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name)));
    const rows = step.state.map((row) => {
      const name = make("th", { scope: "row" }, row.field);
      if (row.changed) name.append(" ", make("span", { class: "changed" }, "changed"));
      const cells = [make("td", {}, row.model)];
      if (shown) {
        const theirs = make("td", row.implementation === null ? { class: "nothing" } : {});
        theirs.append(row.implementation === null ? "not shown" : row.implementation);
        if (row.differs) theirs.append(" ", make("strong", { class: "flag" }, "differs"));
        cells.push(theirs);
      }
      return make("tr", row.differs ? { class: "wrong" } : {}, name, ...cells);
    });
    const caption = make("caption", {}, shown ? "State afterwards" : `State of the ${step.left} afterwards`);
    return make("table", { class: "state" }, caption, make("thead", {}, head), make("tbody", {}, ...rows));
  }

  function show(step) {
    const about = [step.task, step.component, step.place].filter((part) => part).join(", ");
    const rules = step.rules.length ? step.rules.flatMap((rule) => [chip(rule), " "]) : ["none"];
    const parts = [
      make("p", { class: "event" }, make("b", {}, step.event), " ", make("span", { class: "about" }, about)),
      make("p", { class: "wire" }, make("code", {}, step.wire)),
      make("div", { class: "sides" }, effectTable(step), ...(step.state.length ? [stateTable(step)] : [])),
      make("p", { class: "fired" }, `Rules ${step.fired}: `, ...rules),
    ];
    if (step.stderr) parts.push(make("pre", { tabindex: "0", "aria-label": "stderr, at its end" }, step.stderr));
    return parts;
  }

  class Stepper {
    constructor(section) {
      this.section = section;
      this.steps = data.cases[Number(section.dataset.case)];
      this.at = -1;
      const stepper = section.querySelector(".stepper");
      stepper.hidden = false;
      this.detail = stepper.querySelector(".detail");
      this.where = stepper.querySelector(".where");
      this.buttons = stepper.querySelectorAll("button[data-go]");
      this.buttons.forEach((button) => button.addEventListener("click", () => this.go(this.target(button.dataset.go))));
      section.querySelectorAll("button.go").forEach((button) => {
        button.addEventListener("click", () => this.go(Number(button.dataset.step) - 1));
      });
      section.querySelectorAll("svg.time [data-step]").forEach((part) => {
        part.addEventListener("click", () => this.go(Number(part.dataset.step) - 1));
      });
      section.addEventListener("keydown", (event) => this.key(event, true));
      const wrong = this.steps.findIndex((step) => step.wrong);
      this.go(wrong < 0 ? 0 : wrong, false);
    }

    target(word) {
      return { first: 0, back: this.at - 1, on: this.at + 1, last: this.steps.length - 1 }[word];
    }

    key(event, within) {
      if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
      const keys = { ArrowRight: "on", ArrowLeft: "back" };
      if (within) Object.assign(keys, { Home: "first", End: "last", j: "on", k: "back" });
      if (!(event.key in keys)) return;
      event.preventDefault();
      event.stopPropagation();
      this.go(this.target(keys[event.key]));
    }

    go(target, isRequested = true) {
      if (!this.steps.length) return;
      const at = Math.max(0, Math.min(this.steps.length - 1, target));
      if (at === this.at) return;
      this.at = at;
      const step = this.steps[at];
      this.detail.replaceChildren(...show(step));
      const place = `step ${at + 1} of ${this.steps.length}`;
      this.where.replaceChildren(place, ...(step.wrong ? [": ", make("strong", { class: "flag" }, "differs")] : []));
      this.section.querySelectorAll("[data-step]").forEach((part) => {
        const current = Number(part.dataset.step) === at + 1;
        part.classList.toggle("current", current);
        if (part.tagName === "TR") current ? part.setAttribute("aria-current", "step") : part.removeAttribute("aria-current");
      });
      this.buttons.forEach((button) => {
        const idle = this.target(button.dataset.go) < 0 || this.target(button.dataset.go) >= this.steps.length;
        button.setAttribute("aria-disabled", String(idle || this.target(button.dataset.go) === at));
      });
      this.reveal();
      if (isRequested) history.replaceState(null, "", `#${this.section.id}-step-${at + 1}`);
    }

    reveal() {
      const column = this.section.querySelector("svg.time rect.column.current");
      const scroll = column.closest(".scroll");
      const box = column.getBoundingClientRect();
      const frame = scroll.getBoundingClientRect();
      if (box.left < frame.left || box.right > frame.right) scroll.scrollLeft += box.left - frame.left - frame.width / 2;
    }
  }

  const steppers = [...document.querySelectorAll("section.case")].map((section) => new Stepper(section));

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") tip.hidden = true;
    if (document.activeElement !== document.body || !steppers.length) return;
    const seen = steppers.find((one) => one.section.getBoundingClientRect().bottom > 0) || steppers[0];
    seen.key(event, false);
  });

  function follow() {
    const named = /^#case-(\d+)-step-(\d+)$/.exec(location.hash);
    if (named && steppers[Number(named[1]) - 1]) {
      const stepper = steppers[Number(named[1]) - 1];
      stepper.go(Number(named[2]) - 1, false);
      stepper.section.scrollIntoView();
    }
    const target = location.hash.startsWith("#rule-") && document.getElementById(location.hash.slice(1));
    if (target) {
      target.closest("details").open = true;
      target.scrollIntoView();
    }
  }
  window.addEventListener("hashchange", follow);
  follow();

  function explain(link) {
    const rule = data.rules[link.dataset.rule];
    if (!rule) return;
    tip.replaceChildren(make("b", {}, `${link.dataset.rule}  ${rule.title}`), make("span", {}, rule.must));
    tip.hidden = false;
    const box = link.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - tip.offsetWidth - 8));
    const below = box.bottom + 6 + tip.offsetHeight < window.innerHeight;
    tip.style.left = `${left + window.scrollX}px`;
    tip.style.top = `${(below ? box.bottom + 4 : box.top - tip.offsetHeight - 4) + window.scrollY}px`;
  }
  const link = (event) => event.target instanceof Element && event.target.closest("a.rule");
  document.addEventListener("mouseover", (event) => {
    if (link(event)) explain(link(event));
    else if (!tip.contains(event.target) && !(document.activeElement && document.activeElement.matches("a.rule"))) tip.hidden = true;
  });
  document.addEventListener("focusin", (event) => (link(event) ? explain(link(event)) : (tip.hidden = true)));

  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => (one.open = true)));
})();
