/** What is done to a page from inside it: finding the point of an element, lists of options, scrolling. */
const failure = (problem) => ({ problem });

function known(number) {
  const element = rondo.elements[number];
  if (!element) return failure(`There is no element ${number}; the page has ${rondo.elements.length}.`);
  if (!element.isConnected) return failure(`Element ${number} is not on the page any more. Look at the page again.`);
  return { element };
}

/** The point at which to click an element, which is scrolled into view first. */
rondo.locate = (number) => {
  const { element, problem } = known(number);
  if (problem) return failure(problem);
  if (!rondo.pointOn(element)) element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  const point = rondo.pointOn(element);
  if (!point) return failure(`Element ${number} is covered by something else, or not visible.`);
  return { point, tag: element.tagName, type: element.type };
};

/** Focuses a field and selects what is in it, so that what is typed replaces it. */
rondo.selectContent = (number) => {
  const { element, problem } = known(number);
  if (problem) return failure(problem);
  element.focus();
  return selectIn(element);
};

function selectIn(element) {
  if (element.select) element.select();
  else element.ownerDocument.getSelection().selectAllChildren(element);
  return {};
}

/** The element with the focus, inside open shadow roots and frames of the same origin too. */
function focused() {
  let element = document.activeElement;
  for (;;) {
    const inner = element && (element.shadowRoot ?? rondo.documentIn(element))?.activeElement;
    if (!inner) return element;
    element = inner;
  }
}

rondo.selectFocused = () => {
  const element = focused();
  const isField = element && (element.select || element.isContentEditable);
  return isField ? selectIn(element) : failure('No field has the focus. Click one first.');
};

function selectAt(number) {
  const { element, problem } = known(number);
  if (problem) return failure(problem);
  return element.tagName === 'SELECT' ? { element } : failure(`Element ${number} is no dropdown list.`);
}

rondo.options = (number) => {
  const { element, problem } = selectAt(number);
  if (problem) return failure(problem);
  return { options: [...element.options].slice(0, 500).map(({ text }) => text.trim().slice(0, 200)) };
};

/** `wanted` is its number, its text or its value. */
rondo.selectOption = (number, wanted) => {
  const { element, problem } = selectAt(number);
  if (problem) return failure(problem);
  const isWanted = (option) => option.text.trim() === wanted.trim() || option.value === wanted;
  const found = typeof wanted === 'number' ? element.options[wanted] : [...element.options].find(isWanted);
  if (!found) return failure(`There is no option ${JSON.stringify(wanted)}.`);
  element.value = found.value;
  found.selected = true;
  for (const name of ['input', 'change']) element.dispatchEvent(new Event(name, { bubbles: true, composed: true }));
  return { chosen: found.text.trim().slice(0, 200) };
};

/** The nearest scrollable element at the centre of the screen, else the document. */
function scrollable(pixels) {
  const centre = rondo.elementAt(window.innerWidth / 2, window.innerHeight / 2);
  for (let at = centre; at; at = rondo.parentOf(at)) {
    if (!(at instanceof Element) || at.scrollHeight <= at.clientHeight + 1) continue;
    const { overflowY } = getComputedStyle(at);
    const isRoot = at === document.scrollingElement;
    const canMove = pixels > 0 ? at.scrollTop + at.clientHeight < at.scrollHeight - 1 : at.scrollTop > 0;
    if (canMove && (isRoot || overflowY === 'auto' || overflowY === 'scroll')) return at;
  }
  return document.scrollingElement ?? document.documentElement;
}

rondo.scroll = (pixels) => {
  const element = scrollable(pixels);
  const before = element.scrollTop;
  element.scrollBy({ top: pixels, behavior: 'instant' });
  return { moved: Math.round(element.scrollTop - before) };
};

function textNodesIn(root, found) {
  const walker = (root.ownerDocument ?? root).createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node && found.length < 60_000; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) found.push(node);
    const inner = node.shadowRoot ?? (node.tagName && rondo.documentIn(node));
    if (inner) textNodesIn(inner, found);
  }
  return found;
}

rondo.scrollToText = (text) => {
  const wanted = text.toLowerCase();
  const isShown = ({ parentElement }) => parentElement?.checkVisibility?.() ?? false;
  const node = textNodesIn(document, []).find((each) => each.data.toLowerCase().includes(wanted) && isShown(each));
  if (!node) return failure(`The text ${JSON.stringify(text.slice(0, 200))} is not on the page.`);
  node.parentElement.scrollIntoView({ block: 'center', behavior: 'instant' });
  return {};
};
