import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { CdpConnection } from './cdp-connection';
import { BrowserProblem, CommandRefused, PageUnresponsive } from './browser-errors';

const read = (name: string): string => readFileSync(join(__dirname, 'in-page', name), 'utf8');

/** Defines `rondo` in the world in which it is evaluated. In a function of its own, so that it may be evaluated again. */
const inPageSource = `(() => { 'use strict';\n${['visibility.cjs', 'element-index.cjs', 'page-actions.cjs'].map(read).join('\n')}\n})()`;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export const viewport = { width: 1280, height: 800 };

const commandMs = 10_000;
const navigationMs = 15_000;
const loadMs = 10_000;
const scriptMs = 5_000;
/** What a page may take to begin to navigate after a click. */
const reactionMs = 60;

const anything = z.unknown();
const navigation = z.object({ errorText: z.string().optional(), isDownload: z.boolean().optional() });
const evaluation = z.object({
  result: z.object({ value: z.unknown() }),
  exceptionDetails: z.object({ text: z.string() }).optional(),
});
const described = z.object({ targetInfo: z.object({ url: z.string(), title: z.string() }) });
const frames = z.object({ frameTree: z.object({ frame: z.object({ id: z.string() }) }) });
const problem = z.object({ problem: z.string() });

interface Expected<Result> {
  readonly result?: z.ZodType<Result>;
  readonly timeoutMs?: number;
}

/** One page of the browser. */
export class Tab {
  private world: number | undefined;
  private isLoading = false;
  private loaded: (() => void)[] = [];
  private mainFrame = '';
  private leave: () => void = () => undefined;
  hasCrashed = false;
  onDrag: ((data: unknown) => void) | undefined;
  /** Resolves when it was closed. */
  readonly gone = new Promise<void>((resolve) => (this.leave = resolve));

  constructor(
    /** Shown to the model. */
    readonly id: number,
    readonly targetId: string,
    private readonly at: { readonly connection: CdpConnection; readonly sessionId: string },
  ) {}

  /** Makes a new tab ready to be used. */
  async prepare(): Promise<void> {
    const { frameTree } = await this.send('Page.enable').then(() =>
      this.send('Page.getFrameTree', {}, { result: frames }),
    );
    this.mainFrame = frameTree.frame.id;
    await this.send('Emulation.setDeviceMetricsOverride', { ...viewport, deviceScaleFactor: 1, mobile: false });
    await this.send('Runtime.runIfWaitingForDebugger');
  }

  send<Result = unknown>(
    method: string,
    params: object = {},
    // Without a schema the result is not looked at.
    { result = anything as z.ZodType<Result>, timeoutMs = commandMs }: Expected<Result> = {},
  ): Promise<Result> {
    const { connection, sessionId } = this.at;
    return connection.send({ method, params, sessionId }, { result, timeoutMs });
  }

  /** Its events, passed on by the session. */
  frameStarted(frameId: string): void {
    if (frameId === this.mainFrame) this.isLoading = true;
  }

  frameStopped(frameId: string): void {
    if (frameId !== this.mainFrame) return;
    this.isLoading = false;
    this.stopWaiting();
  }

  frameNavigated(frameId: string): void {
    if (frameId === this.mainFrame) this.world = undefined;
  }

  close(): void {
    this.stopWaiting();
    this.leave();
  }

  crash(): void {
    this.hasCrashed = true;
    this.stopWaiting();
  }

  /** Resolves when the page has come; that it is complete is awaited for a while only. */
  async navigate(url: string): Promise<void> {
    const { errorText, isDownload } = await this.send(
      'Page.navigate',
      { url },
      { result: navigation, timeoutMs: navigationMs },
    ).catch(async (error: unknown) => {
      if (!(error instanceof PageUnresponsive)) throw error;
      await this.send('Page.stopLoading');
      throw new BrowserProblem(`${url} did not answer within ${navigationMs / 1000} s.`);
    });
    if (errorText !== undefined && isDownload !== true) throw new BrowserProblem(`${url}: ${explain(errorText)}`);
    await this.settle();
  }

  /** False when there is no earlier page. */
  async goBack(): Promise<boolean> {
    const history = z.object({ currentIndex: z.number(), entries: z.array(z.object({ id: z.number() })) });
    const { currentIndex, entries } = await this.send('Page.getNavigationHistory', {}, { result: history });
    const earlier = entries[currentIndex - 1];
    if (!earlier) return false;
    await this.send('Page.navigateToHistoryEntry', { entryId: earlier.id });
    await this.settle();
    return true;
  }

  /** Waits while the page loads, after what was just done to it. */
  async settle(longestMs = loadMs): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, reactionMs));
    if (!this.isLoading || this.hasCrashed) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.loaded.push(resolve);
      timer = setTimeout(resolve, longestMs);
    });
    clearTimeout(timer);
  }

  /** Calls a function of the in-page scripts. Rejects with BrowserProblem when it reports one. */
  async call<Result>(name: string, args: readonly unknown[], result: z.ZodType<Result>): Promise<Result> {
    const expression = `rondo.${name}(${args.map((argument) => JSON.stringify(argument)).join(', ')})`;
    const value = await this.evaluate(expression).catch((error: unknown) => {
      if (!(error instanceof CommandRefused)) throw error;
      this.world = undefined; // The page has changed meanwhile.
      return this.evaluate(expression);
    });
    const failed = problem.safeParse(value);
    if (failed.success) throw new BrowserProblem(failed.data.problem.slice(0, 1_000));
    const parsed = result.safeParse(value);
    if (!parsed.success) throw new BrowserProblem('The page could not be read.');
    return parsed.data;
  }

  /** Undefined when the page cannot be drawn in time. */
  async screenshot(): Promise<string | undefined> {
    const picture = z.object({ data: z.base64() });
    const settings = { format: 'jpeg', quality: 60, optimizeForSpeed: true };
    const taken = this.send('Page.captureScreenshot', settings, { result: picture, timeoutMs: scriptMs });
    return taken.then(
      ({ data }) => data,
      (error: unknown) => {
        if (error instanceof PageUnresponsive || error instanceof CommandRefused) return undefined;
        throw error;
      },
    );
  }

  /** Without its scripts having a part in it. */
  async info(): Promise<{ url: string; title: string }> {
    const { targetInfo } = await this.send('Target.getTargetInfo', {}, { result: described });
    return { url: targetInfo.url.slice(0, 2_000), title: targetInfo.title.slice(0, 500) };
  }

  private stopWaiting(): void {
    this.loaded.splice(0).forEach((resolve) => resolve());
  }

  private async evaluate(expression: string): Promise<unknown> {
    this.world ??= await this.newWorld();
    const params = { expression, contextId: this.world, returnByValue: true, timeout: scriptMs };
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', params, {
      result: evaluation,
      timeoutMs: scriptMs + 1_000,
    });
    if (exceptionDetails) throw new CommandRefused(`The page could not be read: ${exceptionDetails.text}`);
    return result.value;
  }

  /** A world in which the page has changed no function. It ends with the document. */
  private async newWorld(): Promise<number> {
    const created = z.object({ executionContextId: z.number() });
    const params = { frameId: this.mainFrame, worldName: 'rondo' };
    const { executionContextId } = await this.send('Page.createIsolatedWorld', params, {
      result: created,
      timeoutMs: scriptMs,
    });
    const define = { expression: inPageSource, contextId: executionContextId, timeout: scriptMs };
    await this.send('Runtime.evaluate', define, { timeoutMs: scriptMs + 1_000 });
    return executionContextId;
  }
}

const meanings: Record<string, string> = {
  'net::ERR_TOO_MANY_REDIRECTS': 'it redirects without end.',
  'net::ERR_TUNNEL_CONNECTION_FAILED': 'the host cannot be reached, or this sandbox may not reach it.',
  'net::ERR_CONNECTION_REFUSED': 'nothing listens there.',
  'net::ERR_ABORTED': 'the page gave up the navigation.',
};

const explain = (errorText: string): string => meanings[errorText] ?? errorText.slice(0, 200);
