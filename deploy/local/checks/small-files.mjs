import { basename, dirname } from 'node:path';

const maxLines = 60;

/** An index exports to other projects, and a file such as all-experiments.ts lists what has a file each. */
const isList = (file) => /^(index|all-[a-z-]+)\.ts$/.test(basename(file));

const isSource = (file) => !/(\.|-)spec\.tsx?$|\.contract\.ts$|\/(testing|fixtures)\//.test(file);

/** `process.env` is read in `config.ts` only. */
const isConfig = (file) => basename(file) === 'config.ts';

/**
 * The files that belong into their only importer: it is in the same folder, and they have at most 60 lines and no spec of
 * their own. A file that loads another later, to be started without it, does not count as its importer; nor does a list.
 */
export function listRefusedSmallFiles(graph) {
  const specs = graph.files.filter((file) => /\.spec\.tsx?$/.test(file));
  const hasSpec = (file) => specs.some((spec) => spec.startsWith(file.replace(/tsx?$/, '')));
  return graph.files.filter(isSource).flatMap((file) => {
    const [importer, ...others] = graph.importers(file).filter(isSource);
    const isPartOfIt = importer && others.length === 0 && dirname(importer) === dirname(file);
    if (!isPartOfIt || isList(importer) || isConfig(file) || graph.loadsLater(importer, file)) return [];
    if (graph.lines(file) > maxLines || hasSpec(file)) return [];
    return [`${file}: merge it into ${importer}, its only importer, or give it a spec of its own`];
  });
}
