// Draws the operators of a job as a graph, from the sources on the left to the sinks on the right.
// Each operator is a button. All text is set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

// The column of each node: one behind the last of its inputs.
export function columns(nodes) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const found = new Map();
  const columnOf = (node) => {
    if (!found.has(node.id)) {
      found.set(node.id, 0); // ends a cycle, which no job has
      const before = node.inputs.map((input) => byId.get(input.id)).filter(Boolean).map(columnOf);
      found.set(node.id, before.length ? Math.max(...before) + 1 : 0);
    }
    return found.get(node.id);
  };
  const made = [];
  for (const node of nodes) {
    const column = columnOf(node);
    while (made.length <= column) made.push([]);
    made[column].push(node);
  }
  return made;
}

export class Graph {
  constructor(container, chosen) {
    this.container = container;
    this.chosen = chosen; // called with the id of an operator
    this.nodes = new Map();
    this.plan = "";
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("aria-hidden", "true");
    new ResizeObserver(() => this.connect()).observe(container);
  }

  show(plan, vertices, selected) {
    const shape = JSON.stringify(plan.nodes);
    if (shape !== this.plan) {
      this.plan = shape;
      this.edges = plan.nodes.flatMap((node) =>
        node.inputs.map((input) => ({ from: input.id, to: node.id, label: input.ship_strategy })));
      this.build(plan.nodes);
    }
    for (const vertex of vertices) this.nodes.get(vertex.id)?.update(vertex, vertex.id === selected);
    this.connect();
  }

  build(nodes) {
    this.nodes.clear();
    this.container.replaceChildren(this.svg);
    for (const column of columns(nodes)) {
      const layer = document.createElement("div");
      layer.className = "layer";
      for (const node of column) {
        const made = new Node(node, () => this.chosen(node.id));
        this.nodes.set(node.id, made);
        layer.append(made.button);
      }
      this.container.append(layer);
    }
  }

  connect() {
    if (!this.edges) return;
    const origin = this.container.getBoundingClientRect();
    const boxes = new Map([...this.nodes].map(([id, node]) => [id, node.button.getBoundingClientRect()]));
    const drawn = [arrow()];
    for (const edge of this.edges) {
      const from = boxes.get(edge.from);
      const to = boxes.get(edge.to);
      if (!from || !to) continue;
      const [x1, y1] = [from.right - origin.left, from.top + from.height / 2 - origin.top];
      const [x2, y2] = [to.left - origin.left - 6, to.top + to.height / 2 - origin.top];
      const bend = Math.max(24, (x2 - x1) / 2);
      const path = element("path", { d: `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}` });
      path.setAttribute("marker-end", "url(#arrow)");
      const label = element("text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 6 });
      label.textContent = edge.label.toLowerCase();
      drawn.push(path, label);
    }
    this.svg.replaceChildren(...drawn);
  }
}

class Node {
  constructor(node, chosen) {
    this.button = document.createElement("button");
    this.button.type = "button";
    this.button.className = "node";
    this.button.dataset.vertex = node.id;
    this.button.addEventListener("click", chosen);
    const name = document.createElement("strong");
    name.textContent = node.id;
    const chain = this.line("chain");
    chain.textContent = node.functions.slice(1).map((one) => `→ ${one}`).join(" ");
    this.operator = node.operator;
    this.kind = this.line("quiet");
    this.kind.textContent = `${node.operator}, parallelism ${node.parallelism}`;
    this.rates = this.line("rates");
    this.busy = this.line("busy");
    this.busyMeter = meter("");
    this.pressed = this.line("backpressured");
    this.pressedMeter = meter("pressed");
    this.button.append(name, chain, this.kind, this.rates, this.busy, this.busyMeter, this.pressed,
      this.pressedMeter);
  }

  line(name) {
    const made = document.createElement("span");
    made.className = name;
    return made;
  }

  update(vertex, isSelected) {
    const metrics = vertex.metrics;
    this.button.setAttribute("aria-pressed", String(isSelected));
    const [read, written] = [metrics["read-records-per-second"], metrics["write-records-per-second"]].map(rate);
    put(this.rates, { source: `out ${written}`, sink: `in ${read}` }[this.operator] ?? `in ${read}, out ${written}`);
    put(this.busy, `busy ${share(metrics["max-busyRatio"])}`);
    put(this.pressed, `backpressured ${share(metrics["max-backpressuredRatio"])}`);
    fill(this.busyMeter, metrics["max-busyRatio"]);
    fill(this.pressedMeter, metrics["max-backpressuredRatio"]);
  }
}

export const put = (node, text) => { if (node.textContent !== text) node.textContent = text; };
export const share = (ratio) => `${Math.round(ratio * 100)} %`;
export const rate = (perSecond) => `${Math.round(perSecond).toLocaleString("en")}/s`;

export function meter(kind) {
  const made = document.createElement("div");
  made.className = `meter ${kind}`;
  made.setAttribute("aria-hidden", "true");
  made.append(document.createElement("i"));
  return made;
}

export function fill(bar, ratio) {
  bar.firstChild.style.width = `${Math.round(100 * Math.min(1, Math.max(0, ratio)))}%`;
}

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function arrow() {
  const marker = element("marker", {
    id: "arrow", viewBox: "0 0 8 8", refX: 2, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto",
  });
  marker.append(element("path", { d: "M0,0 L8,4 L0,8 z" }));
  const made = element("defs", {});
  made.append(marker);
  return made;
}
