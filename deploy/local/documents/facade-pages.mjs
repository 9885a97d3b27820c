/** What `npm run docs` writes of the façades: the program at the beginning of a page, and the tables of what is served. */

const begin = '<!-- generated: npm run docs -->';
const end = '<!-- end -->';

/** The page of a façade with its generated parts. */
export function withFacadeParts(page, { program, coverage }) {
  const parts = [`\`\`\`js\n${program}\`\`\``, toTables(coverage)];
  let at = 0;
  return page.replaceAll(new RegExp(`${begin}.*?${end}`, 'gs'), () => `${begin}\n${parts[at++]}\n${end}`);
}

function toTables({ path, routes, refusedRoutes, requests }) {
  const served = toTable(
    ['served below `' + path + '`', ''],
    Object.entries(routes).map(([route, what]) => [code(route), what]),
  );
  const fields = Object.entries(requests).map(([request, { served, refused }]) =>
    toTable(
      [`field of ${request.includes('`') ? request : code(request)}`, ''],
      [
        ...Object.entries(served).map(([names, what]) => [names.split(', ').map(code).join(', '), what]),
        ...Object.entries(refused).map(([name, refusal]) => [code(name), describe(refusal)]),
      ],
    ),
  );
  const refused = Object.entries(refusedRoutes).map(([route, why]) => [code(route.replace('* ', '')), why]);
  return [served, ...fields, ...(refused.length > 0 ? [toTable(['not served', 'because'], refused)] : [])].join('\n\n');
}

const describe = ({ why, harmless = [] }) =>
  `refused: ${why}${harmless.length > 0 ? ` (${harmless.map((value) => code(JSON.stringify(value))).join(', ')} is accepted)` : ''}`;

const code = (text) => `\`${text}\``;

const toTable = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
