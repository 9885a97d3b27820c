import { basename, dirname } from 'node:path';

const maxLines = 60;

/**
 * The folders whose small files are not merged yet, each without those below it, and files that stay on their own. The
 * list only shrinks: an entry without such a file is refused.
 */
const notMerged = new Set([
  'apps/bench/src/measures',
  'apps/chaos/src/experiments',
  'apps/cli/src/evaluation',
  'apps/demo-model/src',
  'apps/gateway/src/auth/oidc',
  'apps/gateway/src/billing',
  'apps/gateway/src/console',
  'apps/gateway/src/files',
  'apps/gateway/src/previews',
  'apps/gateway/src/projects',
  'apps/tool-executor/src',
  'apps/tool-executor/src/mcp',
  'apps/tool-executor/src/sandboxes/daytona',
  'apps/tool-executor/src/sandboxes/embedded',
  'apps/tool-executor/src/sandboxes/host',
  'apps/tool-executor/src/sandboxes/provider',
  'apps/tool-executor/src/tools/browser',
  'apps/tool-executor/src/tools/web',
  'libs/contract/src',
  'libs/llm/src/tokens',
  'libs/persistence/src/api/files',
  'libs/persistence/src/api/runs',
  'libs/persistence/src/run-log/ledger-rows.ts',
  'libs/platform/src/health',
  'libs/test-deployment/src',
]);

/**
 * The files that belong into their only importer: it is in the same folder, and they have at most 60 lines and no spec of
 * their own. What an index exports is for other projects, so an index does not count as the importer.
 */
export function smallFiles(graph) {
  const specs = graph.files.filter((file) => file.endsWith('.spec.ts'));
  const hasSpec = (file) => specs.some((spec) => spec.startsWith(file.replace(/ts$/, '')));
  return graph.files.filter(isSource).flatMap((file) => {
    const [importer, ...others] = graph.importers(file).filter(isSource);
    const isPartOfIt = importer && others.length === 0 && dirname(importer) === dirname(file);
    if (!isPartOfIt || basename(importer) === 'index.ts') return [];
    return graph.lines(file) <= maxLines && !hasSpec(file) ? [{ file, importer }] : [];
  });
}

/** What is wrong, a line each. */
export function refusedSmallFiles(graph) {
  const found = smallFiles(graph);
  const entryFor = ({ file }) => [file, dirname(file)].find((entry) => notMerged.has(entry));
  const used = new Set(found.map(entryFor));
  return [
    ...found
      .filter((small) => entryFor(small) === undefined)
      .map(
        ({ file, importer }) => `${file}: merge it into ${importer}, its only importer, or give it a spec of its own`,
      ),
    ...[...notMerged]
      .filter((entry) => !used.has(entry))
      .map(
        (entry) =>
          `deploy/local/checks/small-files.mjs: remove ${entry} from the list, because no small file is left there`,
      ),
  ];
}

/** Not those of the console: its importers are mostly `.tsx` files, which the graph does not read. */
const isSource = (file) => !/^apps\/console\/|(\.|-)spec\.ts$|\.contract\.ts$|\/(testing|fixtures)\//.test(file);
