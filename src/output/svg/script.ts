// What a flame graph does where scripts run: a click on a frame shows it over the whole width, and Search marks what
// matches. Without scripts the drawing is whole, and still.

export const script = `(() => {
"use strict";
const character = 7.25;
const graphs = [...document.querySelectorAll(".flame")].map((graph) => ({
  width: Number(graph.dataset.width),
  frames: [...graph.querySelectorAll(":scope > g > g")].map((element) => {
    const rect = element.querySelector("rect");
    const [name, share] = element.querySelector("title").textContent.split("\\n");
    const at = (key) => Number(rect.getAttribute(key));
    return { element, rect, name, share, text: element.querySelector("text"), x: at("x"), y: at("y"), width: at("width") };
  }),
}));
const details = document.getElementById("details");
const found = document.getElementById("found");
const near = 0.02;

function lay(graph, shown) {
  const scale = graph.width / shown.width;
  for (const frame of graph.frames) {
    const below = frame.y > shown.y && frame.x <= shown.x + near && frame.x + frame.width >= shown.x + shown.width - near;
    const within = frame.y <= shown.y && frame.x >= shown.x - near && frame.x + frame.width <= shown.x + shown.width + near;
    frame.element.style.display = below || within ? "" : "none";
    frame.element.style.opacity = below ? "0.5" : "";
    if (!below && !within) continue;
    const x = below ? 0 : (frame.x - shown.x) * scale;
    const width = below ? graph.width : frame.width * scale;
    frame.rect.setAttribute("x", x);
    frame.rect.setAttribute("width", width);
    frame.text.setAttribute("x", x + 3);
    const room = Math.floor((width - 6) / character);
    frame.text.textContent =
      room < 3 ? "" : frame.name.length <= room ? frame.name : frame.name.slice(0, room - 2) + "..";
  }
}

function search(pattern) {
  let matches;
  try {
    matches = pattern === "" ? undefined : new RegExp(pattern);
  } catch {
    found.textContent = "this is no regular expression: " + pattern;
    return;
  }
  const shares = graphs.map((graph) => {
    const hits = graph.frames.filter((frame) => {
      const hit = matches !== undefined && matches.test(frame.name);
      frame.rect.classList.toggle("match", hit);
      return hit;
    });
    // A frame within one that matches is counted with it.
    let end = -1;
    let sum = 0;
    for (const { x, width } of hits.sort((a, b) => a.x - b.x || b.width - a.width)) {
      sum += Math.max(0, x + width - Math.max(x, end));
      end = Math.max(end, x + width);
    }
    return ((100 * sum) / graph.width).toFixed(1) + " %";
  });
  found.textContent = matches === undefined ? "" : "matched: " + shares.join(", ");
}

for (const graph of graphs)
  for (const frame of graph.frames) {
    frame.element.addEventListener("click", () => lay(graph, frame));
    frame.element.addEventListener("mouseover", () => (details.textContent = frame.name + ": " + frame.share));
    frame.element.addEventListener("mouseout", () => (details.textContent = ""));
  }
const ask = () => search(prompt("Search for a regular expression (nothing: no more)") ?? "");
document.getElementById("search").addEventListener("click", ask);
document.getElementById("reset").addEventListener("click", () => {
  for (const graph of graphs) lay(graph, graph.frames[0]);
  search("");
});
addEventListener("keydown", (event) => {
  if (!(event.ctrlKey && event.key === "f")) return;
  event.preventDefault();
  ask();
});
})();`;
