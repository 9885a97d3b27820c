/** The most characters of one value, and of all text that a template renders. */
const longestValue = 20_000;
export const longestRendered = 100_000;

const placeholder = /\{\{\s*([^{}\s]+)\s*\}\}/g;

/** What is wrong with a template whose first names must be among `roots`. Undefined when nothing is. */
export function templateProblem(template: string, roots: readonly string[]): string | undefined {
  if (template.replaceAll(placeholder, '').includes('{{')) return 'has {{ without a {{path.to.field}}';
  for (const [, path = ''] of template.matchAll(placeholder)) {
    const [root = '', ...rest] = path.split('.');
    if (!roots.includes(root)) return `has {{${path}}}, which must begin with ${roots.join(' or ')}`;
    if (rest.includes('')) return `has {{${path}}}, which is no path`;
  }
  return undefined;
}

/**
 * Replaces each `{{path.to.field}}` by the value at that path: a text as it is, anything else as JSON, and nothing where
 * there is no value. Values are data: a `{{` in them stays as it is, and only properties of their own are read.
 */
export function renderTemplate(template: string, data: Readonly<Record<string, unknown>>): string {
  const rendered = template.replaceAll(placeholder, (_, path: string) => toText(valueAt(data, path.split('.'))));
  return boundText(rendered, longestRendered).replaceAll(/[\0\p{Surrogate}]/gu, '\u{FFFD}'); // no text column can hold these
}

function valueAt(data: unknown, path: readonly string[]): unknown {
  let value = data;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name]; // it has this property
  }
  return value;
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return boundText(typeof value === 'string' ? value : JSON.stringify(value), longestValue);
}

const boundText = (text: string, most: number): string =>
  text.length <= most
    ? text
    : `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}… (${text.length} characters in all)`;
