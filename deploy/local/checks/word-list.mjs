import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * Words that this project does not use in code, tests or documents: private words for which the field has a standard term,
 * indefinite persons, codes that refer to lists outside the repository, and names of functions that end in "Of". docs/glossary.md has
 * the words to use.
 *
 * A script instead of cspell or Vale, because it splits identifiers into words (`RunHouse`, `run_house`), and supports
 * phrases, codes and exceptions by place. cspell matches single words only and brings 110 packages; Vale does not read
 * identifiers. This takes half a second for the whole repository.
 */
const refused = [
  { words: 'whoever|nobody|somebody|anybody', say: 'who it is: the client, a worker, an operator, no process' },
  { words: 'desks?|clerks?|lookouts?|scribes?|houses?|household|houseful', say: 'the standard term' },
  { words: 'rooms?|doors?', say: 'subscribers, capacity, project or endpoint' },
  { words: 'hands(?! (it|them|the|a|an|on|out|over|off|back|its|each|that|what|in)\\b)', say: 'tools or executor' },
  { words: 'all hands|in hand|hand (of|from)', say: 'tools, executor or held' },
  { words: 'mint(s|ed|ing)?', say: 'generate' },
  { words: 'folds?|folded|folding', say: 'compact, summarize or reduce' },
  { words: 'roll call|presences?(?! penalty)', say: 'liveness lock' },
].map(({ words, say }) => ({ pattern: new RegExp(`\\b(${words})\\b`, 'gi'), say }));

/** A code such as (W36) or (I5, R25); invariants, I1 to I13, are defined in docs/reliability.md. */
const code =
  /\((?:[A-Z]{1,2}\d{1,2}[,–] ?)*(?!I\d)(?:W|LP|R|D|K|SM|S|LM|TR|JM|RP|TI|TS)\d{1,2}(?:[,–] ?[A-Z]{1,2}\d{1,2})*\)/g;

/** A declared name such as `folderOf`; not those of JavaScript and of JSON Schema. */
const nameInOf =
  /\b(?:const|let|function\*?|class|interface|type) (?!(?:value|index|lastIndex|one|any|all)Of\b)(\w*[a-z\d]Of)\b/g;

/** Where a word means something else: a user of Unix, a table of the database, a method of a package, a quotation. */
const allowed = [
  { place: /^apps\/tool-executor\//, text: /^(folded field|room for an)/ },
  { place: /^(apps\/tool-executor|deploy)\//, text: /nobody(:|\/|'|`)/ },
  { place: /^apps\/gateway\/src\/facades\/mcp\//, text: /^mint\(state/ },
  { place: /^(prisma|libs\/persistence|docs\/decisions)\//, text: /presences?/ },
];

const notRead = new Set([
  'node_modules',
  'dist',
  'generated',
  'coverage',
  'corpus',
  'licences',
  'recorded',
  '.git',
  '.nx',
  '.data',
]);
const notText = /\.(sql|jsonl?|png|lock|tsbuildinfo|db)$|^LICENSE$|word-list\.mjs$/; // migrations that ran cannot change

/** One line for each refused word in the files below these folders, or in all files. */
export function listRefusedWords(repoRoot, folders = ['.']) {
  const files = folders.flatMap((folder) => filesBelow(join(repoRoot, folder)));
  return files.flatMap((file) => {
    const name = relative(repoRoot, file);
    const lines = [name, ...readFileSync(file, 'utf8').split('\n')];
    return lines.flatMap((line, number) => findingsIn(line, name).map((finding) => `${name}:${number}: ${finding}`));
  });
}

function findingsIn(line, name) {
  const words = line.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll(/[_-]/g, ' ');
  const found = refused.flatMap(({ pattern, say }) =>
    [...words.matchAll(pattern)].filter((match) => !isAllowed(match, name)).map(([word]) => `"${word}"; say ${say}`),
  );
  return [
    ...found,
    ...[...line.matchAll(code)].map(([text]) => `${text}; write the reason itself`),
    ...[...line.matchAll(nameInOf)].map(([, declared]) => `${declared}; say findX, toX, readX or listX`),
  ];
}

const isAllowed = ({ 0: word, index, input }, name) =>
  allowed.some(({ place, text }) => place.test(name) && text.test(input.slice(index, index + word.length + 8)));

const filesBelow = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (notRead.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() && !notText.test(entry.name) ? [path] : [];
  });
