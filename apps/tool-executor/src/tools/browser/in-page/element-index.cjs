/**
 * What of a page a model is shown: the text on the screen in the order of the document, and in it the elements that can be
 * used, numbered. All of it is bounded, since a page may be of any size.
 */
rondo.elements = [];

const limits = { elements: 250, nodes: 60_000, characters: 16_000, label: 120, text: 1_000 };
const usableTags = new Set(['A', 'BUTTON', 'INPUT', 'SELECT', 'TEXTAREA', 'SUMMARY', 'OPTION']);
const usableRoles = new Set(
  'button link checkbox radio tab menuitem menuitemcheckbox menuitemradio option switch combobox textbox searchbox slider spinbutton'.split(
    ' ',
  ),
);
const unseenTags = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'OPTION', 'DATALIST']);

const oneLine = (text, length = limits.label) => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length)}…` : line;
};

function isUsable(element, style) {
  if (element.disabled || element.type === 'hidden') return false;
  if (usableTags.has(element.tagName)) return element.tagName !== 'A' || element.hasAttribute('href');
  if (usableRoles.has(element.getAttribute('role'))) return true;
  if (element.hasAttribute('onclick') || element.tabIndex >= 0 || element.draggable)
    return element.tagName !== 'IFRAME';
  if (element.isContentEditable) return !element.parentElement?.isContentEditable;
  const parent = element.parentElement;
  return style.cursor === 'pointer' && (!parent || getComputedStyle(parent).cursor !== 'pointer');
}

function valueOf(element) {
  if (element.tagName === 'SELECT') return element.selectedOptions[0]?.text ?? '';
  if (element.type === 'password') return element.value && '•••';
  if (element.type === 'checkbox' || element.type === 'radio') return element.checked ? 'checked' : 'not checked';
  return element.tagName === 'INPUT' || element.tagName === 'TEXTAREA' ? element.value : undefined;
}

function listAttributes(element) {
  const href = element.tagName === 'A' ? element.getAttribute('href') : undefined;
  const shown = {
    type: element.tagName === 'INPUT' ? element.type : undefined,
    role: element.getAttribute('role') ?? undefined,
    href: href?.startsWith('javascript:') ? undefined : href,
    placeholder: element.placeholder || undefined,
    value: valueOf(element),
  };
  return Object.entries(shown)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => ` ${name}=${JSON.stringify(oneLine(String(value), 80))}`)
    .join('');
}

function findLabel(element) {
  const own = element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText;
  if (own) return oneLine(own);
  if (element.tagName === 'SELECT' || element.tagName === 'TEXTAREA') return oneLine(element.name ?? '');
  const picture = element.querySelector('img[alt]')?.alt;
  return oneLine(element.innerText || picture || element.title || element.name || element.id || '');
}

function described(element, number) {
  const tag = element.tagName.toLowerCase();
  return `[${number}]<${tag}${listAttributes(element)}>${findLabel(element)}</${tag}>`;
}

/** Text that looks like a numbered element is marked, so that a page cannot invent elements. */
const asText = (text) => oneLine(text, limits.text).replace(/\[(?=\d+\]<)/g, '\\[');

function textBox(node) {
  const range = node.ownerDocument.createRange();
  range.selectNodeContents(node);
  return rondo.visiblePart(range.getBoundingClientRect(), rondo.offsetOf(node.ownerDocument.defaultView));
}

class Listing {
  lines = [];
  characters = 0;
  nodes = 0;

  get isFull() {
    return this.nodes > limits.nodes || this.characters > limits.characters;
  }

  visit(node, isInside) {
    this.nodes += 1;
    if (this.isFull) return;
    if (node.nodeType === Node.TEXT_NODE) return this.addText(node, isInside);
    if (node.nodeType !== Node.ELEMENT_NODE) return this.visitChildren(node, isInside);
    if (unseenTags.has(node.tagName)) return;
    const style = getComputedStyle(node);
    if (style.display === 'none') return;
    const isListed = style.visibility === 'visible' && isUsable(node, style) && this.addElement(node);
    this.visitChildren(node, isInside || isListed);
    const inner = rondo.documentIn(node)?.documentElement;
    if (node.shadowRoot) this.visitChildren(node.shadowRoot, isInside || isListed);
    if (inner) this.visit(inner, isInside);
  }

  visitChildren(node, isInside) {
    for (let child = node.firstChild; child && !this.isFull; child = child.nextSibling) this.visit(child, isInside);
  }

  addElement(element) {
    if (rondo.elements.length >= limits.elements || !rondo.pointOn(element)) return false;
    this.add(described(element, rondo.elements.push(element) - 1));
    return true;
  }

  addText(node, isInside) {
    if (isInside || !node.data.trim()) return;
    const parent = node.parentElement;
    if (parent && getComputedStyle(parent).visibility !== 'visible') return;
    if (textBox(node)) this.add(asText(node.data));
  }

  add(line) {
    this.lines.push(line);
    this.characters += line.length + 1;
  }
}

rondo.describe = () => {
  rondo.elements = [];
  const listing = new Listing();
  if (document.documentElement) listing.visit(document.documentElement, false);
  const scrolled = document.scrollingElement ?? document.documentElement;
  const below = scrolled ? scrolled.scrollHeight - window.innerHeight - scrolled.scrollTop : 0;
  return {
    url: location.href.slice(0, 2_000),
    title: document.title.slice(0, 500),
    elements: listing.lines.join('\n'),
    element_count: rondo.elements.length,
    is_cut: listing.isFull || rondo.elements.length >= limits.elements,
    pixels_above: Math.round(scrolled?.scrollTop ?? 0),
    pixels_below: Math.max(0, Math.round(below)),
    status: performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0,
  };
};
