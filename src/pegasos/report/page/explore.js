// The heat-map, the curves and the table of one grid, redrawn when another is chosen. Every text is
// in the data already: nothing is computed here but colours.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("explore-data").textContent);
  const form = document.getElementById("explore-choice");
  const [heatmap, curves] = ["heatmap", "curves"].map((name) => document.getElementById(`explore-${name}`));
  const summary = document.getElementById("explore-summary");
  const tablePlace = document.getElementById("explore-table");
  const markers = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x"];
  const dashes = ["solid", "dash", "dashdot", "dot", "longdash"];
  const logValues = [1e-5, 1e-4, 1e-3, 0.01, 0.1].flatMap((power) => [power, 2 * power, 5 * power]);
  const logTicks = { type: "log", tickvals: logValues, ticktext: logValues.map((value) => `${Number(value.toPrecision(1))}`) };
  const narrow = window.matchMedia("(max-width: 40rem)");
  const options = { displayModeBar: false, responsive: true };
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  // The colours of the figures are made for white: on a dark page they are mixed with it.
  const lineColour = (hex) => (!dark.matches ? hex : `rgb(${[1, 3, 5].map((k) => 102 + 0.6 * parseInt(hex.slice(k, k + 2), 16))})`);
  const chosen = () => {
    const grid = data.grids[form.elements.grid.value];
    const value = form.elements.value.value;
    return { grid, what: value.replace("_", " "), ...grid[value] };
  };

  function range(errors) {
    const known = errors.flat().filter((error) => error !== null);
    return [Math.min(...known), Math.max(...known)];
  }

  function layout(more) {
    const axis = { fixedrange: true, gridcolor: colour("line"), linecolor: colour("soft"), zeroline: false, automargin: true };
    return {
      font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("ink") },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      hoverlabel: { bgcolor: colour("panel"), bordercolor: colour("accent"), font: { color: colour("ink"), size: 13 }, align: "left" },
      dragmode: false,
      margin: { l: 60, r: 12, t: 12, b: 52 },
      ...more,
      xaxis: { ...axis, ...more.xaxis },
      yaxis: { ...axis, ...more.yaxis },
    };
  }

  function hoverTexts({ grid, what, texts }) {
    return texts.map((row, i) => row.map((text, j) =>
      `<b>${what} ${text}</b><br>lam = ${grid.lams[i]}<br>T = ${grid.step_texts[j]}` +
      `<br>${plain(grid.kernel)}<br>${grid.seconds[i][j]}`));
  }

  function drawHeatmap(now) {
    const { grid, errors, cells, inks, best, ticks } = now;
    const scale = now.is_log ? Math.log10 : (error) => error; // colours are those of the figures
    const tickvals = ticks.map(([tick]) => scale(tick));
    // Cells are counted, not called by their texts: two values of lam may look the same.
    const [rows, columns] = [grid.lams, grid.step_texts].map((texts) => [...texts.keys()]);
    const counted = (places, ticktext) => ({ tickvals: places, ticktext, range: [-0.5, places.length - 0.5], showgrid: false });
    const trace = {
      type: "heatmap",
      x: columns,
      y: rows,
      z: errors.map((row) => row.map((error) => (error === null ? null : scale(error)))),
      zmin: tickvals[0],
      zmax: tickvals.at(-1),
      colorscale: "Cividis",
      xgap: 2,
      ygap: 2,
      hovertext: hoverTexts(now),
      hovertemplate: "%{hovertext}<extra></extra>",
      hoverongaps: false,
      showscale: !narrow.matches,
      colorbar: { title: { text: now.what, side: "right" }, outlinewidth: 0, thickness: 14, tickvals, ticktext: ticks.map(([, text]) => text) },
    };
    const numbers = {
      type: "scatter",
      mode: "text",
      x: rows.flatMap(() => columns),
      y: rows.flatMap((row) => columns.map(() => row)),
      text: cells.flat(),
      textfont: { color: inks.flat() },
      hoverinfo: "skip",
    };
    const [row, column] = best;
    const around = { type: "rect", x0: column - 0.5, x1: column + 0.5, y0: row - 0.5, y1: row + 0.5 };
    const shapes = [["white", 5], ["black", 2.5]].map(([ink, width]) => ({ ...around, line: { color: ink, width } }));
    return Plotly.react(heatmap, [trace, numbers], layout({
      height: 110 + 36 * Math.max(3, grid.lams.length),
      shapes,
      xaxis: { title: { text: "T, steps" }, ...counted(columns, grid.step_texts) },
      yaxis: { title: { text: "lam" }, ...counted(rows, grid.lams) },
    }), options);
  }

  function drawCurves(now) {
    const { grid, errors, spread, what } = now;
    const hover = hoverTexts(now);
    const [low, high] = range(errors);
    const traces = grid.lams.map((lam, i) => ({
      type: "scatter",
      mode: "lines+markers",
      name: lam,
      x: grid.steps,
      y: errors[i],
      error_y: { type: "data", array: spread[i].map((its) => its ?? 0), thickness: 1, width: 3 },
      text: hover[i],
      hovertemplate: "%{text}<extra></extra>",
      line: { color: lineColour(data.colours[i % data.colours.length]), dash: dashes[i % dashes.length] },
      marker: { symbol: markers[i % markers.length], size: 8 },
    }));
    return Plotly.react(curves, traces, layout({
      height: narrow.matches ? 420 : 360,
      legend: narrow.matches ? { title: { text: "lam" }, orientation: "h", y: -0.3 } : { title: { text: "lam" } },
      xaxis: { type: "log", title: { text: "T, steps" }, tickvals: grid.steps, ticktext: grid.step_texts },
      yaxis: { title: { text: what }, ...(low > 0 && high > 10 * low ? logTicks : { rangemode: "tozero" }) },
    }), options);
  }

  function fillTable({ grid, texts, what }) {
    const made = (name, text, more) => Object.assign(document.createElement(name), { textContent: text, ...more });
    const line = (first, rest) => {
      const row = document.createElement("tr");
      row.append(first, ...rest);
      return row;
    };
    const titles = grid.step_texts.map((text) => made("th", `T = ${text}`, { scope: "col" }));
    const table = document.createElement("table");
    table.append(
      made("caption", `${what}: ${grid.name}`),
      line(made("th", "lam", { scope: "col" }), titles),
      ...grid.lams.map((lam, i) => line(made("th", lam, { scope: "row" }), texts[i].map((text) => made("td", text)))),
    );
    tablePlace.replaceChildren(table);
  }

  async function draw() {
    const now = chosen();
    const { grid, what, texts, best: [row, column] } = now;
    summary.textContent = `${grid.name}: smallest ${what} ${texts[row][column]} at lam = ${grid.lams[row]}, ` +
      `T = ${grid.step_texts[column]}, ${grid.seconds[row][column]}.`;
    fillTable(now);
    await Promise.all([drawHeatmap(now), drawCurves(now)]);
    document.getElementById("js-plotly-tester")?.setAttribute("aria-hidden", "true"); // where texts are measured
    document.documentElement.dataset.drawn = `${form.elements.grid.value} ${form.elements.value.value}`;
  }

  // The library is packed: unpacked in the page, it never needs the network.
  async function unpack() {
    const packed = Uint8Array.from(atob(document.getElementById("plotly-packed").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  }

  async function start() {
    await unpack();
    document.getElementById("explore-charts").hidden = false;
    form.elements.grid.value = data.first;
    await draw();
    form.addEventListener("change", draw);
    for (const media of [narrow, dark]) media.addEventListener("change", draw);
  }

  start().catch((error) => {
    const notice = document.getElementById("explore-missing");
    notice.hidden = false;
    document.getElementById("explore-charts").hidden = true;
    notice.append(` (${error})`);
  });
})();
