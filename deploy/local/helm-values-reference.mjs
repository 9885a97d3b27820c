import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CORE_SCHEMA, load } from 'js-yaml';
import { repoRoot } from './repo-root.mjs';

const chart = join(repoRoot, 'deploy/helm/rondo');

/** docs/helm-values.md: every value of the chart, as its schema describes it, with its default. */
export function helmValuesReference() {
  const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8'));
  const values = load(readFileSync(join(chart, 'values.yaml'), 'utf8'), { schema: CORE_SCHEMA });
  const rows = leavesOf(schema, values).map(
    ({ name, about, value }) => `| \`${name}\` | ${about} | ${codeOf(value)} |`,
  );
  return `# Values of the Helm chart

\`npm run docs\` writes this page from \`deploy/helm/rondo/values.schema.json\` and \`values.yaml\`. How to install the chart:
[Kubernetes](kubernetes.md).

| value | what it says | default |
|---|---|---|
${rows.join('\n')}
`;
}

function leavesOf({ properties = {} }, values, path = []) {
  return Object.entries(properties).flatMap(([key, schema]) => {
    const name = [...path, key];
    if (schema.properties) return leavesOf(schema, values?.[key], name);
    if (values?.[key] === undefined) return []; // such as `global`, which belongs to charts that contain this one
    const choices = schema.enum ? ` One of ${schema.enum.map((choice) => `\`${choice}\``).join(', ')}.` : '';
    return [{ name: name.join('.'), about: `${schema.description}${choices}`, value: values[key] }];
  });
}

const codeOf = (value) => (value === '' ? '' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``);
