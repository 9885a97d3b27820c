import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const modules = 'node_modules/';
const texts = join(import.meta.dirname, 'licences');
const isLicence = (file) => /^(licen[cs]e|copying|notice)([.-]|$)/i.test(file);
const ownText = readFileSync(join(import.meta.dirname, '../../LICENSE'), 'utf8');

const permission = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR
ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH
THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

const exchange = `libvips and the libraries in it are a shared library of this package, which sharp loads when it starts, and nothing is linked with them.
To use a modified libvips, build it and put it in the place of lib/libvips-cpp.so.* of this package, or build sharp against a libvips of
the system (https://sharp.pixelplumbing.com/install, "Building from source"). Its source code: https://github.com/lovell/sharp-libvips
and the versions that versions.json of this package lists.`;

/** The text of a licence for packages that ship none, by its name of SPDX; `holder` is who has the copyright. */
const usualTexts = {
  MIT: (holder) => `Copyright (c) ${holder}\n\n${permission}`,
  ISC: (holder) =>
    `Copyright (c) ${holder}\n\nPermission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that\nthe above copyright notice and this permission notice appear in all copies.\n\nTHE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES\nOF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR\nANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS\nACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.`,
  'Apache-2.0': () => ownText,
  'LGPL-3.0-or-later': () =>
    [exchange, ...['LGPL-3.0.txt', 'GPL-3.0.txt'].map((file) => readFileSync(join(texts, file), 'utf8'))].join('\n\n'),
};

/**
 * The licences of packages as one text, each with its own text. `places` are folders below `root`: `node_modules/a`. Throws for a
 * package that ships no text and whose licence has no usual one.
 */
export function thirdPartyNotices(root, places) {
  const entries = [...new Set(places)].sort().map((place) => readEntry(root, place));
  return `What this software contains of others, and under which licences.\n\n${entries.join('\n')}`;
}

/** The place of the package that a file belongs to; undefined for a file of the repository itself. */
export function placeOfPackage(file) {
  const at = file.lastIndexOf(modules);
  if (at < 0) return undefined;
  const [scopeOrName, name] = file.slice(at + modules.length).split('/');
  const own = file.slice(file.indexOf(modules), at + modules.length);
  return `${own}${scopeOrName.startsWith('@') ? `${scopeOrName}/${name}` : scopeOrName}`;
}

function readEntry(root, place) {
  const folder = join(root, place);
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const shipped = readdirSync(folder)
    .filter(isLicence)
    .filter((file) => existsSync(join(folder, file)));
  const holder = (typeof author === 'string' ? author : author?.name) ?? `the authors of ${name}`;
  const found = shipped.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const text = found.length > 0 ? found.join('\n\n') : usualTexts[license]?.(holder);
  if (text === undefined) throw new Error(`${place} ships no licence, and there is no usual text for ${license}.`);
  return `${'='.repeat(80)}\n${name} ${version} (${license ?? 'see below'})\n${'='.repeat(80)}\n\n${text}\n`;
}
