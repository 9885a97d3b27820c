import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium as playwright } from 'playwright-core';
import sharp from 'sharp';
import { chromium } from './chromium.mjs';
import { apiOf, consoleLink } from './demo-runs.mjs';
import { repoRoot } from './repo-root.mjs';

/** `npm run console:screenshots`, beside a running `npm start` with its demo runs: the pictures of docs/console.md. */
const url = process.env.RONDO_URL ?? 'http://localhost:3000';
const api = apiOf(url, readFileSync(join(repoRoot, '.data/api-key'), 'utf8').trim());
const { data } = await api('GET', '/v1/runs?limit=100');
const coder = data.find(({ model, metadata }) => model === 'demo/coder' && metadata.demo === 'true');
const ask = data.find(({ model, metadata }) => model === 'demo/ask' && metadata.demo === 'true');
if (!coder || !ask) throw new Error('The demo runs of the first start are not there.');

const pictures = [
  { name: 'console-runs', path: '/console/runs', colorScheme: 'light' },
  { name: 'console-run', path: `/console/runs/${coder.id}`, colorScheme: 'light', proves: true },
  { name: 'console-run-dark', path: `/console/runs/${coder.id}?seq=22`, colorScheme: 'dark' },
  { name: 'console-inbox-dark', path: '/console/inbox', colorScheme: 'dark' },
  { name: 'console-phone', path: `/console/runs/${ask.id}`, colorScheme: 'light', width: 390 },
];

const found = process.env.BROWSER_PATH ?? chromium.findLocal()?.file;
if (found === undefined) throw new Error(`There is no Chromium: ${chromium.install}.`);
const browser = await playwright.launch({ executablePath: found });
for (const { name, path, colorScheme, width = 1200, proves = false } of pictures) {
  const page = await browser.newPage({ viewport: { width, height: 760 }, colorScheme });
  await page.goto(await consoleLink({ api, url }));
  await page.goto(`${url}${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page
    .getByText(/^(Paint the bicycle shed|You$)/)
    .first()
    .waitFor();
  if (proves) {
    await page.getByRole('button', { name: 'Verify this log' }).click();
    await page.getByText('proven in this browser').waitFor();
  }
  const file = join(repoRoot, 'docs/images', `${name}.png`);
  await sharp(await page.screenshot())
    .png({ palette: true, colours: 64, effort: 10 })
    .toFile(file);
  await page.close();
}
await browser.close();
