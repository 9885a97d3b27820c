import {
  type AnsweredResult,
  type ExecutorResult,
  type InlineImage,
  type KeptImage,
  type RecordedResult,
  inlineImage,
} from '@rondo/contract';
import type { CallToSend, SentCall, StoppedTool, ToolAnswer } from '@rondo/domain';
import type { ActiveTools } from './agent-runner-parts';

/** Keeps an image for the account of the run. */
export type KeepImage = (image: InlineImage) => Promise<KeptImage>;

/**
 * Stores the images of results as blobs before the loop gets the results: a fact with the bytes would be too long for the
 * event feed. If an image cannot be stored, the result says so in words.
 */
export class ImagesToBlobs implements ActiveTools {
  constructor(
    private readonly tools: ActiveTools<ExecutorResult>,
    private readonly keep: KeepImage,
  ) {}

  get store(): string | null {
    return this.tools.store;
  }

  async execute(call: CallToSend, signal: AbortSignal): Promise<ToolAnswer> {
    return this.keepAnswer(await this.tools.execute(call, signal));
  }

  async reattach(call: SentCall, signal: AbortSignal): Promise<ToolAnswer> {
    return this.keepAnswer(await this.tools.reattach(call, signal));
  }

  endRun(withinMs: number): Promise<readonly StoppedTool[] | undefined> {
    return this.tools.endRun(withinMs);
  }

  close(reason: Error): void {
    this.tools.close(reason);
  }

  private async keepAnswer(answer: ToolAnswer<ExecutorResult>): Promise<ToolAnswer> {
    return answer.how === 'answered' ? { ...answer, result: await this.keepImages(answer.result) } : answer;
  }

  private async keepImages({ browser, ...rest }: ExecutorResult): Promise<AnsweredResult> {
    const result = await this.withImage(rest);
    if (!browser) return result;
    const { screenshot, ...view } = browser;
    const read = inlineImage.safeParse(screenshot);
    return { ...result, browser: read.success ? { ...view, screenshot: await this.keep(read.data) } : view };
  }

  private async withImage({ image, ...result }: Omit<ExecutorResult, 'browser'>): Promise<RecordedResult> {
    if (!image) return result;
    const read = inlineImage.safeParse(image);
    if (read.success) return { ...result, image: await this.keep(read.data) };

    const why = read.error.issues.map(({ path, message }) => [...path, message].join(' ')).join('; ');
    return {
      ...result,
      output: [result.output, `(An image that cannot be shown: ${why}.)`].filter(Boolean).join('\n'),
    };
  }
}
