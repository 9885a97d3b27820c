const introduction = `# Tools

Every tool, from the catalog in \`libs/domain/src/tools/catalog.ts\`; \`npm run docs\` writes this page. \`GET /v1/tools\` lists the same,
and says of each tool whether this deployment can run it. How a run chooses its tools: [profiles](profiles.md#tools). What the
tools for pages, documents and images do exactly: [web tools](web-tools.md). How to write one: [add a tool](add-a-tool.md).

The effect class says how harmful a second execution is ([effect classes](reliability.md#effect-classes)).

## Limits

The longest time of a call, the longest text of a result that a model is shown, and what only one call of a thread uses at a time;
all other calls run beside each other. \`limits.tool_timeout_s\` of a run (120 s) and
[\`timeout_s\` of a tool](profiles.md#policies-of-tools) shorten the time. Other names of a tool have its limits.
`;

/** What the deployment must have for a tool, by its `needs`. */
const needs = {
  search_engine: 'a [search engine](web-tools.md#search-engines)',
  data_providers: '`RAPIDAPI_KEY`',
  internet: 'sandboxes that reach something: `SANDBOX_EGRESS`',
  browser: '[Chromium](browser.md)',
  previews: '[previews](previews.md)',
  sites: '`PREVIEW_URL`',
  transcription: 'a service that [writes down speech](web-tools.md#sound-and-videos)',
};

const withoutExecutor = { loop: 'answered by the worker', child_run: 'a run of its own' };

/**
 * docs/tools.md.
 *
 * @param {Pick<typeof import('@rondo/domain'), 'tools' | 'profiles' | 'argumentsSchema' | 'usualOutputCharacters'>} domain
 * @returns {string}
 */
export function toolReference({ tools, profiles, argumentsSchema, usualOutputCharacters }) {
  const groups = listGroups(tools);
  const effects = new Map(tools.map(({ name, effect }) => [name, effect]));
  const sections = [...groups].map(([group, members]) => {
    const parts = members.map((tool) => toSection(tool, { profiles, effects, schema: argumentsSchema(tool) }));
    return `## ${group}\n\n${parts.join('\n')}`;
  });
  return [introduction, toLimits(tools, usualOutputCharacters), ...sections].join('\n');
}

/** A row for each tool that is not another name, and one for those of MCP servers. */
function toLimits(tools, usualCharacters) {
  const rows = tools
    .filter(({ alias }) => !alias)
    .map(({ name, effect, runsIn, timeoutMs, outputCharacters = usualCharacters, exclusive }) => [
      `[\`${name}\`](#${name})`,
      effectIn(effect),
      ...(runsIn in withoutExecutor
        ? [withoutExecutor[runsIn], '', '']
        : [`${timeoutMs / 1_000} s`, toCharacters(outputCharacters), exclusive ?? 'nothing']),
    ]);
  rows.push([
    '[tools of MCP servers](mcp.md)',
    '`unsafe`, or what a trusted server says',
    '600 s',
    toCharacters(usualCharacters),
    'nothing',
  ]);
  const table = rows.map((cells) => `| ${cells.join(' | ')} |`.replaceAll('  ', ' ')).join('\n');
  return `| tool | effect class | time | characters | one at a time |\n|---|---|---|---|---|\n${table}\n`;
}

const toCharacters = (count) => count.toLocaleString('en');

function toSection({ name, description, ...tool }, { profiles, effects, schema }) {
  const facts = [
    tool.alias && `another name of [\`${tool.alias.of}\`](#${tool.alias.of})`,
    `effect class ${effectIn(effects.get(tool.alias?.of ?? name))}`,
    withoutExecutor[tool.runsIn] ?? `at most ${tool.timeoutMs / 1_000} s`,
    listProfiles(name, profiles),
    tool.needs && `needs ${toNeed(tool.needs)}`,
  ];
  return `### ${name}\n\n${description}\n\n${facts.filter(Boolean).join('; ')}.\n${toTable(schema)}`;
}

const effectIn = (effect) => (typeof effect === 'string' ? `\`${effect}\`` : 'by the arguments');

function toNeed(need) {
  if (!(need in needs))
    throw new Error(`deploy/local/documents/tool-reference.mjs does not describe the need ${need}.`);
  return needs[need];
}

function listProfiles(name, profiles) {
  const names = Object.keys(profiles).filter((profile) => profiles[profile].settings.tools.includes(name));
  return names.length > 0
    ? `in the profiles ${names.map((one) => `\`${one}\``).join(', ')}`
    : 'in no profile by default';
}

function toTable({ properties = {}, required = [] }) {
  const rows = Object.entries(properties).map(([name, { description = '', ...schema }]) => {
    const cells = [`\`${name}\``, required.includes(name) ? 'yes' : '', `\`${JSON.stringify(schema)}\``, description];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`.replaceAll('  ', ' ');
  });
  if (rows.length === 0) return '';
  return `\n| parameter | required | schema | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

/** In the order of the catalog. */
function listGroups(tools) {
  const groups = new Map();
  for (const tool of tools) groups.set(tool.group, [...(groups.get(tool.group) ?? []), tool]);
  return groups;
}
