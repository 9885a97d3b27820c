import { z } from 'zod';
import { BrowserProblem } from './browser-errors';
import type { CdpConnection } from './cdp-connection';
import { Tab } from './tab';

/** More tabs than that are closed as they open. */
const maximumTabs = 10;
const commandMs = 10_000;

const targetInfo = z.object({ targetId: z.string(), type: z.string(), openerId: z.string().optional() });
const attached = z.object({ sessionId: z.string(), targetInfo });
const detached = z.object({ sessionId: z.string() });
const frame = z.object({ frameId: z.string() });
const navigated = z.object({ frame: z.object({ id: z.string() }) });
const dialog = z.object({ type: z.string(), message: z.string() });
const intercepted = z.object({ data: z.unknown() });

/** The pages of a browser by their sessions. Pop-ups become tabs; dialogs are answered, since they would stop the page. */
export class Tabs {
  private readonly bySession = new Map<string, Tab>();
  private readonly preparing = new Set<Promise<unknown>>();
  private lastId = 0;
  private current: Tab | undefined;

  constructor(
    private readonly connection: CdpConnection,
    private readonly note: (text: string) => void,
  ) {
    connection.on('Target.attachedToTarget', ({ params }) => this.attach(attached.parse(params)));
    connection.on('Target.detachedFromTarget', ({ params }) => this.detach(detached.parse(params).sessionId));
    this.onTab('Page.frameStartedLoading', (tab, params) => tab.frameStarted(frame.parse(params).frameId));
    this.onTab('Page.frameStoppedLoading', (tab, params) => tab.frameStopped(frame.parse(params).frameId));
    this.onTab('Page.frameNavigated', (tab, params) => tab.frameNavigated(navigated.parse(params).frame.id));
    this.onTab('Page.javascriptDialogOpening', (tab, params) => this.answerDialog(tab, dialog.parse(params)));
    this.onTab('Input.dragIntercepted', (tab, params) => tab.onDrag?.(intercepted.parse(params).data));
    this.onTab('Inspector.targetCrashed', (tab) => tab.crash());
  }

  async start(): Promise<void> {
    const filter = [{ type: 'page' }];
    const settings = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter };
    await this.browser('Target.setAutoAttach', settings);
    await this.waitUntilReady();
  }

  all(): Tab[] {
    return [...this.bySession.values()];
  }

  /** By the number that the model knows. */
  find(id: number): Tab {
    const tab = this.all().find((each) => each.id === id);
    if (!tab)
      throw new BrowserProblem(
        `There is no tab ${id}. Tabs: ${this.all()
          .map((each) => each.id)
          .join(', ')}.`,
      );
    return tab;
  }

  /** The tab that is acted on: the last one when it was closed, a new one when all were. */
  async active(): Promise<Tab> {
    await this.waitUntilReady();
    const tabs = this.all();
    if (this.current === undefined || !tabs.includes(this.current)) this.current = tabs.at(-1) ?? (await this.open());
    return this.current;
  }

  async open(url = 'about:blank'): Promise<Tab> {
    const created = z.object({ targetId: z.string() });
    const { targetId } = await this.browser('Target.createTarget', { url }, created);
    await this.waitUntilReady();
    const tab = this.all().find((each) => each.targetId === targetId);
    if (!tab) throw new Error('The browser opened no tab.');
    this.current = tab;
    return tab;
  }

  async activate(tab: Tab): Promise<void> {
    await this.browser('Target.activateTarget', { targetId: tab.targetId });
    this.current = tab;
  }

  async close(tab: Tab): Promise<void> {
    await this.browser('Target.closeTarget', { targetId: tab.targetId });
    await tab.gone;
  }

  /** Resolves when every tab that has opened can be used. */
  async waitUntilReady(): Promise<void> {
    while (this.preparing.size > 0) await Promise.all(this.preparing);
  }

  private attach({ sessionId, targetInfo: { targetId, type, openerId } }: z.infer<typeof attached>): void {
    if (type !== 'page') return;
    if (this.bySession.size >= maximumTabs) {
      this.note(`A page opened another tab, which was closed: there may be ${maximumTabs}.`);
      const resume = this.connection.send(
        { method: 'Runtime.runIfWaitingForDebugger', sessionId },
        { result: z.unknown(), timeoutMs: commandMs },
      );
      const close = this.browser('Target.closeTarget', { targetId });
      Promise.all([resume, close]).catch(() => undefined); // It has closed by itself.
      return;
    }
    const tab = new Tab((this.lastId += 1), targetId, { connection: this.connection, sessionId });
    this.bySession.set(sessionId, tab);
    const opener = this.all().find((each) => each.targetId === openerId);
    if (opener) {
      this.note(`Tab ${tab.id} was opened by tab ${opener.id} and is the active one now.`);
      this.current = tab;
    }
    const prepared = tab.prepare().catch(() => undefined); // It has closed meanwhile, or shows its trouble when it is used.
    this.preparing.add(prepared);
    void prepared.then(() => this.preparing.delete(prepared));
  }

  private detach(sessionId: string): void {
    this.bySession.get(sessionId)?.close();
    this.bySession.delete(sessionId);
  }

  private answerDialog(tab: Tab, { type, message }: z.infer<typeof dialog>): void {
    const accept = type === 'beforeunload'; // To refuse this one would keep the page from being left.
    if (!accept) this.note(`The page showed a dialog (${type}), which was dismissed: ${message.slice(0, 500)}`);
    tab.send('Page.handleJavaScriptDialog', { accept }).catch(() => undefined); // The page has closed it.
  }

  private onTab(method: string, listener: (tab: Tab, params: unknown) => void): void {
    this.connection.on(method, ({ sessionId, params }) => {
      const tab = this.bySession.get(sessionId ?? '');
      if (tab) listener(tab, params);
    });
  }

  private browser<Result = unknown>(
    method: string,
    params: object,
    result: z.ZodType<Result> = z.unknown() as z.ZodType<Result>, // without a schema the result is not looked at
  ): Promise<Result> {
    return this.connection.send({ method, params }, { result, timeoutMs: commandMs });
  }
}
