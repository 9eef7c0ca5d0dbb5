"use strict";
// Plots the map on a canvas. All names come from a user's file: they are only ever set as text, never as markup.
(async () => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const by = (id) => document.getElementById(id);
  const canvas = by("map"), pen = canvas.getContext("2d"), hover = by("hover");
  const count = data.places.length;
  const away = (longitude) => (((longitude - data.middle + 180) % 360) + 360) % 360 - 180;
  const spots = data.places.map(([latitude, longitude]) => [away(longitude) * data.flat, -latitude]);
  const view = { scale: 1, x: 0, y: 0 };
  let size = [0, 0], chosen = -1, row = null, rows = null;

  const make = (name, words, kind) => {
    const made = document.createElement(name);
    if (words !== undefined) made.textContent = words;
    if (kind) made.className = kind;
    return made;
  };
  const percent = (share) => {
    const hundred = 100 * share;
    return (data.mechanism.exact ? "" : "≈\u00a0") + (hundred >= 10 ? hundred.toFixed(0) : hundred.toPrecision(2)) + "\u00a0%";
  };
  const kilometres = (a, b) => {
    const [p, q] = [data.places[a], data.places[b]].map((each) => each.map((degree) => (degree * Math.PI) / 180));
    const half = (x) => Math.sin(x / 2) ** 2;
    const chord = half(q[0] - p[0]) + Math.cos(p[0]) * Math.cos(q[0]) * half(q[1] - p[1]);
    return 2 * 6371.0088 * Math.asin(Math.min(1, Math.sqrt(chord)));
  };
  const far = (km) => (km >= 10 ? km.toFixed(0) : km.toPrecision(2)) + " km";

  // Coordinates.
  const onScreen = ([x, y]) => [view.x + x * view.scale, view.y + y * view.scale];
  const fit = (which) => {
    const xs = which.map((each) => spots[each][0]), ys = which.map((each) => spots[each][1]);
    const [left, right] = [Math.min(...xs), Math.max(...xs)], [top, bottom] = [Math.min(...ys), Math.max(...ys)];
    view.scale = Math.min(size[0] / Math.max((right - left) * 1.14, 0.02), size[1] / Math.max((bottom - top) * 1.14, 0.02));
    view.x = size[0] / 2 - ((left + right) / 2) * view.scale;
    view.y = size[1] / 2 - ((top + bottom) / 2) * view.scale;
  };
  const zoom = (factor, x, y) => {
    const scale = Math.min(Math.max(view.scale * factor, 0.3), 1e6);
    view.x = x - (x - view.x) * (scale / view.scale);
    view.y = y - (y - view.y) * (scale / view.scale);
    view.scale = scale;
    draw();
  };

  const graticule = () => {
    const wide = 110 / view.scale, power = 10 ** Math.floor(Math.log10(wide));
    const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= wide);
    pen.strokeStyle = "#c9d6e2";
    pen.fillStyle = "#6b7785";
    pen.font = "11px sans-serif";
    pen.lineWidth = 0.6;
    const digits = Math.max(0, -Math.floor(Math.log10(step)));
    const word = (value, plus, minus) => Math.abs(value).toFixed(digits) + "°" + (value > 0 ? plus : value < 0 ? minus : "");
    const line = (x1, y1, x2, y2) => { pen.beginPath(); pen.moveTo(x1, y1); pen.lineTo(x2, y2); pen.stroke(); };
    const high = Math.min(90, view.y / view.scale), low = Math.max(-90, (view.y - size[1]) / view.scale);
    for (let at = Math.ceil(low / step) * step; at <= high; at += step) {
      const y = view.y - at * view.scale;
      line(0, y, size[0], y);
      pen.fillText(word(at, " N", " S"), size[0] - 58, y - 3);
    }
    const west = Math.max(-180, -view.x / view.scale / data.flat), east = Math.min(180, (size[0] - view.x) / view.scale / data.flat);
    for (let at = Math.ceil((west + data.middle) / step) * step; at <= east + data.middle; at += step) {
      const x = view.x + (at - data.middle) * data.flat * view.scale;
      line(x, 0, x, size[1]);
      pen.fillText(word(((((at + 180) % 360) + 360) % 360) - 180, " E", " W"), x + 3, size[1] - 6);
    }
  };
  const land = () => {
    pen.fillStyle = "#f0eee9";
    pen.strokeStyle = "#d3cfc5";
    pen.lineWidth = 0.8;
    for (const ring of data.coasts) for (const turn of [-360, 0, 360]) {
      pen.beginPath();
      for (let each = 0; each < ring.length; each += 2) {
        pen.lineTo(...onScreen([(ring[each + 1] + turn - data.middle) * data.flat, -ring[each]]));
      }
      pen.closePath();
      pen.fill();
      pen.stroke();
    }
  };
  const scaleBar = () => {
    const pixels = view.scale / ((6371.0088 * Math.PI) / 180);
    const room = Math.min(size[0] / 4, 180) / pixels, power = 10 ** Math.floor(Math.log10(room));
    const length = [5, 2, 1].map((each) => each * power).find((each) => each <= room);
    pen.fillStyle = "#222";
    pen.fillRect(14, size[1] - 28, length * pixels, 3);
    pen.font = "12px sans-serif";
    pen.fillText(length >= 1 ? length + " km" : length * 1000 + " m", 14, size[1] - 34);
  };
  const dot = (which, radius, fill) => {
    const [x, y] = onScreen(spots[which]);
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fillStyle = fill;
    pen.fill();
  };
  // Two probabilities, as for a near-set and all others, are two colours; more of them are shades between the two.
  const kindsOf = (held) => {
    const used = [...new Set(held)].filter((level) => level > 0).sort((a, b) => a - b), levels = data.mechanism.levels;
    return { used, least: levels[used[0]], most: levels[used[used.length - 1]] };
  };
  const between = (chance, { least, most }) => {
    const share = most > least ? (chance - least) / (most - least) : 1;
    return "rgb(" + [[157, 31], [191, 95], [227, 168]].map(([light, dark]) => Math.round(light + (dark - light) * share)).join(",") + ")";
  };
  const draw = () => {
    pen.clearRect(0, 0, ...size);
    pen.fillStyle = "#f7fafc";
    pen.fillRect(0, 0, ...size);
    land();
    graticule();
    const radius = count > 400 ? 2.6 : 4;
    if (row) {
      const levels = data.mechanism.levels, kinds = kindsOf(row), largest = count > 400 ? 6 : 9;
      const order = row.map((_, each) => each).sort((a, b) => row[a] - row[b]);
      for (const each of order) {
        dot(each, Math.max(largest * Math.sqrt(levels[row[each]] / kinds.most), 1.6), row[each] ? between(levels[row[each]], kinds) : "#c8c8c8");
      }
    } else {
      for (let each = 0; each < count; each++) dot(each, radius, data.colour);
    }
    if (chosen >= 0) {
      const [x, y] = onScreen(spots[chosen]);
      pen.beginPath();
      pen.arc(x, y, 12, 0, 2 * Math.PI);
      pen.strokeStyle = "#222";
      pen.lineWidth = 2;
      pen.stroke();
    }
    scaleBar();
  };

  // The panel next to the map.
  const table = (head, lines) => {
    const made = make("table"), top = make("thead"), body = make("tbody");
    top.append(make("tr"));
    for (const words of head) top.firstChild.append(make("th", words));
    for (const cells of lines) {
      const line = make("tr");
      for (const cell of cells) {
        const at = make("td");
        at.append(cell);
        line.append(at);
      }
      body.append(line);
    }
    made.append(top, body);
    return made;
  };
  const link = (words, act) => {
    const made = make("button", words, "link");
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  };
  const overview = () => by("panel").replaceChildren();
  const about = (which) => {
    const panel = by("panel");
    panel.replaceChildren(make("h2", data.labels[which]));
    panel.append(make("p", `${data.places[which][0]}°, ${data.places[which][1]}°`, "small"));
    if (row) {
      const levels = data.mechanism.levels, chances = row.map((level) => levels[level]);
      const kinds = kindsOf(row), least = kinds.used[0];
      const near = row.filter((level) => level > least).length, never = row.filter((level) => !level).length;
      const sum = (fits) => row.reduce((total, level, each) => total + (fits(level) ? chances[each] : 0), 0);
      const off = chances.reduce((total, chance, each) => total + chance * kilometres(which, each), 0);
      panel.append(make("p", `A made-up person here would report this very place with probability ${percent(chances[which])}. A report is ${far(off)} away on average.`));
      const lines = [];
      if (kinds.used.length === 2) {
        lines.push([make("span", "favoured"), near.toLocaleString("en"), percent(sum((level) => level > least))]);
        lines.push([make("span", "all others"), (count - near - never).toLocaleString("en"), percent(sum((level) => level === least))]);
      } else {
        lines.push([make("span", "from " + percent(kinds.least) + " to " + percent(kinds.most)), (count - never).toLocaleString("en"), "100 %"]);
      }
      if (never) lines.push([make("span", "never"), never.toLocaleString("en"), "0 %"]);
      panel.append(table(["reports", "places", "together"], lines));
      const top = chances.map((_, each) => each).sort((a, b) => chances[b] - chances[a] || kilometres(which, a) - kilometres(which, b)).slice(0, 15);
      panel.append(table(["most likely", "km away", "probability"], top.map((each) => [link(data.labels[each], () => choose(each)), kilometres(which, each).toFixed(kilometres(which, each) < 10 ? 1 : 0), percent(chances[each])])));
    }
    panel.append(link("← all places", () => { chosen = -1; row = null; overview(); draw(); }));
  };
  const choose = (which) => {
    chosen = which;
    row = rows ? Array.from(rows.subarray(which * count, (which + 1) * count)) : null;
    about(which);
    draw();
  };

  // Pointer, wheel, keys.
  const nearest = (x, y, reach) => {
    let found = -1, best = reach * reach;
    for (let each = 0; each < count; each++) {
      const [a, b] = onScreen(spots[each]), apart = (a - x) ** 2 + (b - y) ** 2;
      if (apart < best) { best = apart; found = each; }
    }
    return found;
  };
  const where = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  const held = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); held.set(event.pointerId, where(event)); moved = 0; });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = where(event), before = held.get(event.pointerId);
    if (before) {
      if (held.size === 2) {
        const other = [...held].find(([id]) => id !== event.pointerId)[1];
        const [was, is] = [Math.hypot(before[0] - other[0], before[1] - other[1]), Math.hypot(x - other[0], y - other[1])];
        held.set(event.pointerId, [x, y]);
        moved = 99;
        if (was > 0) zoom(is / was, other[0], other[1]);
        return;
      }
      moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
      view.x += x - before[0];
      view.y += y - before[1];
      held.set(event.pointerId, [x, y]);
      draw();
    }
    const found = nearest(x, y, 10);
    hover.hidden = found < 0;
    if (found >= 0) {
      hover.textContent = data.labels[found] + (row ? ": " + percent(data.mechanism.levels[row[found]]) : "");
      hover.style.left = Math.min(x + 14, size[0] - 150) + "px";
      hover.style.top = y + 14 + "px";
    }
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => {
    held.delete(event.pointerId);
    const found = end === "pointerup" && moved < 5 ? nearest(...where(event), 14) : -1;
    if (found >= 0) choose(found);
  });
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY / 400), ...where(event)); }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (steps[event.key]) { view.x += steps[event.key][0]; view.y += steps[event.key][1]; event.preventDefault(); draw(); }
    if (event.key === "+") zoom(1.5, size[0] / 2, size[1] / 2);
    if (event.key === "-") zoom(1 / 1.5, size[0] / 2, size[1] / 2);
  });
  const all = () => fit(data.places.map((_, each) => each));
  by("in").addEventListener("click", () => zoom(1.5, size[0] / 2, size[1] / 2));
  by("out").addEventListener("click", () => zoom(1 / 1.5, size[0] / 2, size[1] / 2));
  by("all").addEventListener("click", () => { all(); draw(); });
  const names = new Map(data.labels.map((label, each) => [label, each]));
  for (const label of data.labels) { const option = make("option"); option.value = label; by("names").append(option); }
  by("find").addEventListener("change", (event) => { const found = names.get(event.target.value); if (found !== undefined) choose(found); });

  const resize = () => {
    document.documentElement.style.setProperty("--head", document.querySelector("header").offsetHeight + "px");
    const box = by("stage").getBoundingClientRect(), sharp = window.devicePixelRatio || 1, first = !size[0];
    const old = size;
    size = [box.width, box.height];
    canvas.width = box.width * sharp;
    canvas.height = box.height * sharp;
    pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    if (first) all();
    else { view.x += (size[0] - old[0]) / 2; view.y += (size[1] - old[1]) / 2; }
    draw();
  };
  window.addEventListener("resize", resize);
  overview();
  resize();

  if (data.mechanism && data.mechanism.rows) {
    if (typeof DecompressionStream === "undefined") {
      by("hint").textContent = "This browser is too old to unpack the chances; the map works without them.";
      return;
    }
    const packed = Uint8Array.from(atob(data.mechanism.rows), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    rows = new Uint8Array(await new Response(stream).arrayBuffer());
    const asked = Number.parseInt(window.location.hash.slice(1), 10);
    if (asked >= 0 && asked < count) choose(asked);
  }
})();
