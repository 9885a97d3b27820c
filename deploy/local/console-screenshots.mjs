import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chromium as playwright } from 'playwright-core';
import sharp from 'sharp';
import { emptyPages, listPages, prepareExamples } from './documents/console-pictures.mjs';
import { toApi, consoleLink } from './services/demo-runs.mjs';
import { findBrowser } from './install/find-browser.mjs';
import { repoRoot } from './repo-root.mjs';

/**
 * `npm run console:screenshots`, beside a running `WEBHOOK_INTERNAL_HOSTS=127.0.0.1:9 npm start` with its demo runs: the pictures of docs/console.md. With a
 * directory as its argument: every page there, light and dark, on a wide screen and on a phone.
 */
const readKept = (name) => readFileSync(join(repoRoot, '.data', name), 'utf8').trim();
const url = process.env.RONDO_URL ?? readKept('url');
const api = toApi(url, readKept('api-key'));
const directory = process.argv[2] === undefined ? undefined : resolve(process.argv[2]);
/** Evaluated by the page. Rows are measured when they come into sight, so the end moves for a few frames. */
const scrollToEnd = `(async () => {
  const log = document.querySelector('[role=log]');
  for (let frame = 0; frame < 20; frame++) {
    log.scrollTop = log.scrollHeight;
    await new Promise((done) => requestAnimationFrame(done));
  }
})()`;
const wide = directory === undefined ? { width: 1200, height: 760 } : { width: 1440, height: 900 };
const looks = {
  light: { colorScheme: 'light', viewport: wide },
  dark: { colorScheme: 'dark', viewport: wide },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 760 } },
  'phone-dark': { colorScheme: 'dark', viewport: { width: 390, height: 760 } },
};

const executablePath = await findBrowser();
const pages = listPages(await prepareExamples(api));
if (directory !== undefined) mkdirSync(directory, { recursive: true });
const browser = await playwright.launch({ executablePath });
for (const [look, settings] of Object.entries(looks)) {
  const page = await browser.newPage(settings);
  await page.goto(await consoleLink({ api, url }));
  for (const { docs, ...one } of pages) {
    if (directory !== undefined || docs.includes(look)) await picture(page, { ...one, look });
  }
  await page.close();
}
if (directory !== undefined) {
  const { api_key: key } = await api('POST', '/v1/admin/accounts', { name: 'Nothing yet' });
  for (const look of ['light', 'phone']) {
    const page = await browser.newPage(looks[look]);
    await page.goto(await consoleLink({ api: toApi(url, key), url }));
    for (const one of emptyPages) await picture(page, { ...one, look });
    await page.close();
  }
}
await browser.close();

async function picture(page, { name, path, ready, proves = false, ends = false, opens, look }) {
  await page.goto(`${url}${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  if (ready !== undefined) await page.getByText(ready).first().waitFor();
  await page
    .getByText(/^Loading /)
    .first()
    .waitFor({ state: 'detached' });
  if (proves) {
    await page.getByRole('button', { name: 'Verify this log' }).click();
    await page.getByText('proven in this browser').waitFor();
  }
  if (opens !== undefined) {
    await page.getByRole('button', { name: opens }).first().click();
    await page.getByRole('dialog').getByRole('img').waitFor();
  }
  if (ends) await page.evaluate(scrollToEnd);
  await page.evaluate('document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => done())))');
  const file = directory === undefined ? `docs/images/console-${name}.png` : join(directory, `${name}-${look}.png`);
  await sharp(await page.screenshot())
    .png({ palette: true, colours: 64, effort: 10 })
    .toFile(resolve(repoRoot, file));
}
