import { defineConfig } from 'vite';

/** Static files for the gateway's `/console/`. Nothing is inlined, because its Content-Security-Policy refuses what is. */
export default defineConfig({
  base: '/console/',
  resolve: { conditions: ['@rondo/source', 'module', 'browser', 'production'] },
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      onLog(level, log, print) {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') print(level, log); // "use client" means nothing to a browser
      },
    },
  },
});
