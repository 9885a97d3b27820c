import { posix } from 'node:path';
import { toFailedResult } from '@rondo/contract';
import { toShownPath } from '../../sandboxes';
import { aboutFile } from '../files/about-file';
import { type ToolInput, type ToolHandler, toSuccess } from '../tool-handler';
import { readSnapshot } from './snapshot';

const notConfigured = 'Sites cannot be published here: the operator has set no PREVIEW_URL.';
const whatHelps = 'Deploy only what people need to see, or take another site down with undeploy.';

export const deploy: ToolHandler<ToolInput<'deploy'>> = {
  handle: (input, { sandbox, sites }) =>
    aboutFile(
      input.directory_path,
      async (path) => {
        if (!sites) return toFailedResult(notConfigured);
        const name = input.name ?? toName(path);
        const source = await readSnapshot(sandbox.files, path);
        const site = await sites.publish(name, source);
        const isFile = site.index !== 'index.html';
        const hasPage = site.files.some((file) => file.path === site.index);
        const url = isFile ? `${site.url}/${encodeURIComponent(site.index)}` : site.url;
        const message = hasPage
          ? `Published ${source.count} files. Everyone who has the URL can open it, until undeploy.`
          : `Published ${source.count} files, but no index.html: the URL itself shows nothing, its files are below it.`;
        return toSuccess(JSON.stringify({ url, name, message }, null, 2));
      },
      whatHelps,
    ),
};

export const undeploy: ToolHandler<ToolInput<'undeploy'>> = {
  handle: async ({ name }, { sites }) => {
    if (!sites) return toFailedResult(notConfigured);
    const message = (await sites.withdraw(name)) ? `${name} was taken down.` : `There is no site ${name}.`;
    return toSuccess(message);
  },
};

const toName = (path: string): string => (toShownPath(path) === '.' ? 'workspace' : posix.basename(path)).slice(0, 64);
