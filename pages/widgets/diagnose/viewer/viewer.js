// One X-ray, drawn on a canvas from the values that came with the page: nothing is fetched and nothing is stored.

const MOST_ZOOM = 32;

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".viewer");
  if (!root.viewer) root.viewer = new Viewer(root);
  root.viewer.ask = (place) => setTriggerValue("place", place);
  root.viewer.show(unpacked(data));
  return () => root.viewer.close();
}

// Four bytes with the length of a JSON text, that text, the values, the heat.
function unpacked(packed) {
  const bytes = packed instanceof Uint8Array ? packed : new Uint8Array(packed);
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const told = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const pixels = told.rows * told.columns * told.bytes;
  const values = bytes.slice(4 + length, 4 + length + pixels);
  const heat = bytes.slice(4 + length + pixels);
  return { ...told, values: told.bytes === 2 ? new Uint16Array(values.buffer) : values, heat: heat.length ? heat : null };
}

class Viewer {
  constructor(root) {
    this.root = root;
    this.canvas = root.querySelector("canvas");
    this.pointers = new Map();
    this.find = (selector) => root.querySelector(selector);
    root.addEventListener("click", (event) => this.do(event.target.closest("[data-do]")?.dataset.do));
    root.addEventListener("input", () => this.turned());
    this.canvas.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    this.canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    this.canvas.addEventListener("dblclick", () => this.do("fit"));
    for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel"])
      this.canvas.addEventListener(kind, (event) => this[kind](event));
    this.pressed = (event) => this.key(event);
    this.open();
  }

  open() {
    if (this.sizes) return;
    document.addEventListener("keydown", this.pressed, true);
    this.sizes = new ResizeObserver(() => this.resized());
    this.sizes.observe(this.canvas);
  }

  close() {
    document.removeEventListener("keydown", this.pressed, true);
    this.sizes?.disconnect();
    this.sizes = null;
  }

  show(xray) {
    this.open();
    const other = this.xray?.id !== xray.id;
    this.xray = xray;
    this.place = xray.place;
    this.find(".place").textContent = `${xray.place + 1} of ${xray.total}`;
    this.find("[data-do=previous]").disabled = xray.place === 0;
    this.find("[data-do=next]").disabled = xray.place + 1 === xray.total;
    this.find(".queue").hidden = xray.total < 2;
    this.canvas.setAttribute("aria-label", `X-ray, ${xray.columns} by ${xray.rows} pixels`);
    this.find("label.heat").hidden = !xray.heat;
    this.heat = xray.heat && coloured(xray);
    if (other) {
      this.picture = document.createElement("canvas");
      [this.picture.width, this.picture.height] = [xray.columns, xray.rows];
      this.limits();
      this.do("reset");
    }
    this.draw();
  }

  // DICOM's own numbers where the file has them; brightness and contrast in per cent elsewhere.
  limits() {
    const { windowed, width, low, high } = this.xray;
    const [level, wide] = [this.find("[data-turn=level]"), this.find("[data-turn=width]")];
    this.find(".level span").textContent = windowed ? "Level" : "Brightness";
    this.find(".width span").textContent = windowed ? "Window" : "Contrast";
    const range = windowed ? Math.max(high - low, width, 2) : 0;
    Object.assign(level, windowed ? { min: low - width, max: high + width, step: range / 1000 } : { min: -100, max: 100, step: 1 });
    Object.assign(wide, windowed ? { min: 1 + range / 1000, max: 2 * range, step: range / 1000 } : { min: -100, max: 100, step: 1 });
  }

  turned() {
    const { windowed, width, centre } = this.xray;
    const level = Number(this.find("[data-turn=level]").value);
    const wide = Number(this.find("[data-turn=width]").value);
    this.centre = windowed ? level : centre - (level / 100) * (width / 2);
    this.width = windowed ? wide : width * Math.pow(10, -wide / 100);
    this.paint();
  }

  setWindow(centre, width) {
    const { xray } = this;
    [this.centre, this.width] = [centre, width];
    this.find("[data-turn=level]").value = xray.windowed ? centre : ((xray.centre - centre) / (xray.width / 2)) * 100;
    this.find("[data-turn=width]").value = xray.windowed ? width : Math.log10(xray.width / width) * 100;
    this.paint();
  }

  // Each value's grey is worked out once, then looked up: (x − (c − ½))/(w − 1) + ½, DICOM PS3.3 C.11.2.1.2.1.
  paint() {
    const { xray } = this;
    const shades = new Uint8ClampedArray(xray.bytes === 2 ? 65536 : 256);
    const wide = Math.max(this.width - 1, 1e-6);
    for (let value = 0; value < shades.length; value++) {
      const grey = (xray.first + xray.step * value - (this.centre - 0.5)) / wide + 0.5;
      shades[value] = 255 * (xray.inverted ? 1 - grey : grey);
    }
    const context = this.picture.getContext("2d");
    const image = context.createImageData(xray.columns, xray.rows);
    const out = new Uint32Array(image.data.buffer);
    for (let i = 0; i < out.length; i++) out[i] = 0xff000000 | (shades[xray.values[i]] * 0x010101);
    context.putImageData(image, 0, 0);
    const shown = (number) => (xray.windowed ? String(Number(number.toPrecision(4))) : `${Math.round(number)}%`);
    this.find(".level output").textContent = shown(xray.windowed ? this.centre : Number(this.find("[data-turn=level]").value));
    this.find(".width output").textContent = shown(xray.windowed ? this.width : (100 * xray.width) / this.width);
    Object.assign(this.root.dataset, { centre: this.centre, width: this.width });
    this.draw();
  }

  draw() {
    if (!this.picture || this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.drawn();
    });
  }

  drawn() {
    const { canvas, xray, zoom } = this;
    const context = canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(zoom, 0, 0, zoom, this.left, this.top);
    context.imageSmoothingEnabled = zoom < 3;
    context.imageSmoothingQuality = "high";
    context.drawImage(this.picture, 0, 0);
    const strength = Number(this.find("[data-turn=heat]").value);
    this.find(".heat output").textContent = `${strength}%`;
    if (this.heat) {
      context.globalAlpha = strength / 100;
      context.imageSmoothingEnabled = true;
      context.drawImage(this.heat, 0, 0, xray.columns, xray.rows);
      context.globalAlpha = 1;
    }
    if (this.find(".frame input").checked) {
      const [top, left, bottom, right] = xray.framed;
      context.lineWidth = (2 * this.ratio()) / zoom;
      context.strokeStyle = "#56B4E9";
      context.setLineDash([8 / zoom, 6 / zoom].map((length) => length * this.ratio()));
      context.strokeRect(left, top, right - left, bottom - top);
      context.setLineDash([]);
    }
    const percent = Math.round((100 * zoom) / this.ratio());
    this.find(".zoom").textContent = `${percent}%`;
    Object.assign(this.root.dataset, { zoom: percent, left: Math.round(this.left), top: Math.round(this.top) });
  }

  ratio() {
    return window.devicePixelRatio || 1;
  }

  resized() {
    const fitted = this.fitted;
    this.canvas.width = Math.round(this.canvas.clientWidth * this.ratio());
    this.canvas.height = Math.round(this.canvas.clientHeight * this.ratio());
    if (this.xray && fitted) this.fit();
    this.draw();
  }

  fit() {
    const { canvas, xray } = this;
    this.zoomTo(Math.min(canvas.width / xray.columns, canvas.height / xray.rows));
    this.left = (canvas.width - xray.columns * this.zoom) / 2;
    this.top = (canvas.height - xray.rows * this.zoom) / 2;
    this.fitted = true;
  }

  // The point (x, y) of the canvas stays where it is.
  zoomTo(zoom, x = this.canvas.width / 2, y = this.canvas.height / 2) {
    const least = Math.min(this.canvas.width / this.xray.columns, this.canvas.height / this.xray.rows, 1) / 2;
    const next = Math.min(Math.max(zoom, least || 0.01), MOST_ZOOM);
    const factor = next / (this.zoom || next);
    this.left = x - (x - this.left) * factor || 0;
    this.top = y - (y - this.top) * factor || 0;
    this.zoom = next;
    this.fitted = false;
    this.draw();
  }

  do(what) {
    const { xray } = this;
    if (what === "previous" || what === "next") this.go(what === "next" ? 1 : -1);
    if (what === "in") this.zoomTo(this.zoom * 1.25);
    if (what === "out") this.zoomTo(this.zoom / 1.25);
    if (what === "full") this.zoomTo(this.ratio());
    if (what === "fit" || what === "reset") this.fit();
    if (what === "reset") this.setWindow(xray.centre, xray.width);
    this.draw();
  }

  go(steps) {
    const place = Math.min(Math.max(this.place + steps, 0), this.xray.total - 1);
    if (place === this.place) return;
    this.place = place;
    this.find(".place").textContent = `${place + 1} of ${this.xray.total}`;
    this.ask(place);
  }

  key(event) {
    const on = event.composedPath()[0];
    if (event.ctrlKey || event.metaKey || event.altKey || !this.root.isConnected) return;
    if (on.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(on.tagName) || on.getAttribute?.("role") === "radio") return;
    const keys = { ArrowLeft: "previous", ArrowRight: "next", "+": "in", "=": "in", "-": "out", 0: "fit", 1: "full" };
    if (!(event.key in keys)) return;
    event.preventDefault();
    event.stopPropagation();
    this.do(keys[event.key]);
  }

  wheeled(event) {
    event.preventDefault();
    const [x, y] = this.at(event);
    this.zoomTo(this.zoom * Math.exp(-event.deltaY / 400), x, y);
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * this.ratio(), (event.clientY - box.top) * this.ratio()];
  }

  pointerdown(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, this.at(event));
    this.canvas.classList.add("dragged");
    this.root.focus({ preventScroll: true });
  }

  pointermove(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = this.at(event);
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    if (this.pointers.size === 2) {
      const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
      const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
      this.zoomTo((this.zoom * apart(now)) / Math.max(apart(before), 1), other[0], other[1]);
    } else if (event.buttons === 2) {
      this.setWindow(this.centre - (dy / 400) * this.xray.width, Math.max(this.width * Math.exp(dx / 200), 2));
    } else {
      this.left += dx;
      this.top += dy;
      this.fitted = false;
      this.draw();
    }
    this.pointers.set(event.pointerId, now);
  }

  pointerup(event) {
    this.pointers.delete(event.pointerId);
    if (!this.pointers.size) this.canvas.classList.remove("dragged");
  }

  pointercancel(event) {
    this.pointerup(event);
  }
}

// From clear over orange to red, as everywhere in ppsets.
function coloured({ heat, heat_rows, heat_columns }) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [heat_columns, heat_rows];
  const image = new ImageData(heat_columns, heat_rows);
  heat.forEach((strength, i) => image.data.set([255, 166 * (1 - strength / 255), 0, strength], 4 * i));
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}
