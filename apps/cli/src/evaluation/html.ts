import { encodeEntities } from '@rondo/domain';

/** Cells are HTML already: names, questions and what models wrote are hostile, and were encoded. */
export function toTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (tag: string, cells: readonly string[]) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<table>\n${[row('th', titles.map(encodeEntities)), ...rows.map((cells) => row('td', cells))].join('\n')}\n</table>`;
}

/** The policy allows nothing but the style of the page, so that no text can load or run anything. */
export const toPage = (title: string, style: string, parts: readonly string[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${encodeEntities(title)}</title>
<style>
${style}</style>
</head>
<body>
${parts.join('\n')}
</body>
</html>
`;
