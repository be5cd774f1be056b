"use strict";
// Players: a cursor follows the sound, a click on a label plays it, and a click elsewhere moves the cursor.
for (const clip of document.querySelectorAll(".clip")) {
  const audio = clip.querySelector("audio");
  const timeline = clip.querySelector(".timeline");
  const region = timeline.parentElement;
  const cursor = clip.querySelector(".cursor");
  const labels = [...clip.querySelectorAll("[data-start]")];
  const seconds = Number(clip.dataset.seconds);
  let stop = Infinity;

  function show() {
    if (audio.currentTime >= stop) {
      audio.pause();
      audio.currentTime = stop;
      stop = Infinity;
    }
    const place = Math.min(1, audio.currentTime / seconds);
    cursor.style.left = `${100 * place}%`;
    for (const label of labels) {
      const now = !audio.paused && label.dataset.start <= audio.currentTime && audio.currentTime < label.dataset.end;
      label.classList.toggle("now", now);
    }
    if (audio.paused) return;
    const x = place * timeline.offsetWidth - region.scrollLeft;
    if (x < 0 || x > region.clientWidth - 20) region.scrollLeft += x - 20;
    requestAnimationFrame(show);
  }

  audio.addEventListener("play", () => {
    for (const other of document.querySelectorAll("audio")) if (other !== audio) other.pause();
    show();
  });
  for (const event of ["pause", "seeked", "ended"]) audio.addEventListener(event, show);
  timeline.addEventListener("click", (event) => {
    const label = event.target.closest("[data-start]");
    const box = timeline.getBoundingClientRect();
    stop = label ? Number(label.dataset.end) : Infinity;
    audio.currentTime = label ? Number(label.dataset.start) : (seconds * (event.clientX - box.left)) / box.width;
    if (!label) return;
    audio.play().catch((error) => {
      if (error.name !== "AbortError") throw error; // a very short label ends before the promise is kept
    });
  });
}

// Tables: a click on a heading sorts, numbers before text; the field above a long table filters its rows.
const number = (text) => (text.trim() === "" ? NaN : Number(text));

function sort(table, heading, column) {
  const descending = heading.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => [row.cells[column].textContent, row]);
  const order = ([a], [b]) => {
    const [x, y] = [number(a), number(b)];
    if (isNaN(x) || isNaN(y)) {
      if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
      return (descending ? -1 : 1) * a.localeCompare(b);
    }
    return descending ? y - x : x - y;
  };
  table.tBodies[0].append(...rows.sort(order).map(([, row]) => row));
}

function addFilter(table, region) {
  const rows = [...table.tBodies[0].rows];
  const box = document.createElement("div");
  const field = document.createElement("input");
  const found = document.createElement("span");
  box.className = "filter";
  field.type = "search";
  field.placeholder = "Filter rows";
  field.setAttribute("aria-label", "Filter rows");
  found.className = "soft";
  found.setAttribute("aria-live", "polite");
  const filter = () => {
    const wanted = field.value.toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = ![...row.cells].some((cell) => cell.textContent.toLowerCase().includes(wanted));
      shown += row.hidden ? 0 : 1;
    }
    found.textContent = `${shown} of ${rows.length} rows`;
  };
  field.addEventListener("input", filter);
  filter();
  box.append(field, found);
  region.before(box);
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    button.addEventListener("click", () => sort(table, heading, column));
    heading.replaceChildren(button);
  });
  if (table.tBodies[0].rows.length > 5) addFilter(table, table.parentElement);
}
