import { CORE_SCHEMA, dump } from 'js-yaml';
import { z } from 'zod';
import { podSettings } from '../../helm/pod-settings.mjs';
import { values } from '../../helm/values.mjs';

/** What Helm checks values by. Numbers without a bound of their own have none. */
const schema = z.toJSONSchema(values, {
  target: 'draft-7',
  io: 'input',
  override: ({ jsonSchema }) => {
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  },
});

/** values.schema.json of the chart. */
export const helmValuesSchema = () => `${JSON.stringify(schema, null, 2)}\n`;

/** values.yaml of the chart: every default, with what the value says. */
export const helmValuesDefaults = () =>
  [
    '# `npm run docs` writes this file from deploy/helm/values.mjs. docs/helm-values.md lists the same values.',
    '# The Secret: `npm run --silent helm-secrets -- --executors 4 > rondo.env`, then',
    '# `kubectl create secret generic rondo --from-env-file=rondo.env`.',
    `# Under each service also: ${Object.keys(podSettings).join(', ')}.`,
    '',
    ...toLines(schema),
    '',
  ].join('\n');

function toLines({ properties }, indent = '') {
  return Object.entries(properties).flatMap(([key, property]) => {
    if (isGroup(property)) {
      const lines = toLines(property, `${indent}  `);
      return lines.length > 0 ? [`${indent}${key}:`, ...lines] : [];
    }
    if (property.default === undefined) return [];
    const value = dump(property.default, { schema: CORE_SCHEMA, flowLevel: 0, lineWidth: -1 }).trimEnd();
    return [`${indent}# ${property.description}`, `${indent}${key}: ${value}`];
  });
}

/** docs/helm-values.md: every value of the chart, what it says, and its default. */
export function helmValuesReference() {
  const rows = toRows(schema);
  const isCommon = ({ name }) => name in podSettings;
  const services = Object.keys(schema.properties).filter(
    (name) => name !== 'bundled' && 'nodeSelector' in (schema.properties[name].properties ?? {}),
  );
  return `# Values of the Helm chart

\`npm run docs\` writes this page from \`deploy/helm/values.mjs\`, as it does the chart's \`values.yaml\` and \`values.schema.json\`. How to
install the chart: [Kubernetes](kubernetes.md).

## Of pods

At the top these hold for all pods of the chart; under ${services.map((name) => `\`${name}\``).join(', ')} and \`bundled\` for those
pods alone: \`toolExecutor.nodeSelector\`. What is said there is merged into a map of the top, added to a list, and replaces everything
else.

${toTable(rows.filter(isCommon))}

## All others

${toTable(rows.filter((row) => !isCommon(row)))}
`;
}

const toTable = (rows) =>
  [
    '| value | what it says | default |',
    '|---|---|---|',
    ...rows.map(({ name, about, value }) => `| \`${name}\` | ${about} | ${toCode(value)} |`),
  ].join('\n');

function toRows({ properties }, path = []) {
  return Object.entries(properties).flatMap(([key, property]) => {
    const name = [...path, key];
    if (isGroup(property)) return toRows(property, name);
    if (path.length > 0 && key in podSettings && property.default === undefined) return [];
    const choices = property.enum ? ` One of ${property.enum.map((choice) => `\`${choice}\``).join(', ')}.` : '';
    return [{ name: name.join('.'), about: `${property.description}${choices}`, value: property.default }];
  });
}

/** Values that belong together. A value of Kubernetes has no properties of its own here. */
const isGroup = ({ properties }) => Object.keys(properties ?? {}).length > 0;

const toCode = (value) =>
  value === undefined || value === '' ? '' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
