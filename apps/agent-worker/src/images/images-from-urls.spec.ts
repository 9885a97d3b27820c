import { createHash } from 'node:crypto';
import { type InlineImage, type RunId, inlineImage, inputContent } from '@rondo/contract';
import { type ClaimedRun, effectiveSettings } from '@rondo/domain';
import { pngSource } from '@rondo/contract/testing';
import { FetchedImages } from '@rondo/persistence';
import { StoreFixture } from '@rondo/persistence/testing';
import { ImageProblem } from './fetch-image';
import { ImagesFromUrls, type ImagesFromUrlsParts } from './images-from-urls';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const never = new AbortController().signal;
const image = (more: number): InlineImage =>
  inlineImage.parse({ media_type: 'image/png', data: pngSource({}, [more]).data });
const toHash = ({ data }: InlineImage) => createHash('sha256').update(data, 'base64').digest('hex');
const blob = (more: number) => ({
  type: 'image',
  source: { type: 'blob', sha256: toHash(image(more)), media_type: 'image/png', width: 2, height: 3 },
});
const words = (name: string, why: string) => ({
  type: 'text',
  text: `[The image ${name} could not be loaded: ${why}.]`,
});
const urlBlock = (url: string) => ({ type: 'image', source: { type: 'url', url } });
const showing = (...urls: string[]) => inputContent.parse(urls.map(urlBlock));

type Outcome = InlineImage | Error;

/** A worker's part, for which each URL gives these outcomes, one after the other. */
function worker(outcomes: Record<string, Outcome[]>, recorded: Partial<ImagesFromUrlsParts['recorded']> = {}) {
  const asked: string[] = [];
  const fetched = new FetchedImages(fixture.database);
  const images = new ImagesFromUrls({
    recorded: {
      of: (messages) => fetched.of(messages),
      keep: (place, owner, one) => fetched.keep(place, owner, one),
      refuse: (place, problem) => fetched.refuse(place, problem),
      ...recorded,
    },
    fetch: (url) => {
      asked.push(url);
      const outcome = outcomes[url]?.shift() ?? new Error(`asked for ${url}`);
      return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
    },
    pauseMs: 1,
  });
  return { images, asked };
}

const contentIn = ({ earlier, log }: ClaimedRun) => [
  ...earlier.flatMap(({ content }) => content),
  ...log.flatMap((fact) => (fact.type === 'message.created' ? fact.data.message.content : [])),
];

async function claimShowing(...urls: string[]): Promise<ClaimedRun> {
  const { run } = await fixture.create({ input: showing(...urls) });
  return fixture.claim(run.id);
}

async function claimAgain(id: RunId): Promise<ClaimedRun> {
  await fixture.expireLease(id);
  return fixture.claim(id);
}

const url = 'https://example.com/a.png';

describe('ImagesFromUrls', () => {
  it('fetches an image once for all holders of the run; the message keeps its URL', async () => {
    const claim = await claimShowing(url);
    const first = worker({ [url]: [image(1)] });
    const second = worker({});

    expect(contentIn(await first.images.showIn(claim, never))).toEqual([blob(1)]);
    const again = await claimAgain(claim.runId);
    expect(contentIn(await second.images.showIn(again, never))).toEqual([blob(1)]);

    expect([first.asked, second.asked]).toEqual([[url], []]);
    expect(contentIn(again)).toEqual([urlBlock(url)]);
    const shown = await fixture.blobs.read(claim.runId, [toHash(image(1)) as never]);
    expect([...shown.values()]).toEqual([image(1).data]);
  });

  it('fetches what was said to the thread before the run, and the same URL of another message anew', async () => {
    const { accountId, threads, messages } = fixture;
    const { id: threadId } = await threads.create({ accountId, metadata: {} });
    await messages.add({ accountId, threadId, content: showing(url) });
    const { run } = await fixture.create({ threadId, input: showing(url) });
    const { images, asked } = worker({ [url]: [image(1), image(2)] });

    expect(contentIn(await images.showIn(await fixture.claim(run.id), never))).toEqual([blob(1), blob(2)]);
    expect(asked).toEqual([url, url]);
  });

  it('fetches again after a crash between fetch and record, and shows what was recorded after one behind it', async () => {
    const claim = await claimShowing(url);
    const crash = () => Promise.reject(new Error('the database is away'));
    const crashed = worker({ [url]: [image(1)] }, { keep: crash });
    await expect(crashed.images.showIn(claim, never)).rejects.toThrow('the database is away');

    const next = worker({ [url]: [image(2)] });
    const again = await claimAgain(claim.runId);
    expect(contentIn(await next.images.showIn(again, never))).toEqual([blob(2)]);
    expect(contentIn(await worker({}).images.showIn(again, never))).toEqual([blob(2)]);
  });

  it('shows what another holder recorded meanwhile', async () => {
    const claim = await claimShowing(url);
    const [slow, fast] = [worker({ [url]: [image(1)] }), worker({ [url]: [image(2)] })];

    const both = await Promise.all([slow, fast].map(({ images }) => images.showIn(claim, never)));

    expect(contentIn(both[0] as ClaimedRun)).toEqual(contentIn(both[1] as ClaimedRun));
  });

  it('says in words why there is none, once and for all, without the query of the URL', async () => {
    const secret = `${url}?signature=secret`;
    const claim = await claimShowing(secret);
    const first = worker({ [secret]: [new ImageProblem('its server answered with status 404')] });
    const told = [words('example.com/a.png', 'its server answered with status 404')];

    expect(contentIn(await first.images.showIn(claim, never))).toEqual(told);
    expect(contentIn(await worker({}).images.showIn(claim, never))).toEqual(told);
    expect(first.asked).toHaveLength(1);
  });

  it('tries twice what may pass', async () => {
    const [lucky, unlucky] = [`${url}?1`, `${url}?2`];
    const passing = () => new ImageProblem('its server could not be reached', true);
    const { images, asked } = worker({ [lucky]: [passing(), image(1)], [unlucky]: [passing(), passing()] });

    const shown = await images.showIn(await claimShowing(lucky, unlucky), never);

    expect(contentIn(shown)).toEqual([blob(1), words('example.com/a.png', 'its server could not be reached')]);
    expect(asked.sort()).toEqual([lucky, lucky, unlucky, unlucky]);
  });

  it('fetches only as many as a request can have, the newest', async () => {
    const urls = [1, 2, 3, 4, 5, 6, 7].map((number) => `${url}?${number}`);
    const { images, asked } = worker(Object.fromEntries(urls.map((one, index) => [one, [image(index)]])));

    const shown = await images.showIn(await claimShowing(...urls), never);

    expect(asked).toEqual(urls.slice(2));
    expect(contentIn(shown)).toEqual([...urls.slice(0, 2).map(urlBlock), ...[2, 3, 4, 5, 6].map(blob)]);
  });

  it('fetches four at a time, and twenty at most', async () => {
    const effective = effectiveSettings({ context: { keep_images: 100 } }, { model: 'demo/coder' });
    if ('problems' in effective) throw new Error('the settings are valid');
    const urls = Array.from({ length: 25 }, (_, number) => `${url}?${number}`);
    const { run } = await fixture.create({ input: showing(...urls), settings: effective.settings });
    let [underWay, most, asked] = [0, 0, 0];
    const images = new ImagesFromUrls({
      recorded: new FetchedImages(fixture.database),
      fetch: async () => {
        asked += 1;
        most = Math.max(most, (underWay += 1));
        await new Promise(setImmediate);
        underWay -= 1;
        return image(1);
      },
      pauseMs: 1,
    });

    await images.showIn(await fixture.claim(run.id), never);

    expect({ most, asked }).toEqual({ most: 4, asked: 20 });
  });

  it('records nothing of a fetch that a stop cut short', async () => {
    const claim = await claimShowing(url);
    const stop = new AbortController();
    const images = new ImagesFromUrls({
      recorded: new FetchedImages(fixture.database),
      fetch: () => {
        stop.abort();
        return Promise.reject(new ImageProblem('it did not arrive', true));
      },
      pauseMs: 60_000,
    });

    expect(contentIn(await images.showIn(claim, stop.signal))).toEqual([urlBlock(url)]);
    expect(contentIn(await worker({ [url]: [image(1)] }).images.showIn(claim, never))).toEqual([blob(1)]);
  });

  it('reads nothing for a run without URLs', async () => {
    const of = () => Promise.reject(new Error('read'));
    const { run } = await fixture.create();
    const claim = await fixture.claim(run.id);
    expect(await worker({}, { of }).images.showIn(claim, never)).toBe(claim);
  });
});
