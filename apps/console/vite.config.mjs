import { relative, resolve } from 'node:path';
import { defineConfig } from 'vite';
import { placeOfPackage, thirdPartyNotices } from '../../deploy/images/third-party-notices.mjs';

const root = resolve(import.meta.dirname, '../..');

/** Licences of what is bundled ask that their texts are given with it. */
const notices = {
  name: 'third-party-notices',
  generateBundle(_, bundle) {
    const files = Object.values(bundle).flatMap(({ moduleIds = [] }) => moduleIds);
    const places = files.flatMap((file) => placeOfPackage(relative(root, file.replace(/^\0/, ''))) ?? []);
    this.emitFile({ type: 'asset', fileName: 'THIRD_PARTY_NOTICES.txt', source: thirdPartyNotices(root, places) });
  },
};

/**
 * Static files for the gateway's `/console/`, which name each other relatively, for proxies that put it below a path. Nothing is inlined, because its
 * Content-Security-Policy refuses what is.
 */
export default defineConfig({
  base: './',
  plugins: [notices],
  resolve: { conditions: ['@rondo/source', 'module', 'browser', 'production'] },
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // A browser asks a gateway for six files at a time: few that are somewhat large come sooner than many small ones.
      output: {
        codeSplitting: {
          groups: [
            { name: 'first', tags: ['$initial'], priority: 2 },
            { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 20_000, priority: 1 },
          ],
        },
      },
      onLog(level, log, print) {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') print(level, log); // "use client" means nothing to a browser
      },
    },
  },
});
