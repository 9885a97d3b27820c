/**
 * Runs in every page, in a world of its own: it shares the document with the page, and nothing else. What an element is on
 * the screen: coordinates are those of the viewport, also for elements in frames.
 */
globalThis.rondo = {};

rondo.offsetOf = (view) => {
  let [x, y] = [0, 0];
  for (let at = view; at !== window && at.frameElement; at = at.parent) {
    const box = at.frameElement.getBoundingClientRect();
    x += box.left + at.frameElement.clientLeft;
    y += box.top + at.frameElement.clientTop;
  }
  return { x, y };
};

/** The part of a rectangle that is in the viewport, or undefined when there is none. */
rondo.visiblePart = (rectangle, { x, y }) => {
  const left = Math.max(0, rectangle.left + x);
  const top = Math.max(0, rectangle.top + y);
  const right = Math.min(window.innerWidth, rectangle.right + x);
  const bottom = Math.min(window.innerHeight, rectangle.bottom + y);
  return right - left > 1 && bottom - top > 1 ? { left, top, right, bottom } : undefined;
};

rondo.visibleBox = (element) =>
  rondo.visiblePart(element.getBoundingClientRect(), rondo.offsetOf(element.ownerDocument.defaultView));

/** The element that a click at this point would reach, inside open shadow roots and frames of the same origin too. */
rondo.elementAt = (x, y) => {
  let root = document;
  for (let found; ;) {
    const offset = rondo.offsetOf((root.ownerDocument ?? root).defaultView);
    const next = root.elementFromPoint(x - offset.x, y - offset.y);
    if (!next || next === found) return found;
    found = next;
    const inner = next.shadowRoot ?? rondo.documentIn(next);
    if (!inner) return found;
    root = inner;
  }
};

/** The document of a frame of the same origin. */
rondo.documentIn = (element) => {
  if (element.tagName !== 'IFRAME' && element.tagName !== 'FRAME') return undefined;
  try {
    return element.contentDocument ?? undefined;
  } catch {
    return undefined;
  }
};

/** `parentNode` that leaves shadow roots and frames. */
rondo.parentOf = (node) => node.parentNode ?? node.host ?? node.defaultView?.frameElement ?? undefined;

rondo.contains = (outer, inner) => {
  for (let node = inner; node; node = rondo.parentOf(node)) if (node === outer) return true;
  return false;
};

/** A point of the element that a click reaches: nothing else covers it there. */
rondo.pointOn = (element) => {
  const box = rondo.visibleBox(element);
  if (!box) return undefined;
  const points = [0.5, 0.25, 0.75].flatMap((down) =>
    [0.5, 0.25, 0.75].map((across) => ({
      x: box.left + (box.right - box.left) * across,
      y: box.top + (box.bottom - box.top) * down,
    })),
  );
  return points.find(({ x, y }) => {
    const hit = rondo.elementAt(x, y);
    return hit && (rondo.contains(element, hit) || hit.control === element);
  });
};
