import { createHash } from 'node:crypto';
import { type ExecutorResult, type InlineImage, sha256 } from '@rondo/contract';
import type { ToolAnswer } from '@rondo/domain';
import { pngSource } from '@rondo/contract/testing';
import { plannedCall } from '@rondo/domain/testing';
import fc from 'fast-check';
import type { ActiveTools } from './agent-runner-parts';
import { ImagesToBlobs } from './images-to-blobs';

const call = plannedCall({ name: 'see', arguments: {}, effect_class: 'pure', status: 'dispatched', attempt: 1 });
const never = new AbortController().signal;
const answered = (result: ExecutorResult): ToolAnswer<ExecutorResult> => ({ how: 'answered', result, durationMs: 7 });
const seen = (image: ExecutorResult['image']) => answered({ success: true, output: 'seen', ...(image && { image }) });

/** Hands that always give this answer, and what was kept of it. */
function toolsThat(answer: ToolAnswer<ExecutorResult>) {
  const blobs = new Map<string, string>();
  const left: Error[] = [];
  const inner: ActiveTools<ExecutorResult> = {
    store: 'store-1',
    execute: () => Promise.resolve(answer),
    reattach: () => Promise.resolve(answer),
    endRun: () => Promise.resolve([]),
    close: (reason) => left.push(reason),
  };
  const keep = ({ data, media_type, width, height }: InlineImage) => {
    const hash = sha256.parse(createHash('sha256').update(data, 'base64').digest('hex'));
    blobs.set(hash, data);
    return Promise.resolve({ sha256: hash, media_type, width, height });
  };
  return { tools: new ImagesToBlobs(inner, keep), blobs, left };
}

describe('ImagesToBlobs', () => {
  it('stores an image whole before the result is known; the result only refers to it, since events are bounded in size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 32 }), fc.boolean(), async (more, isFound) => {
        const { media_type, data } = pngSource({ width: 640, height: 480 }, more);
        const { tools, blobs } = toolsThat(seen({ media_type, data }));

        const answer = await (isFound ? tools.reattach({ call, store: null }, never) : tools.execute(call, never));

        if (answer.how !== 'answered' || !answer.result.image) throw new Error('no image');
        const { sha256: hash, ...image } = answer.result.image;
        expect(blobs.get(hash)).toBe(data);
        expect(image).toEqual({ media_type, width: 640, height: 480 });
        expect(answer).toMatchObject({ durationMs: 7, result: { success: true, output: 'seen' } });
        expect(JSON.stringify(answer)).not.toContain(data);
      }),
    );
  });

  it('stores the screenshot of a browser, and leaves out one that is no image', async () => {
    const view = {
      url: 'http://a.example/',
      title: 'A',
      elements: '[0]<a>B</a>',
      pixels_above: 0,
      pixels_below: 9,
      tabs: [],
    };
    const shown = (screenshot: ExecutorResult['image']) =>
      toolsThat(answered({ success: true, output: '', browser: { ...view, screenshot } }));
    const { media_type, data } = pngSource({ width: 64, height: 48 });
    const { tools, blobs } = shown({ media_type, data });

    const answer = await tools.execute(call, never);
    const unreadable = await shown({ media_type, data: 'aGVsbG8=' }).tools.execute(call, never);

    expect(blobs.size).toBe(1);
    const screenshot = { sha256: expect.any(String), media_type, width: 64, height: 48 };
    expect(answer).toMatchObject({ result: { browser: { ...view, screenshot } } });
    expect(JSON.stringify(answer)).not.toContain(data);
    expect(unreadable).toMatchObject({ result: { browser: view } });
    expect(JSON.stringify(unreadable)).not.toContain('screenshot');
  });

  it.each([
    ['is none', { media_type: 'image/png', data: 'aGVsbG8=' }, 'must be a PNG, JPEG, GIF or WebP image'],
    ['is another kind than it says', { media_type: 'image/gif', data: pngSource().data }, 'the bytes are image/png'],
    ['no model takes', { media_type: 'image/bmp', data: pngSource().data }, 'media_type'],
  ])('says in words what became of an image that %s', async (_, image, why) => {
    const { tools, blobs } = toolsThat(seen(image));

    const answer = await tools.execute(call, never);

    const output = expect.stringMatching(new RegExp(`^seen\n\\(An image that cannot be shown: .*${why}`));
    expect(answer).toEqual({ how: 'answered', result: { success: true, output }, durationMs: 7 });
    expect(blobs.size).toBe(0);
  });

  it.each<ToolAnswer>([
    { how: 'answered', result: { success: false, output: '', error: 'No.' }, durationMs: 1 },
    { how: 'unknown', reason: 'No answer.' },
    { how: 'stopped', verifiedDeadAt: null },
  ])('passes on %j as it is', async (answer) => {
    const { tools } = toolsThat(answer as ToolAnswer<ExecutorResult>); // none has an image
    expect(await tools.execute(call, never)).toEqual(answer);
  });

  it('passes on the store and the end of the tools', () => {
    const { tools, left } = toolsThat(seen(undefined));
    const reason = new Error('left');

    tools.close(reason);

    expect([tools.store, left]).toEqual(['store-1', [reason]]);
  });
});
