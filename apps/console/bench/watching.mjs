/**
 * Whether a page that watches a run for an hour keeps more than what it shows: its memory, after garbage collection, beside that
 * of a page that has just been opened on the same log. `npm run bench:console -- --watch 60` takes sixty minutes.
 */
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { startGateway } from './synthetic-gateway.mjs';
import { firstFact, toWork } from './synthetic-run.mjs';

const iterationMs = 6_000;
const reports = 6;

/** Prints the memory several times, and the ratio at the end. */
export async function watch({ browser, dist, minutes, print }) {
  const work = new WatchedRun(Math.round((minutes * 60_000) / iterationMs));
  const gateway = await startGateway({
    dist,
    status: 'running',
    lastSeq: 1,
    stream: (response) => work.follow(response),
  });
  const watching = await openPage(browser, gateway.url);
  const first = await readMemory(watching);
  for (let report = 1; report <= reports; report += 1) {
    await work.until(report / reports);
    const { bytes, nodes, listeners } = await readMemory(watching);
    const now = `${mebibytes(bytes)}, ${nodes} nodes, ${listeners} listeners`;
    print(`watched for ${((minutes * report) / reports).toFixed(0)} min, ${work.lastSeq} facts`, now, 'none');
  }
  const opened = await openPage(browser, gateway.url);
  await opened.page.waitForFunction((last) => document.body.textContent.includes(last), `Step ${work.iterations}:`);
  const [after, fresh] = [await readMemory(watching), await readMemory(opened)];
  print('memory before', mebibytes(first.bytes), 'none');
  print('memory of a page that was just opened on the same log', mebibytes(fresh.bytes), 'none');
  print('memory of the one that watched, beside it', `${(after.bytes / fresh.bytes).toFixed(2)} times`, 'at most 1.25');
  for (const { page } of [watching, opened]) await page.close();
  gateway.close();
}

/** A run that works at its own pace, watched or not. Who comes late gets the facts of before, as from a gateway. */
class WatchedRun {
  log = [firstFact()];
  done = 0;
  lastSeq = 1;
  followers = new Set();
  changed = new EventEmitter();

  constructor(iterations) {
    this.iterations = iterations;
    void this.run();
  }

  follow(response) {
    response.write(this.log.join(''));
    this.followers.add(response);
    response.once('close', () => this.followers.delete(response));
  }

  async until(share) {
    while (this.done < share * this.iterations) await once(this.changed, 'iteration');
  }

  async run() {
    await delay(iterationMs); // a page is opened meanwhile
    while (this.done < this.iterations) {
      const { begin, text, facts, output, end, lastSeq } = toWork(this.done + 1);
      const steps = [...text, facts.join(''), ...output, end.join('')];
      this.send(begin);
      for (const step of steps) {
        await delay(iterationMs / steps.length);
        this.send(step);
      }
      this.log.push(begin, ...facts, ...end);
      [this.lastSeq, this.done] = [lastSeq, this.done + 1];
      this.changed.emit('iteration');
    }
  }

  send(events) {
    for (const follower of this.followers) follower.write(events);
  }
}

async function openPage(browser, url) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  await page.goto(url);
  await page.getByRole('log').waitFor();
  return { page, devtools };
}

async function readMemory({ devtools }) {
  await devtools.send('HeapProfiler.collectGarbage');
  const { metrics } = await devtools.send('Performance.getMetrics');
  const of = (name) => metrics.find((metric) => metric.name === name).value;
  return { bytes: of('JSHeapUsedSize'), nodes: of('Nodes'), listeners: of('JSEventListeners') };
}

const mebibytes = (bytes) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
