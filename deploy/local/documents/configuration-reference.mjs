import { z } from 'zod';

const beginning = '<!-- `npm run docs` writes from here … -->';
const end = '<!-- … to here. -->';

/**
 * docs/configuration.md with regenerated tables.
 *
 * @typedef {Readonly<Record<string, z.ZodObject>>} Environments the schemas by service
 *
 * @param {string} document
 * @param {Environments} environments
 */
export function withTables(document, environments) {
  const [before, rest] = document.split(beginning);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error('docs/configuration.md has lost the marks around its tables.');
  const tables = listGroups(environments).map(({ title, variables }) => `## ${title}\n\n${toTable(variables)}\n`);
  return [before, beginning, '\n\n', tables.join('\n'), '\n', end, after].join('');
}

/**
 * .env.example.
 *
 * @param {Environments} environments
 */
export function toExample(environments) {
  const about =
    '# Every variable; docs/configuration.md says more. Copy what you change into .env.\n# `npm run docs` writes this.\n';
  const groups = listGroups(environments).map(
    ({ title, variables }) => `## ${title}\n\n${variables.map(toLine).join('\n')}`,
  );
  return [about, ...groups].join('\n');
}

/** Variables of several services come first, each once. */
function listGroups(environments) {
  const variables = listVariables(environments);
  const own = (service) => variables.filter(({ defaults }) => defaults.size === 1 && defaults.has(service));
  const groups = [
    { title: 'Several services', variables: variables.filter(({ defaults }) => defaults.size > 1) },
    ...Object.keys(environments).map((service) => ({ title: service, variables: own(service) })),
  ];
  return groups.filter(({ variables }) => variables.length > 0);
}

/** Each variable once, with its description and its default by service. */
function listVariables(environments) {
  const variables = new Map();
  for (const [service, environment] of Object.entries(environments)) {
    const { properties, required = [] } = z.toJSONSchema(environment, { io: 'input', unrepresentable: 'any' });
    for (const [name, facts] of Object.entries(properties)) {
      if (!facts.description) throw new Error(`${name} of ${service} is not described.`);
      const variable = variables.get(name) ?? { name, facts, defaults: new Map() };
      variable.defaults.set(service, required.includes(name) ? 'must be given' : toDefault(facts));
      variables.set(name, variable);
    }
  }
  return [...variables.values()];
}

const toDefault = ({ otherwise, default: value }) => otherwise ?? `\`${value}\``;

function toTable(variables) {
  const rows = variables.map(({ name, facts, defaults }) => [
    `\`${name}\``,
    toServices(defaults),
    facts.description + (facts.example === undefined ? '' : ` For example \`${facts.example}\`.`),
    defaultsIn(defaults),
    toValues(facts),
  ]);
  const areShared = variables.some(({ defaults }) => defaults.size > 1);
  const all = [['variable', 'of', 'what it is', 'default', 'values'], ...rows];
  const [head, ...lines] = (areShared ? all : all.map(([name, , ...cells]) => [name, ...cells])).map(
    (cells) => `| ${cells.join(' | ')} |`.replaceAll('  ', ' '), // an empty cell is a single space
  );
  return [head, `|${'---|'.repeat(areShared ? 5 : 4)}`, ...lines].join('\n');
}

function toLine({ name, facts, defaults }) {
  const value = String(facts.example ?? (facts.otherwise === undefined ? facts.default : undefined) ?? '');
  const values = toValues(facts);
  const about = [facts.description, `Default: ${defaultsIn(defaults)}.`, values && `Values: ${values}.`];
  const quoted = /["\s#]/.test(value) ? `'${value}'` : value;
  return `# ${about.filter(Boolean).join(' ').replaceAll('**', '')}\n#${name}=${quoted}\n`;
}

const toServices = (defaults) => [...defaults.keys()].join(', ');

/** One text if the value is the same for all services. */
function defaultsIn(defaults) {
  const texts = [...new Set(defaults.values())];
  if (texts.length === 1) return texts[0];
  const ofWhom = (text) => toServices(new Map([...defaults].filter(([, own]) => own === text)));
  return texts.map((text) => `${text} (${ofWhom(text)})`).join('; ');
}

function toValues({ type, unit, enum: names, minLength = 0, ...bounds }) {
  if (names) return names.map((name) => `\`${name}\``).join(', ');
  if (type === 'string') return minLength > 1 ? `at least ${minLength} characters` : '';
  return [unit, toRange({ type, ...bounds })].filter(Boolean).join(', ');
}

function toRange({ type, minimum, exclusiveMinimum, maximum }) {
  const whole = type === 'integer';
  if (minimum === undefined && exclusiveMinimum === undefined) return '';
  const least = minimum ?? (whole ? exclusiveMinimum + 1 : undefined);
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const range = least === undefined ? `more than ${exclusiveMinimum}` : `at least ${least}`;
  return `${whole ? 'whole, ' : ''}${most === undefined ? range : `${least} to ${most}`}`;
}
