import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { repoRoot } from '../repo-root.mjs';

const sourceFolders = ['apps', 'deploy', 'docs', 'libs', 'prisma'];
const notSource = new Set(['node_modules', 'dist', 'generated', '.data', '.nx', '.git']);

const link = /\[[^\]]*\]\(([^()\s]+(?:\([^()\s]*\))?)\)/g;
const code = /`([^`\n]+)`/g;
const pathFromRoot = new RegExp(`^(?:${sourceFolders.join('|')})/[\\w@./-]+$`);
const fileName = /^[\w@-][\w@./-]*\.(?:ts|mjs|cjs|md|yml|sql|prisma)$/;

/** A step of `npm run check` and `npm test`. */
export function checkDocuments() {
  const broken = brokenReferences(repoRoot);
  if (broken.length > 0) throw new Error(broken.join('\n'));
}

/**
 * Links and file names in the Markdown files that lead nowhere, as `file:line: what`. A link must name an existing file
 * and heading. A file name in backticks must be a path from the root, or the end of the path of some source file.
 *
 * @param {string} root
 * @returns {string[]}
 */
export function brokenReferences(root) {
  const files = listFiles(root);
  const isFileName = (name) => files.some((file) => file === name || file.endsWith(`/${name}`));
  return files
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      withoutCodeBlocks(readFileSync(join(root, file), 'utf8')).flatMap((line, index) => [
        ...listTargets(line)
          .filter((target) => !leadsSomewhere(join(root, file), target))
          .map((target) => `${file}:${index + 1}: ${target}`),
        ...wordsInBackticks(line)
          .filter((word) =>
            pathFromRoot.test(word) ? !existsSync(join(root, word)) : fileName.test(word) && !isFileName(word),
          )
          .map((word) => `${file}:${index + 1}: \`${word}\``),
      ]),
    );
}

function listFiles(root) {
  const files = [];
  const visit = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isFile()) files.push(relative(root, path));
      else if (entry.isDirectory() && !notSource.has(entry.name)) visit(path);
    }
  };
  visit(root);
  return files;
}

/** The lines of a document; those of code blocks are empty, so that line numbers stay. */
function withoutCodeBlocks(text) {
  let inBlock = false;
  return text.split('\n').map((line) => {
    const isFence = line.trimStart().startsWith('```');
    if (isFence) inBlock = !inBlock;
    return inBlock || isFence ? '' : line;
  });
}

const listTargets = (line) =>
  [...line.replace(code, '').matchAll(link)].map(([, target]) => target).filter((target) => !/^\w+:/.test(target));

const wordsInBackticks = (line) => [...line.matchAll(code)].flatMap(([, text]) => text.split(/[\s,]+/));

function leadsSomewhere(file, target) {
  const [path, anchor] = target.split('#');
  const destination = path === '' ? file : resolve(dirname(file), path);
  if (!existsSync(destination)) return false;
  return anchor === undefined || toAnchors(readFileSync(destination, 'utf8')).includes(anchor);
}

/** As GitHub derives them from headings. */
const toAnchors = (text) =>
  withoutCodeBlocks(text)
    .filter((line) => /^#+ /.test(line))
    .map((line) =>
      line
        .replace(/^#+ /, '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    );
