import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const project = resolve(__dirname, '..');
const vite = resolve(project, '../../node_modules/vite/bin/vite.js');

it('what the first page loads is at most 150 KiB, compressed, in few files', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rondo-console-size-'));
  const options = ['build', '--outDir', directory, '--logLevel', 'error'];
  execFileSync(process.execPath, [vite, ...options], { cwd: project, env: { ...process.env, NODE_ENV: 'production' } });
  const page = readFileSync(join(directory, 'index.html'), 'utf8');
  const files = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
  const bytes = files.map((file) => gzipSync(readFileSync(join(directory, file)), { level: 9 }).length);
  rmSync(directory, { recursive: true });

  expect(page).not.toMatch(/<script(?![^>]*src=)|<style|style=/);
  expect(files.map((file) => file.slice(file.lastIndexOf('.'))).sort()).toEqual(['.css', '.js', '.svg']);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(150 * 1024);
});
