/** What the page of a run costs a browser, with a synthetic gateway on this machine; needs a build. Prints figures beside their goals. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { chromium as playwright } from 'playwright-core';
import { findBrowser } from '../../../deploy/local/install/find-browser.mjs';
import { startGateway } from './synthetic-gateway.mjs';
import { toChatFacts, createChat, toDeltas, listFacts } from './synthetic-run.mjs';
import { watch } from './watching.mjs';

const dist = join(fileURLToPath(new URL('.', import.meta.url)), '../dist');
const facts = 20_000;
const shortFacts = 100;
const turns = 300;
const deltasPerS = 1_000;
const seconds = 10;

const { values: given } = parseArgs({ options: { watch: { type: 'string' } } });
const executablePath = await findBrowser();
const browser = await playwright.launch({ executablePath, args: ['--enable-precise-memory-info'] });
try {
  if (given.watch !== undefined) {
    await watch({ browser, dist, minutes: Number(given.watch), print });
  } else {
    await longRun();
    await longChat();
    await fastRun();
  }
} finally {
  await browser.close();
}

/** A run with many facts is opened and scrolled. A short one before it says how fast this machine is just now. */
async function longRun() {
  const short = await openRun(shortFacts);
  await short.close();
  const { page, paint, seen, close } = await openRun(facts);
  print('first paint of the page of a run', `${paint.toFixed(0)} ms`, 'at most 500 ms');
  print(`${facts} facts, from the address to all of them shown`, `${seen.toFixed(0)} ms`, 'at most 600 ms');
  print(`the same of ${shortFacts} facts, just before`, `${short.seen.toFixed(0)} ms`, 'none');
  print('the long run beside the short one', `${(seen / short.seen).toFixed(2)} times`, 'none');
  const frames = await page.evaluate(scrollThrough);
  print('frames while it is scrolled, 95th percentile', `${percentile(frames, 0.95).toFixed(1)} ms`, 'at most 25 ms');
  print('memory of the page', await readHeap(page), 'none');
  await close();
}

/** Opens the page of a run with this many facts in a new page, and says when it has painted and when it shows all of them. */
async function openRun(count) {
  const log = listFacts(count).join('');
  const gateway = await startGateway({
    dist,
    status: 'completed',
    lastSeq: count,
    stream: (response) => response.end(log),
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(watchForText, `${count} / ${count}`);
  await page.goto(gateway.url);
  await page.waitForFunction(
    `window.seenAt !== undefined && performance.getEntriesByName('first-contentful-paint').length > 0`,
  );
  const { paint, seen } = await page.evaluate(
    `({ paint: performance.getEntriesByName('first-contentful-paint')[0].startTime, seen: window.seenAt })`,
  );
  const close = async () => {
    await page.close();
    gateway.close();
  };
  return { page, paint, seen, close };
}

/** A chat with many turns is opened, at its end. */
async function longChat() {
  const chat = createChat(turns);
  const log = toChatFacts(chat).join('');
  const gateway = await startGateway({
    ...{ dist, chat, status: 'completed', lastSeq: 6 },
    stream: (response) => response.end(log),
  });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(watchForText, `Answer ${turns - 1}`);
  await page.goto(gateway.threadUrl);
  await page.waitForFunction('window.seenAt !== undefined');
  const seen = await page.evaluate('window.seenAt');
  print(`a chat with ${turns} turns, from the address to its newest answer`, `${seen.toFixed(0)} ms`, 'at most 600 ms');
  const whole = await page.evaluate(scrollToText, 'Question 1:');
  print('from the address to its first question, scrolled to at once', `${whole.toFixed(0)} ms`, 'none');
  const frames = await page.evaluate(scrollThrough);
  print('frames while it is scrolled, 95th percentile', `${percentile(frames, 0.95).toFixed(1)} ms`, 'at most 25 ms');
  await page.close();
  gateway.close();
}

/** A run whose text arrives fast. */
async function fastRun() {
  const { begin, pieces } = toDeltas(deltasPerS * seconds);
  let lastSentAt = 0;
  const stream = (response) => {
    response.write(begin);
    const since = performance.now();
    let sent = 0;
    const timer = setInterval(() => {
      const due = Math.min(pieces.length, Math.floor(((performance.now() - since) * deltasPerS) / 1000));
      if (due > sent) response.write(pieces.slice(sent, due).join(''));
      sent = due;
      if (sent < pieces.length) return;
      clearInterval(timer);
      lastSentAt = Date.now();
    }, 5);
    response.once('close', () => clearInterval(timer));
  };
  const gateway = await startGateway({ dist, status: 'running', lastSeq: 2, stream });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(watchForText, 'THE END');
  await page.addInitScript(
    'window.frames95 = []; { let last; const step = (now) => { if (last) window.frames95.push(now - last); last = now; requestAnimationFrame(step); }; requestAnimationFrame(step); }',
  );
  await page.goto(gateway.url);
  await page.waitForFunction('window.seenAt !== undefined', undefined, { timeout: 120_000 });
  const { seenAt, frames } = await page.evaluate(
    '({ seenAt: performance.timeOrigin + window.seenAt, frames: window.frames95 })',
  );
  const behind = Math.max(0, seenAt - lastSentAt);
  print(
    `${deltasPerS} pieces of text a second for ${seconds} s: behind at the end`,
    `${behind.toFixed(0)} ms`,
    'at most 100 ms',
  );
  print('frames meanwhile, 95th percentile', `${percentile(frames, 0.95).toFixed(1)} ms`, 'at most 25 ms');
  print('memory of the page', await readHeap(page), 'none');
  await page.close();
  gateway.close();
}

/** Runs in the page, before its scripts: notes when this text is first shown. */
function watchForText(text) {
  const look = () => {
    if (document.body?.textContent?.includes(text)) window.seenAt = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** Runs in the page: when this text of the beginning is there. */
function scrollToText(text) {
  const log = document.querySelector('[role=log]');
  return new Promise((resolve) => {
    const step = () => {
      log.scrollTop = 0;
      if (log.textContent.includes(text)) resolve(performance.now());
      else requestAnimationFrame(step);
    };
    step();
  });
}

/** Runs in the page. */
function scrollThrough() {
  const log = document.querySelector('[role=log]');
  return new Promise((resolve) => {
    const frames = [];
    let last;
    const step = (now) => {
      if (last !== undefined) frames.push(now - last);
      last = now;
      log.scrollTop = (log.scrollHeight * frames.length) / 300;
      if (frames.length < 300) requestAnimationFrame(step);
      else resolve(frames);
    };
    requestAnimationFrame(step);
  });
}

async function readHeap(page) {
  const bytes = await page.evaluate('performance.memory.usedJSHeapSize');
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

function percentile(values, share) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? NaN;
}

function print(what, figure, goal) {
  console.log(`${what.padEnd(72)} ${figure.padStart(10)}   goal: ${goal}`);
}
